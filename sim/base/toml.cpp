#include "base/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/config_node.h"

namespace headroom {
namespace {

// toml++ limits how deep values nest, but not how many parts a dotted key has; each part is a table in a
// table, and a million of them would overflow the stack on the way out. The scan knows strings and comments,
// and agrees with the parser up to the first error, where the parser stops.
class KeyScan {
public:
    explicit KeyScan(std::string_view text) : text_(text) {}

    // The line of the first key with more than `limit` parts, 0 if none.
    int64_t line_of_deep_key(int limit) {
        int dots = 0;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"' || c == '\'') {
                skip_string(c);
                continue;
            }
            if (c == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
                continue;
            }
            if (c == '.') {
                if (++dots >= limit) return line_;
            } else if (std::string_view(",[]{}=\n").find(c) != std::string_view::npos) {
                dots = 0;
            }
            line_ += c == '\n';
            ++at_;
        }
        return 0;
    }

private:
    void skip_string(char quote) {
        const std::string three(3, quote);
        const bool is_long = text_.substr(at_).starts_with(three);
        at_ += is_long ? 3 : 1;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '\\' && quote == '"') {
                ++at_;
            } else if (is_long && text_.substr(at_).starts_with(three)) {
                at_ += 3;
                // Up to two quotes may stand before the closing three.
                while (at_ < text_.size() && text_[at_] == quote) ++at_;
                return;
            } else if (!is_long && (c == quote || c == '\n')) {
                at_ += c == quote;
                return;
            }
            if (at_ < text_.size()) line_ += text_[at_] == '\n';
            ++at_;
        }
    }

    std::string_view text_;
    size_t at_ = 0;
    int64_t line_ = 1;
};

std::string line_place(const std::string& where, int64_t line) {
    return where + ":" + std::to_string(line);
}

Result<ConfigNode> node_of(const toml::node& from, const std::string& where);

Result<ConfigNode> table_of(const toml::table& from, const std::string& where) {
    ConfigNode out;
    ConfigNode::Fields fields;
    for (const auto& [key, value] : from) {
        HEADROOM_TRY(ConfigNode node, node_of(value, where));
        // The line of the key: a table that [a.b] implies has none of its own.
        if (key.source().begin.line > 0) node.line = key.source().begin.line;
        fields.push_back({std::string(key.str()), std::move(node)});
    }
    // toml++ keeps keys in alphabetical order; the text's own order makes the first error the first in the
    // file.
    std::stable_sort(fields.begin(), fields.end(),
                     [](const ConfigField& a, const ConfigField& b) { return a.node.line < b.node.line; });
    out.value = std::move(fields);
    return out;
}

Result<ConfigNode> node_of(const toml::node& from, const std::string& where) {
    ConfigNode out;
    const int64_t line = from.source().begin.line;
    if (const auto* v = from.as_string()) {
        out.value = v->get();
    } else if (const auto* number = from.as_integer()) {
        out.value = number->get();
    } else if (const auto* flag = from.as_boolean()) {
        out.value = flag->get();
    } else if (const auto* real = from.as_floating_point()) {
        if (!std::isfinite(real->get()))
            return fail(line_place(where, line),
                        std::isnan(real->get()) ? "nan" : "inf or a number too large", "a finite number");
        out.value = real->get();
    } else if (const auto* list = from.as_array()) {
        ConfigNode::List items;
        items.reserve(list->size());
        for (const toml::node& item : *list) {
            HEADROOM_TRY(ConfigNode node, node_of(item, where));
            items.push_back(std::move(node));
        }
        out.value = std::move(items);
    } else if (const auto* inner = from.as_table()) {
        HEADROOM_TRY(out, table_of(*inner, where));
    } else {
        return fail(line_place(where, line), "a date or time", "a string, number, boolean, list or table");
    }
    out.line = line;
    return out;
}

}  // namespace

Result<ConfigTable> parse_toml(std::string_view text, const std::string& where) {
    constexpr int kMaxKeyParts = 16;
    if (const int64_t line = KeyScan(text).line_of_deep_key(kMaxKeyParts); line > 0)
        return fail(line_place(where, line), "a key of more than " + std::to_string(kMaxKeyParts) + " parts",
                    "fewer");
    // The packaged library is built with exceptions; none leaves this function.
    toml::table parsed;
    try {
        parsed = toml::parse(text, where);
    } catch (const toml::parse_error& e) {
        const auto at = e.source().begin;
        return fail(line_place(where, at.line) + ":" + std::to_string(at.column),
                    "not TOML: " + std::string(e.description()), "TOML 1.0");
    }
    HEADROOM_TRY(ConfigNode root, table_of(parsed, where));
    return open_root({where, std::move(root)});
}

}  // namespace headroom
