// Names of the step's enumerations, as traces and tables write them: name_of (program.h) read backwards.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/program.h"

namespace headroom {

// Error: no such name; the message names the nearest one that exists.
Result<Stream> parse_stream(std::string_view name, const std::string& where);
Result<Tier> parse_tier(std::string_view name, const std::string& where);
Result<Pass> parse_pass(std::string_view name, const std::string& where);
Result<OpKind> parse_op_kind(std::string_view name, const std::string& where);
Result<Category> parse_category(std::string_view name, const std::string& where);

// The same without a message, for loops over a million events. Cost: one hash.
std::optional<OpKind> find_op_kind(std::string_view name);
std::optional<Category> find_category(std::string_view name);
std::optional<Pass> find_pass(std::string_view name);

// All names in the order of the enumeration.
std::vector<std::string> op_kind_names();
std::vector<std::string> category_names();

}  // namespace headroom
