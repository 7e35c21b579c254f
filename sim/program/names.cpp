#include "program/names.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.h"

namespace headroom {
namespace {

// std::array alone would hide the enumeration from template deduction.
template <class E>
struct Names : std::array<std::string_view, static_cast<size_t>(E::count_)> {};

// In the order of the enumerations; an entry too few leaves an empty one at the end, which the assertions
// catch.
constexpr Names<Stream> kStreamNames{"compute", "to_device", "to_host", "peer", "disk"};
constexpr Names<Tier> kTierNames{"device", "host", "disk"};
constexpr Names<Pass> kPassNames{"setup", "fill", "gradient", "update"};
constexpr Names<OpKind> kOpKindNames{"embed",
                                     "norm",
                                     "qkv",
                                     "rope",
                                     "page_means",
                                     "select",
                                     "attention_own",
                                     "attention_past",
                                     "merge",
                                     "attention_out",
                                     "router",
                                     "gate_up",
                                     "activation",
                                     "down",
                                     "head",
                                     "loss",
                                     "lora",
                                     "head_backward",
                                     "down_backward",
                                     "activation_backward",
                                     "gate_up_backward",
                                     "router_backward",
                                     "norm_backward",
                                     "attention_out_backward",
                                     "attention_own_backward",
                                     "attention_past_backward",
                                     "accumulate_kv_gradients",
                                     "gather_pages",
                                     "rope_backward",
                                     "qkv_backward",
                                     "embed_backward",
                                     "lora_backward",
                                     "weight_gradient",
                                     "load_pages",
                                     "store_pages",
                                     "load_page_gradients",
                                     "store_page_gradients",
                                     "selection_to_host",
                                     "load_activations",
                                     "store_activations",
                                     "load_attention_outputs",
                                     "store_attention_outputs",
                                     "load_weights",
                                     "load_gradients",
                                     "store_gradients",
                                     "load_states",
                                     "store_states",
                                     "read_pages",
                                     "write_pages",
                                     "send_pages",
                                     "all_reduce",
                                     "all_gather",
                                     "reduce_scatter",
                                     "zero",
                                     "gradient_norm",
                                     "update"};
constexpr Names<Category> kCategoryNames{
    "weights",     "gradients",         "optimizer", "kv",        "kv_gradients",
    "activations", "attention_outputs", "logits",    "staging",   "page_cache",
    "selection",   "page_tables",       "workspace", "libraries", "slack"};
static_assert(!kStreamNames.back().empty() && !kTierNames.back().empty() && !kPassNames.back().empty() &&
              !kOpKindNames.back().empty() && !kCategoryNames.back().empty());

template <class E>
std::string_view at(const Names<E>& names, E value) {
    const auto i = static_cast<size_t>(value);
    return i < names.size() ? names[i] : std::string_view("none");
}

template <class E>
std::vector<std::string> list(const Names<E>& names) {
    return {names.begin(), names.end()};
}

template <class E>
class Index {
public:
    explicit Index(const Names<E>& names) {
        for (size_t i = 0; i < names.size(); ++i) map_.emplace(names[i], static_cast<E>(i));
    }
    std::optional<E> find(std::string_view name) const {
        const auto it = map_.find(name);
        return it == map_.end() ? std::nullopt : std::optional<E>(it->second);
    }

private:
    std::unordered_map<std::string_view, E> map_;
};

template <class E>
Result<E> parse(const Names<E>& names, std::string_view name, const std::string& where, const char* what) {
    const auto it = std::find(names.begin(), names.end(), name);
    if (it != names.end()) return static_cast<E>(it - names.begin());
    const std::vector<std::string> known = list<E>(names);
    std::string found = "'" + std::string(name) + "' is not a known " + what;
    if (const std::string near = nearest(name, known); !near.empty())
        found += "; nearest known: '" + near + "'";
    return fail(where, std::move(found), one_of(known));
}

}  // namespace

std::string_view name_of(Stream v) {
    return at(kStreamNames, v);
}
std::string_view name_of(Tier v) {
    return at(kTierNames, v);
}
std::string_view name_of(Pass v) {
    return at(kPassNames, v);
}
std::string_view name_of(OpKind v) {
    return at(kOpKindNames, v);
}
std::string_view name_of(Category v) {
    return at(kCategoryNames, v);
}

Result<Stream> parse_stream(std::string_view name, const std::string& where) {
    return parse(kStreamNames, name, where, "stream");
}
Result<Tier> parse_tier(std::string_view name, const std::string& where) {
    return parse(kTierNames, name, where, "tier");
}
Result<Pass> parse_pass(std::string_view name, const std::string& where) {
    return parse(kPassNames, name, where, "pass");
}
Result<OpKind> parse_op_kind(std::string_view name, const std::string& where) {
    return parse(kOpKindNames, name, where, "kind of op");
}
Result<Category> parse_category(std::string_view name, const std::string& where) {
    return parse(kCategoryNames, name, where, "memory category");
}

std::optional<OpKind> find_op_kind(std::string_view name) {
    static const Index<OpKind> index(kOpKindNames);
    return index.find(name);
}
std::optional<Category> find_category(std::string_view name) {
    static const Index<Category> index(kCategoryNames);
    return index.find(name);
}
std::optional<Pass> find_pass(std::string_view name) {
    static const Index<Pass> index(kPassNames);
    return index.find(name);
}

std::vector<std::string> op_kind_names() {
    return list<OpKind>(kOpKindNames);
}
std::vector<std::string> category_names() {
    return list<Category>(kCategoryNames);
}

}  // namespace headroom
