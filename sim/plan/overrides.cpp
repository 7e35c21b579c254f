#include "plan/overrides.h"

#include <algorithm>
#include <string_view>

#include "base/config_node.h"
#include "base/toml.h"

namespace headroom {
namespace {

constexpr int kMaxKeyParts = 16;
constexpr const char* kForm = "key=value, such as context=2Mi or plan.chunk=8Ki";

void mark(ConfigNode& node, int64_t line) {
    node.line = line;
    if (auto* list = std::get_if<ConfigNode::List>(&node.value)) {
        for (ConfigNode& item : *list) mark(item, line);
    }
    if (auto* fields = std::get_if<ConfigNode::Fields>(&node.value)) {
        for (ConfigField& field : *fields) mark(field.node, line);
    }
}

// What stands behind the '=', read as the value of a TOML key.
ConfigNode value_of(const std::string& text, int64_t line) {
    ConfigNode out{text, 0};
    if (const auto parsed = parse_toml("x = " + text, "")) {
        ConfigText tree = text_of(*parsed);
        auto& fields = std::get<ConfigNode::Fields>(tree.root.value);
        if (fields.size() == 1 && fields.front().key == "x") out = std::move(fields.front().node);
    }
    mark(out, line);
    return out;
}

// The node of `key` in the table `at`, which becomes a table if it is none.
ConfigNode& child(ConfigNode& at, const std::string& key, int64_t line) {
    if (!std::holds_alternative<ConfigNode::Fields>(at.value)) at = {ConfigNode::Fields{}, line};
    auto& fields = std::get<ConfigNode::Fields>(at.value);
    const auto it =
        std::find_if(fields.begin(), fields.end(), [&](const ConfigField& f) { return f.key == key; });
    if (it != fields.end()) return it->node;
    fields.push_back({key, {ConfigNode::Null{}, line}});
    return fields.back().node;
}

Result<void> apply(ConfigText& text, const std::string& pair) {
    const std::string place = "--set " + pair;
    const size_t equals = pair.find('=');
    if (equals == pair.npos) return fail(place, "no '='", kForm);
    const std::string key = pair.substr(0, equals);
    text.overrides.push_back(pair);
    const int64_t line = -static_cast<int64_t>(text.overrides.size());

    if (std::count(key.begin(), key.end(), '.') >= kMaxKeyParts) {
        return fail(place, "a key of more than " + std::to_string(kMaxKeyParts) + " parts", kForm);
    }
    ConfigNode* node = &text.root;
    for (size_t begin = 0; begin <= key.size();) {
        const size_t end = std::min(key.find('.', begin), key.size());
        if (end == begin) return fail(place, "an empty key", kForm);
        node = &child(*node, key.substr(begin, end - begin), line);
        begin = end + 1;
    }
    *node = value_of(pair.substr(equals + 1), line);
    return {};
}

}  // namespace

Result<ConfigTable> apply_overrides(const ConfigTable& root, const std::vector<std::string>& pairs) {
    if (pairs.empty()) return root;
    ConfigText text = text_of(root);
    for (const std::string& pair : pairs) HEADROOM_CHECK(apply(text, pair));
    return open_root(std::move(text));
}

std::string place_of(ConfigTable root, const std::string& dotted) {
    const size_t dot = dotted.find('.');
    if (dot == dotted.npos) return root.place(dotted);
    const std::optional<ConfigValue> value = root.find(dotted.substr(0, dot));
    if (!value) return root.place(dotted);
    const Result<ConfigTable> table = value->as<ConfigTable>();
    return table ? place_of(*table, dotted.substr(dot + 1)) : value->place();
}

}  // namespace headroom
