#include "base/table.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/config_node.h"
#include "base/text.h"

namespace headroom {

ConfigTable open_root(ConfigText text) {
    auto shared = std::make_shared<const ConfigText>(std::move(text));
    const ConfigNode* root = &shared->root;
    return ConfigTable(ConfigValue(std::move(shared), root, ""));
}

ConfigText text_of(const ConfigTable& root) {
    return *root.value_.text_;
}

ConfigTable::ConfigTable(ConfigValue table) : value_(std::move(table)) {}

const ConfigNode* ConfigTable::node(std::string_view key) const {
    const auto& fields = std::get<ConfigNode::Fields>(value_.node_->value);
    const auto last =
        std::find_if(fields.rbegin(), fields.rend(), [&](const ConfigField& f) { return f.key == key; });
    return last == fields.rend() ? nullptr : &last->node;
}

std::optional<ConfigValue> ConfigTable::find(std::string_view key) {
    allow(key);
    const ConfigNode* found = node(key);
    if (found == nullptr || std::holds_alternative<ConfigNode::Null>(found->value)) return std::nullopt;
    return ConfigValue(value_.text_, found, dotted(key));
}

Result<ConfigValue> ConfigTable::need(std::string_view key) {
    std::optional<ConfigValue> found = find(key);
    if (!found) return fail(place(key), "the key is missing", "a value for '" + dotted(key) + "'");
    return std::move(*found);
}

std::vector<std::string> ConfigTable::keys() const {
    const auto& fields = std::get<ConfigNode::Fields>(value_.node_->value);
    std::vector<std::string> keys;
    std::unordered_set<std::string_view> seen;
    for (const ConfigField& field : fields)
        if (seen.insert(field.key).second) keys.push_back(field.key);
    return keys;
}

std::string ConfigTable::place(std::string_view key) const {
    const ConfigNode* found = node(key);
    return ConfigValue(value_.text_, found != nullptr ? found : value_.node_, dotted(key)).place();
}

std::string ConfigTable::dotted(std::string_view key) const {
    return value_.key_.empty() ? std::string(key) : value_.key_ + "." + std::string(key);
}

void ConfigTable::allow(std::string_view key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
}

Result<void> ConfigTable::finish() const {
    for (const ConfigField& field : std::get<ConfigNode::Fields>(value_.node_->value)) {
        if (std::find(known_.begin(), known_.end(), field.key) != known_.end()) continue;
        std::string found = "an unknown key";
        if (const std::string near = nearest(field.key, known_); !near.empty())
            found += " (did you mean '" + near + "'?)";
        return fail(place(field.key), std::move(found), known_.empty() ? "no key" : one_of(known_));
    }
    return {};
}

}  // namespace headroom
