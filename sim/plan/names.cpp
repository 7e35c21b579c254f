#include "plan/names.h"

namespace headroom {
namespace {

template <class E>
std::string_view find(E value) {
    for (const auto& [candidate, text] : names_of<E>()) {
        if (candidate == value) return text;
    }
    return "?";
}

}  // namespace

template <>
const NameTable<Optimizer>& names_of() {
    static const NameTable<Optimizer> table{{Optimizer::none, "none"},
                                            {Optimizer::sgd, "sgd"},
                                            {Optimizer::adamw, "adamw"},
                                            {Optimizer::adamw8bit, "adamw8bit"}};
    return table;
}
template <>
const NameTable<Home>& names_of() {
    static const NameTable<Home> table{
        {Home::device, "device"}, {Home::host, "host"}, {Home::ranks, "ranks"}};
    return table;
}
template <>
const NameTable<AttentionOutputs>& names_of() {
    static const NameTable<AttentionOutputs> table{{AttentionOutputs::recompute, "recompute"},
                                                   {AttentionOutputs::chunk, "chunk"},
                                                   {AttentionOutputs::device, "device"},
                                                   {AttentionOutputs::host, "host"}};
    return table;
}
template <>
const NameTable<Activations>& names_of() {
    static const NameTable<Activations> table{{Activations::keep, "keep"},
                                              {Activations::checkpoint_device, "checkpoint_device"},
                                              {Activations::checkpoint_host, "checkpoint_host"}};
    return table;
}
template <>
const NameTable<GradientPages>& names_of() {
    static const NameTable<GradientPages> table{{GradientPages::first_touch, "first_touch"},
                                                {GradientPages::all_at_once, "all_at_once"}};
    return table;
}
template <>
const NameTable<PageCopy>& names_of() {
    static const NameTable<PageCopy> table{
        {PageCopy::loop, "loop"}, {PageCopy::batch, "batch"}, {PageCopy::gather, "gather"}};
    return table;
}

std::string_view name_of(Optimizer v) {
    return find(v);
}
std::string_view name_of(Home v) {
    return find(v);
}
std::string_view name_of(AttentionOutputs v) {
    return find(v);
}
std::string_view name_of(Activations v) {
    return find(v);
}
std::string_view name_of(GradientPages v) {
    return find(v);
}

std::string with_nearest(std::string_view found, const std::vector<std::string>& known) {
    std::string text = "'" + std::string(found) + "'";
    if (const std::string near = nearest(found, known); !near.empty())
        text += " (did you mean '" + near + "'?)";
    return text;
}

const std::vector<std::string>& decision_keys() {
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> list;
        Decisions d;
        visit_decisions(d, [&](const char* key, const auto&) { list.emplace_back(key); });
        return list;
    }();
    return keys;
}

const std::vector<std::string>& trained_result_keys() {
    static const std::vector<std::string> keys{
        "attention", "chunk", "page", "honour_windows", "weights_dtype", "kv_dtype", "kv_gradients_dtype"};
    return keys;
}

}  // namespace headroom
