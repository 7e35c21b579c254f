#include "plan/decision_text.h"

#include <fmt/format.h>

#include <type_traits>

#include "base/text.h"
#include "plan/plan.h"

namespace headroom {
namespace {

std::string text_of(const std::string& v) {
    return v;
}
std::string text_of(bool v) {
    return v ? "on" : "off";
}
std::string text_of(int64_t v) {
    return fmt::format("{}", v);
}
std::string text_of(Tokens v) {
    return format_tokens(v);
}
std::string text_of(Bytes v) {
    return format_bytes(v);
}
std::string text_of(const Attention& a) {
    if (!a.sparse) return "dense";
    const std::string limit = a.waiting > 0 ? fmt::format(", {} waiting", a.waiting) : "";
    return fmt::format("sparse({} pages, block {}{})", a.budget, a.block, limit);
}
std::string text_of(const Residency& r) {
    std::string text =
        r.device_layers == 0 ? "host" : fmt::format("{} layers on the device", r.device_layers);
    if (r.device_chunks > 0) text += fmt::format(", first {} chunks on the device", r.device_chunks);
    if (r.disk_chunks > 0) text += fmt::format(", {} chunks on disk", r.disk_chunks);
    return text;
}
template <class E>
requires std::is_enum_v<E> std::string text_of(E v) {
    return std::string(name_of(v));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> decision_texts(const Decisions& decisions) {
    std::vector<std::pair<std::string, std::string>> list;
    visit_decisions(decisions, [&](const char* key, const auto& v) { list.emplace_back(key, text_of(v)); });
    return list;
}

std::string changes_between(const Decisions& from, const Decisions& to) {
    const auto before = decision_texts(from), after = decision_texts(to);
    std::string text;
    for (size_t i = 0; i < before.size(); ++i) {
        if (before[i].second == after[i].second) continue;
        text +=
            (text.empty() ? "" : ", ") + before[i].first + " " + before[i].second + " -> " + after[i].second;
    }
    return text;
}

}  // namespace headroom
