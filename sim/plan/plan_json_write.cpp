#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>

#include "plan/fields.h"
#include "plan/names.h"
#include "plan/plan.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json value_of(const T& v) {
    if constexpr (std::is_same_v<T, Tokens> || std::is_same_v<T, Bytes>) {
        return v.count();
    } else if constexpr (std::is_enum_v<T>) {
        return std::string(name_of(v));
    } else if constexpr (std::is_same_v<T, Attention>) {
        Json attention{{"kind", v.sparse ? "sparse" : "dense"},
                       {"budget_pages", v.budget},
                       {"block_tokens", v.block},
                       {"sink_pages", v.sink},
                       {"local_pages", v.local}};
        if (v.waiting != 0) attention["waiting_pages"] = v.waiting;
        return attention;
    } else if constexpr (std::is_same_v<T, Residency>) {
        return {{"device_layers", v.device_layers},
                {"device_chunks", v.device_chunks},
                {"disk_chunks", v.disk_chunks}};
    } else {
        return v;
    }
}

// Writes each visited field; the last argument, where there is one, is the field's range.
auto into(Json& object) {
    return [&object](const char* key, const auto& value, auto&&...) { object[key] = value_of(value); };
}

// Leaves out what has its default, as older plans do.
auto into_if_set(Json& object) {
    return [&object](const char* key, const auto& value, auto&&...) {
        const bool is_factor = std::string_view(key) == "blocks" || std::string_view(key) == "power_base";
        if (static_cast<double>(value) != (is_factor ? 1 : 0)) object[key] = value_of(value);
    };
}

Json json_of(const Model& m) {
    Json out, rope, experts, latent, layers = Json::array();
    visit_model(m, into(out));
    visit_rope(m.rope, into(rope));
    visit_experts(m.experts, into(experts));
    visit_latent(m.latent, into(latent));
    // Equal neighbours share an entry.
    for (size_t i = 0, end = 0; i < m.layers.size(); i = end) {
        while (end < m.layers.size() && m.layers[end] == m.layers[i]) ++end;
        layers.push_back(
            {{"count", end - i}, {"window_tokens", m.layers[i].window}, {"mixture", m.layers[i].mixture}});
    }
    out["rope"] = rope;
    out["experts"] = experts;
    out["latent_attention"] = latent;
    out["layers"] = layers;
    return out;
}

Json json_of(const Curve& curve) {
    Json points = Json::array();
    for (const Curve::Point& p : curve.points)
        points.push_back({{"bytes", p.bytes}, {"bytes_per_s", p.bandwidth}});
    return points;
}

// Only pairs that slow each other down; a pair that is not there has the factor 1.
Json json_of_interference(const Hardware& h) {
    Json out = Json::object();
    for (size_t v = 0; v < h.interference.size(); ++v) {
        for (size_t a = 0; a < h.interference[v].size(); ++a) {
            if (h.interference[v][a] == 1) continue;
            out[std::string(name_of(static_cast<Sharing>(v)))]
               [std::string(name_of(static_cast<Sharing>(a)))] = h.interference[v][a];
        }
    }
    return out;
}

Json json_of(const Hardware& h) {
    Json out;
    visit_hardware(h, into(out));
    visit_rates(h, [&](const char* key, const RateFit& rate) {
        Json r;
        visit_rate(rate, into(r));
        visit_later_rate(rate, into_if_set(r));
        out[key] = r;
    });
    visit_curves(h, [&](const char* key, const Curve& curve) { out[key] = json_of(curve); });
    visit_later_hardware(h, into_if_set(out));
    if (!h.power.source.empty()) out["power_source"] = h.power.source;
    for (size_t i = 1; i < kKernels; ++i) {
        if (h.kernels[i] == KernelFit{}) continue;
        Json k;
        visit_kernel(h.kernels[i], into(k));
        out["kernels"][std::string(name_of(static_cast<Kernel>(i)))] = k;
    }
    out["interference"] = json_of_interference(h);
    return out;
}

Json json_of(const Recipe& r) {
    Json out{{"optimizer", name_of(r.optimizer)}, {"states", name_of(r.states)}, {"master", r.master_weights},
             {"gradients", name_of(r.gradients)}, {"trainable", "all"},          {"batch", r.batch}};
    if (r.lora_rank != 0)
        out["trainable"] = {{"lora", r.lora_rank}, {"alpha", r.lora_alpha}, {"targets", r.lora_targets}};
    return out;
}

Json json_of(const SelectionModel& s) {
    Json out{{"block_reuse", s.block_reuse}, {"chunk_reuse", s.chunk_reuse}};
    // Left out where they change nothing: a plan of before there were these has the same text and hash.
    if (s.popularity != 0) out["popularity"] = s.popularity;
    if (s.recency != 0) out["recency"] = s.recency;
    if (s.neighbours != 0) out["neighbours"] = s.neighbours;
    if (s.spread != 0) out["spread"] = s.spread;
    out["seed"] = s.seed;
    out["source"] = s.source;
    return out;
}

// Tokens and bytes say so in their key; other types are their own unit.
template <class T>
std::string key_with_unit(const char* key) {
    if constexpr (std::is_same_v<T, Tokens>) return std::string(key) + "_tokens";
    if constexpr (std::is_same_v<T, Bytes>) return std::string(key) + "_bytes";
    return key;
}

}  // namespace

std::string write_plan(const Plan& plan) {
    Json out{{"schema_version", kPlanSchemaVersion},
             {"name", plan.name},
             {"context_tokens", plan.context.count()},
             {"gpus", plan.gpus},
             {"budget",
              {{"device_bytes", plan.budget.device.count()},
               {"host_bytes", plan.budget.host.count()},
               {"disk_bytes", plan.budget.disk.count()}}},
             {"training", json_of(plan.recipe)}};
    Json decisions;
    visit_decisions(plan.decisions, [&](const char* key, const auto& value) {
        decisions[key_with_unit<std::decay_t<decltype(value)>>(key)] = value_of(value);
    });
    out["plan"] = decisions;
    out["selection"] = json_of(plan.selection);
    out["model"] = json_of(plan.model);
    out["hardware"] = json_of(plan.hardware);
    std::string text = out.dump(2, ' ', false, Json::error_handler_t::replace);
    // A recorded selection keeps its own layout, one row a line: indented it would take a line a page.
    if (plan.selection.recorded) {
        text.resize(text.size() - 2);
        text += ",\n  \"recorded_selection\": " + write_selection(*plan.selection.recorded);
        while (text.back() == '\n') text.pop_back();
        text += "\n}";
    }
    return text + "\n";
}

std::string plan_hash(const Plan& plan) {
    uint64_t hash = 14695981039346656037u;
    for (const char c : write_plan(plan)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return fmt::format("{:016x}", hash);
}

}  // namespace headroom
