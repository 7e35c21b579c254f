#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/config_node.h"
#include "base/table.h"
#include "base/text.h"

namespace headroom {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// The shortest digits that read back the same.
std::string digits_of(double number) {
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return {text.data(), end};
}

}  // namespace

std::string shown(const std::string& text) {
    constexpr size_t kShown = 60;
    size_t end = std::min(text.size(), kShown);
    // Not in the middle of a UTF-8 sequence.
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    std::string out;
    for (const char c : text.substr(0, end))
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    return out + (end < text.size() ? "..." : "");
}

ConfigValue::ConfigValue(std::shared_ptr<const ConfigText> text, const ConfigNode* node, std::string key)
    : text_(std::move(text)), node_(node), key_(std::move(key)) {}

std::string ConfigValue::place() const {
    if (key_.empty()) return text_->where;
    const std::string key = ", key '" + shown(key_) + "'";
    if (node_->line < 0) {
        const std::string& pair = text_->overrides[-node_->line - 1];
        return "--set " + shown(pair) + (pair.starts_with(key_ + "=") ? "" : key);
    }
    return text_->where + (node_->line == 0 ? "" : ":" + std::to_string(node_->line)) + key;
}

std::string ConfigValue::found() const {
    if (const auto* v = std::get_if<bool>(&node_->value)) return *v ? "true" : "false";
    if (const auto* v = std::get_if<int64_t>(&node_->value)) return "the number " + std::to_string(*v);
    if (const auto* v = std::get_if<double>(&node_->value)) return "the number " + digits_of(*v);
    if (const auto* v = std::get_if<std::string>(&node_->value)) return "a string '" + shown(*v) + "'";
    if (const auto* v = std::get_if<ConfigNode::List>(&node_->value))
        return "a list of " + std::to_string(v->size());
    return is_table() ? "a table" : "null";
}

tl::unexpected<Error> ConfigValue::wrong(std::string allowed) const {
    return fail(place(), found(), std::move(allowed));
}

bool ConfigValue::is_null() const {
    return std::holds_alternative<ConfigNode::Null>(node_->value);
}
bool ConfigValue::is_string() const {
    return std::holds_alternative<std::string>(node_->value);
}
bool ConfigValue::is_number() const {
    return std::holds_alternative<int64_t>(node_->value) || std::holds_alternative<double>(node_->value);
}
bool ConfigValue::is_list() const {
    return std::holds_alternative<ConfigNode::List>(node_->value);
}
bool ConfigValue::is_table() const {
    return std::holds_alternative<ConfigNode::Fields>(node_->value);
}

Result<int64_t> ConfigValue::whole(int64_t low, int64_t high, const char* allowed) const {
    int64_t number = 0;
    if (const auto* v = std::get_if<int64_t>(&node_->value)) {
        number = *v;
    } else if (const auto* d = std::get_if<double>(&node_->value)) {
        // Up to 2^53 a double holds every whole number, so that none is another one rounded.
        constexpr double kExact = 9007199254740992.0;
        if (std::trunc(*d) != *d || std::fabs(*d) > kExact) return wrong(allowed);
        number = static_cast<int64_t>(*d);
    } else {
        return wrong(allowed);
    }
    if (number < low || number > high) return wrong(allowed);
    return number;
}

Result<std::vector<ConfigValue>> ConfigValue::items() const {
    const auto* list = std::get_if<ConfigNode::List>(&node_->value);
    if (list == nullptr) return wrong("a list");
    std::vector<ConfigValue> out;
    out.reserve(list->size());
    for (size_t i = 0; i < list->size(); ++i)
        out.emplace_back(text_, &(*list)[i], key_ + "[" + std::to_string(i) + "]");
    return out;
}

Result<double> ConfigValue::as_share() const {
    if (const auto* v = std::get_if<std::string>(&node_->value)) return parse_share(*v, place());
    constexpr const char* kAllowed = "a share such as \"5%\" or 0.05, 0 or more";
    if (!is_number()) return wrong(kAllowed);
    HEADROOM_TRY(const double share, as<double>());
    if (share < 0) return wrong(kAllowed);
    return share;
}

template <>
Result<bool> ConfigValue::as() const {
    if (const auto* v = std::get_if<bool>(&node_->value)) return *v;
    return wrong("true or false");
}

template <>
Result<std::string> ConfigValue::as() const {
    if (const auto* v = std::get_if<std::string>(&node_->value)) return *v;
    return wrong("a string");
}

template <>
Result<int64_t> ConfigValue::as() const {
    return whole(std::numeric_limits<int64_t>::min(), kMax, "a whole number");
}

template <>
Result<int32_t> ConfigValue::as() const {
    using Limits = std::numeric_limits<int32_t>;
    return whole(Limits::min(), Limits::max(), "a whole number, -2147483648 to 2147483647")
        .map([](int64_t n) { return static_cast<int32_t>(n); });
}

template <>
Result<double> ConfigValue::as() const {
    if (const auto* v = std::get_if<double>(&node_->value)) return *v;
    if (const auto* v = std::get_if<int64_t>(&node_->value)) return static_cast<double>(*v);
    return wrong("a number");
}

template <>
Result<Tokens> ConfigValue::as() const {
    if (const auto* v = std::get_if<std::string>(&node_->value)) return parse_tokens(*v, place());
    return whole(0, kMax, "a whole number of tokens such as 4096 or \"4Ki\"").map([](int64_t n) {
        return Tokens(n);
    });
}

template <>
Result<Bytes> ConfigValue::as() const {
    if (const auto* v = std::get_if<std::string>(&node_->value)) return parse_bytes(*v, place());
    return whole(0, kMax, "a whole number of bytes such as 1024 or \"112GiB\"").map([](int64_t n) {
        return Bytes(n);
    });
}

template <>
Result<Nanoseconds> ConfigValue::as() const {
    return whole(0, kMax, "a whole number of nanoseconds, 0 or more").map([](int64_t n) {
        return Nanoseconds(n);
    });
}

template <>
Result<Dtype> ConfigValue::as() const {
    HEADROOM_TRY(const std::string name, as<std::string>());
    return parse_dtype(name, place());
}

template <>
Result<ConfigTable> ConfigValue::as() const {
    if (!is_table()) return wrong("a table");
    return ConfigTable(*this);
}

template <>
Result<ConfigValue> ConfigValue::as() const {
    return *this;
}

}  // namespace headroom
