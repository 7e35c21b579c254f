// TOML 1.0 text, as scenarios and hardware files are written.
#pragma once

#include <string>
#include <string_view>

#include "base/table.h"

namespace headroom {

// `where` names the text in errors: the file's path. Values keep their lines. Errors: not TOML (line and
// column), not UTF-8, nested too deep, inf or nan, dates and times (nothing here has one).
Result<ConfigTable> parse_toml(std::string_view text, const std::string& where);

}  // namespace headroom
