// What is kept away from the TOML parser. Of use to toml.cpp only.
#pragma once

#include <cstdint>
#include <string_view>

namespace headroom {

// The line, from 1, of the first key of more than `limit` parts ("a.b" has two), 0 if there is none. toml++
// limits how deep values nest, but not this; each part is a table in a table, and a million of them would
// overflow the stack. The scan knows strings and comments, and agrees with the parser on them up to the
// parser's first error. Cost: one pass.
int64_t line_of_deep_key(std::string_view toml, int limit);

}  // namespace headroom
