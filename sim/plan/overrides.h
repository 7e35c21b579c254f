// Command-line "key=value" pairs (--set) written over what a file says.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/table.h"

namespace headroom {

// A copy of `root` with each pair's value at its dotted key, tables made where there are none; a later pair
// wins. A value is TOML; what is not TOML is a plain string. Errors about such a value have the pair as their
// place. Error: no '=', an empty key or part of one, a key of more than 16 parts.
Result<ConfigTable> apply_overrides(const ConfigTable& root, const std::vector<std::string>& pairs);

// Where the value of a dotted key stands, or would stand: "a.toml:12, key 'plan.chunk'".
std::string place_of(ConfigTable root, const std::string& dotted);

}  // namespace headroom
