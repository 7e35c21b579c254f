// JSON (RFC 8259) text, as config.json is published and as plans are stored.
#pragma once

#include <string>
#include <string_view>

#include "base/table.h"

namespace headroom {

// `where` names the text in errors: the file's path. Values keep their lines; of a key that stands twice the
// last one counts. Errors: not JSON (line and column), not UTF-8, a NUL, nested deeper than 100, a number out
// of range, a root that is no object.
Result<ConfigTable> parse_json(std::string_view text, const std::string& where);

}  // namespace headroom
