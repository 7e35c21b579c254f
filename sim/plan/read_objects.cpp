// Model and Hardware out of plan.json. A plan may be edited by hand, so what read_model() and read_hardware()
// promise is checked here again.
#include <fmt/format.h>

#include "plan/read_parts.h"

namespace headroom {
namespace {

// Reads each visited field; stops at the first Error, which `status` keeps.
auto from(TableReader& table, Result<void>& status) {
    return [&table, &status](const char* key, auto& member, const Range& range) {
        if (status) status = table.read(key, member, range);
    };
}

// The same, of fields that may be absent.
auto from_optional(TableReader& table, Result<void>& status) {
    return [&table, &status](const char* key, auto& member, const Range& range) {
        if (status && table.find_optional(key)) status = table.read(key, member, range);
    };
}

template <class T, class Visit>
Result<void> read_part(TableReader& parent, const char* key, T& out, Visit visit) {
    HEADROOM_TRY(const ConfigValue value, parent.need(key));
    HEADROOM_TRY(TableReader table, TableReader::open(value, parent.form()));
    Result<void> status;
    visit(out, from(table, status));
    HEADROOM_CHECK(status);
    return table.finish();
}

// A list of tables, each read by `read`.
template <class Read>
Result<void> read_list(TableReader& parent, const char* key, size_t limit, Read read) {
    HEADROOM_TRY(const ConfigValue value, parent.need(key));
    HEADROOM_TRY(const std::vector<ConfigValue> list, value.items());
    if (list.empty() || list.size() > limit)
        return value.wrong(fmt::format("a list of 1 to {} tables", limit));
    for (const ConfigValue& item : list) {
        HEADROOM_TRY(TableReader entry, TableReader::open(item, parent.form()));
        HEADROOM_CHECK(read(entry));
        HEADROOM_CHECK(entry.finish());
    }
    return {};
}

Result<void> read_layers(TableReader& table, Model& out) {
    return read_list(table, "layers", kMostLayers, [&](TableReader& entry) -> Result<void> {
        int64_t count = 0;
        Layer layer;
        HEADROOM_CHECK(entry.read("count", count, Range{1, kMostLayers}));
        HEADROOM_CHECK(entry.read("window_tokens", layer.window, kWindow));
        HEADROOM_CHECK(entry.read("mixture", layer.mixture));
        if (out.layer_count() + count > kMostLayers) {
            return fail(entry.place("count"), fmt::format("{} layers in all", out.layer_count() + count),
                        fmt::format("at most {}", kMostLayers));
        }
        out.layers.insert(out.layers.end(), count, layer);
        return {};
    });
}

Result<void> check_model(const TableReader& table, const Model& m) {
    if (m.heads % m.kv_heads != 0) {
        return fail(table.place("kv_heads"), fmt::format("{}", m.kv_heads),
                    fmt::format("a divisor of the {} query heads", m.heads));
    }
    if (m.experts.per_token > m.experts.count) {
        return fail(table.place("experts.per_token"), fmt::format("{}", m.experts.per_token),
                    fmt::format("at most the {} experts", m.experts.count));
    }
    return check_sizes({table.place("heads"), table.place("kv_heads"), table.place("layers")}, m);
}

Result<void> read_curve(TableReader& table, const char* key, Curve& out) {
    return read_list(table, key, 4096, [&](TableReader& entry) -> Result<void> {
        Curve::Point point;
        HEADROOM_CHECK(entry.read("bytes", point.bytes, Range{1, 1e18}));
        HEADROOM_CHECK(entry.read("bytes_per_s", point.bandwidth, kRate));
        if (!out.points.empty() && point.bytes <= out.points.back().bytes) {
            return fail(entry.place("bytes"), fmt::format("{}", point.bytes), "ascending sizes");
        }
        out.points.push_back(point);
        return {};
    });
}

Result<void> read_rate(TableReader& parent, const char* key, RateFit& out) {
    HEADROOM_TRY(const ConfigValue value, parent.need(key));
    HEADROOM_TRY(TableReader table, TableReader::open(value, parent.form()));
    Result<void> status;
    visit_rate(out, from(table, status));
    visit_later_rate(out, from_optional(table, status));
    HEADROOM_CHECK(status);
    return table.finish();
}

Result<void> read_kernels(TableReader& parent, Hardware& out) {
    const std::optional<ConfigValue> value = parent.find_optional("kernels");
    if (!value) return {};
    HEADROOM_TRY(TableReader table, TableReader::open(*value, parent.form()));
    for (size_t i = 1; i < kKernels; ++i) {
        const std::string name(name_of(static_cast<Kernel>(i)));
        if (!table.find_optional(name)) continue;
        HEADROOM_CHECK(
            read_part(table, name.c_str(), out.kernels[i], [](auto& k, auto v) { visit_kernel(k, v); }));
    }
    return table.finish();
}

Result<void> read_interference(TableReader& parent, Hardware& out) {
    HEADROOM_TRY(const ConfigValue value, parent.need("interference"));
    HEADROOM_TRY(TableReader table, TableReader::open(value, parent.form()));
    for (size_t v = 0; v < out.interference.size(); ++v) {
        out.interference[v].fill(1);
        const std::optional<ConfigValue> row =
            table.find_optional(std::string(name_of(static_cast<Sharing>(v))));
        if (!row) continue;
        HEADROOM_TRY(TableReader factors, TableReader::open(*row, parent.form()));
        for (size_t a = 0; a < out.interference[v].size(); ++a) {
            const std::string beside(name_of(static_cast<Sharing>(a)));
            if (!factors.find_optional(beside)) continue;
            HEADROOM_CHECK(factors.read(beside, out.interference[v][a], Range{1e-6, 1}));
        }
        HEADROOM_CHECK(factors.finish());
    }
    return table.finish();
}

}  // namespace

Result<void> read_model_object(TableReader& table, Model& out) {
    Result<void> status;
    visit_model(out, from(table, status));
    HEADROOM_CHECK(status);
    HEADROOM_CHECK(read_part(table, "rope", out.rope, [](auto& r, auto v) { visit_rope(r, v); }));
    HEADROOM_CHECK(read_part(table, "experts", out.experts, [](auto& e, auto v) { visit_experts(e, v); }));
    HEADROOM_CHECK(
        read_part(table, "latent_attention", out.latent, [](auto& l, auto v) { visit_latent(l, v); }));
    HEADROOM_CHECK(read_layers(table, out));
    HEADROOM_CHECK(table.finish());
    return check_model(table, out);
}

Result<void> read_hardware_object(TableReader& table, Hardware& out) {
    Result<void> status;
    visit_hardware(out, from(table, status));
    visit_later_hardware(out, from_optional(table, status));
    from_optional(table, status)("power_source", out.power.source, kFlag);
    visit_rates(out, [&](const char* key, RateFit& rate) {
        if (status) status = read_rate(table, key, rate);
    });
    visit_curves(out, [&](const char* key, Curve& curve) {
        if (status) status = read_curve(table, key, curve);
    });
    HEADROOM_CHECK(status);
    HEADROOM_CHECK(read_kernels(table, out));
    HEADROOM_CHECK(read_interference(table, out));
    return table.finish();
}

}  // namespace headroom
