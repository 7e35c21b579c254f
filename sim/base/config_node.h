// The tree that both parsers build and table.h reads. Of use to parsers only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/table.h"

namespace headroom {

struct ConfigField;

struct ConfigNode {
    using Null = std::monostate;
    using List = std::vector<ConfigNode>;
    using Fields = std::vector<ConfigField>;  // in the order of the text

    std::variant<Null, bool, int64_t, double, std::string, List, Fields> value;
    // From 1; 0: the text as a whole; -k: not in the text but written by its k-th override.
    int64_t line = 0;
};

struct ConfigField {
    std::string key;
    ConfigNode node;
};

struct ConfigText {
    std::string where;
    ConfigNode root;                          // a table
    std::vector<std::string> overrides = {};  // "key=value" pairs that were written over the text
};

// Foreign text for messages: one line, not too long, and no control characters on a terminal.
std::string shown(const std::string& text);

ConfigTable open_root(ConfigText text);
// A copy of the tree below `root`, to be changed and opened again.
ConfigText text_of(const ConfigTable& root);

}  // namespace headroom
