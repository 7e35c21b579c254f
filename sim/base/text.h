// Quantities and names as people write and read them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace headroom {

// "1Mi" = 1048576, "1M" = 1000000, "4096", "64Ki". Suffixes: K M G T (powers of 1000), Ki Mi Gi Ti (of 1024).
// A fraction is allowed where the product is whole ("0.5Ki"). `where` names the place for the Error.
// Result is >= 0; what does not fit int64_t is an Error.
Result<int64_t> parse_count(std::string_view text, const std::string& where);
Result<Tokens> parse_tokens(std::string_view text, const std::string& where);
// "112GiB", "80GB", "512MiB", "1024" (bytes), "4096B".
Result<Bytes> parse_bytes(std::string_view text, const std::string& where);
// "5%" = 0.05, "0.05" = 0.05; 0 <= x.
Result<double> parse_share(std::string_view text, const std::string& where);

// "111.40 GiB", "80 GiB", "512 B": binary units, two decimals where the value is not whole in its unit.
std::string format_bytes(Bytes bytes);
// "1.31 s", "820 ms", "3 min 12.0 s", "2 h 5 min".
std::string format_time(Nanoseconds time);
// "1Mi", "1000000", "4Ki", "65000": exact, with the largest binary suffix that divides it; parse_tokens reads
// it back.
std::string format_tokens(Tokens tokens);
// 1234567 -> "1,234,567".
std::string format_integer(int64_t value);

// The candidate nearest to `name` by edit distance, empty if none is near (more than a third of the name
// apart).
std::string nearest(std::string_view name, std::span<const std::string> candidates);
// "'a', 'b' or 'c'".
std::string one_of(std::span<const std::string> names);

}  // namespace headroom
