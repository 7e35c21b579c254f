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
    int64_t line = 0;  // from 1
};

struct ConfigField {
    std::string key;
    ConfigNode node;
};

struct ConfigText {
    std::string where;
    ConfigNode root;  // a table
};

ConfigTable open_root(ConfigText text);

}  // namespace headroom
