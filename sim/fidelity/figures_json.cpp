// Figures as JSON: names for kinds, streams, tiers and categories, units in the keys.
#include <nlohmann/json.hpp>

#include "fidelity/figures.h"
#include "program/names.h"

namespace headroom::fidelity {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKindColumns[] = {"kind",      "stream", "count", "total_ns", "min_ns",
                                        "median_ns", "max_ns", "bytes", "flops"};

template <class E, size_t N>
Json by_name(const std::array<int64_t, N>& values) {
    Json j = Json::object();
    for (size_t i = 0; i < N; ++i)
        if (values[i] != 0) j[std::string(name_of(static_cast<E>(i)))] = values[i];
    return j;
}

Result<int64_t> read_whole(const ConfigValue& v) {
    HEADROOM_TRY(const int64_t n, v.as<int64_t>());
    if (n < 0) return v.wrong("0 or more");
    return n;
}

// {"kv": 512}: names that `parse` knows.
template <size_t N, class Parse>
Result<void> read_by_name(ConfigTable& table, const char* key, Parse parse, std::array<int64_t, N>& out) {
    HEADROOM_TRY(ConfigTable names, table.need<ConfigTable>(key));
    for (const std::string& name : names.keys()) {
        HEADROOM_TRY(const auto which, parse(name, names.place(name)));
        HEADROOM_TRY(const ConfigValue value, names.need(name));
        HEADROOM_TRY(out[static_cast<size_t>(which)], read_whole(value));
    }
    return {};
}

Result<KindFigures> read_kind(const ConfigValue& row) {
    HEADROOM_TRY(const std::vector<ConfigValue> cells, row.items());
    if (cells.size() != std::size(kKindColumns)) return row.wrong("a row of nine figures");
    KindFigures k;
    HEADROOM_TRY(const std::string kind, cells[0].as<std::string>());
    HEADROOM_TRY(k.kind, parse_op_kind(kind, cells[0].place()));
    HEADROOM_TRY(const std::string stream, cells[1].as<std::string>());
    HEADROOM_TRY(k.stream, parse_stream(stream, cells[1].place()));
    int64_t* whole[] = {&k.count, &k.total_ns, &k.min_ns, &k.median_ns, &k.max_ns, &k.bytes};
    for (size_t i = 0; i < std::size(whole); ++i) {
        HEADROOM_TRY(*whole[i], read_whole(cells[i + 2]));
    }
    HEADROOM_TRY(k.flops, cells[8].as<double>());
    return k;
}

Result<MemoryBins> read_bins(ConfigTable table) {
    MemoryBins b;
    HEADROOM_TRY(const std::string tier, table.need<std::string>("tier"));
    HEADROOM_TRY(b.tier, parse_tier(tier, table.place("tier")));
    HEADROOM_TRY(const std::string category, table.need<std::string>("category"));
    HEADROOM_TRY(b.category, parse_category(category, table.place("category")));
    HEADROOM_TRY(b.least, table.need<std::vector<int64_t>>("least_bytes"));
    HEADROOM_TRY(b.most, table.need<std::vector<int64_t>>("most_bytes"));
    if (b.least.size() != b.most.size())
        return fail(table.place("most_bytes"), std::to_string(b.most.size()) + " parts",
                    std::to_string(b.least.size()) + ", as of least_bytes");
    HEADROOM_CHECK(table.finish());
    return b;
}

Result<TierFigures> read_tier(ConfigTable table) {
    TierFigures t;
    HEADROOM_TRY(t.peak_bytes, table.need<int64_t>("peak_bytes"));
    HEADROOM_CHECK(read_by_name(table, "at_peak_bytes", parse_category, t.at_peak));
    HEADROOM_CHECK(read_by_name(table, "category_peaks_bytes", parse_category, t.category_peaks));
    HEADROOM_CHECK(table.finish());
    return t;
}

struct TrafficKey {
    const char* key;
    int64_t TrafficFigures::*member;
};
constexpr TrafficKey kTraffic[] = {{"selected_pages", &TrafficFigures::selected},
                                   {"loaded_pages", &TrafficFigures::loaded},
                                   {"hit_pages", &TrafficFigures::hit},
                                   {"gradient_pages_loaded", &TrafficFigures::gradients_loaded},
                                   {"written_back_pages", &TrafficFigures::written_back},
                                   {"first_touched_pages", &TrafficFigures::first_touched},
                                   {"loaded_bytes", &TrafficFigures::loaded_bytes},
                                   {"written_bytes", &TrafficFigures::written_bytes}};

}  // namespace

Json figures_json(const Figures& f) {
    Json j{{"step_ns", f.step_ns},
           {"ops", f.ops},
           {"pass_ns", by_name<Pass>(f.pass_ns)},
           {"busy_ns", by_name<Stream>(f.busy_ns)},
           {"hidden_ns", by_name<Stream>(f.hidden_ns)},
           {"hidden_share", f.hidden_share}};
    Json tiers = Json::object();
    for (size_t i = 0; i < kTiers; ++i) {
        const TierFigures& t = f.tiers[i];
        if (t == TierFigures()) continue;
        tiers[std::string(name_of(static_cast<Tier>(i)))] = {
            {"peak_bytes", t.peak_bytes},
            {"at_peak_bytes", by_name<Category>(t.at_peak)},
            {"category_peaks_bytes", by_name<Category>(t.category_peaks)}};
    }
    j["tiers"] = std::move(tiers);
    Json traffic = Json::object();
    for (const TrafficKey& k : kTraffic) traffic[k.key] = f.traffic.*k.member;
    j["traffic"] = std::move(traffic);
    j["kind_columns"] = kKindColumns;
    j["kinds"] = Json::array();
    for (const KindFigures& k : f.kinds) {
        j["kinds"].push_back({name_of(k.kind), name_of(k.stream), k.count, k.total_ns, k.min_ns, k.median_ns,
                              k.max_ns, k.bytes, k.flops});
    }
    j["curves"] = Json::array();
    for (const MemoryBins& b : f.curves) {
        j["curves"].push_back({{"tier", name_of(b.tier)},
                               {"category", name_of(b.category)},
                               {"least_bytes", b.least},
                               {"most_bytes", b.most}});
    }
    return j;
}

Result<Figures> read_figures(ConfigTable table) {
    Figures f;
    HEADROOM_TRY(f.step_ns, table.need<int64_t>("step_ns"));
    if (f.step_ns < 0) return fail(table.place("step_ns"), std::to_string(f.step_ns), "0 or more");
    HEADROOM_TRY(f.ops, table.need<int64_t>("ops"));
    HEADROOM_CHECK(read_by_name(table, "pass_ns", parse_pass, f.pass_ns));
    HEADROOM_CHECK(read_by_name(table, "busy_ns", parse_stream, f.busy_ns));
    HEADROOM_CHECK(read_by_name(table, "hidden_ns", parse_stream, f.hidden_ns));
    HEADROOM_TRY(f.hidden_share, table.need<double>("hidden_share"));
    HEADROOM_TRY(ConfigTable tiers, table.need<ConfigTable>("tiers"));
    for (const std::string& name : tiers.keys()) {
        HEADROOM_TRY(const Tier tier, parse_tier(name, tiers.place(name)));
        HEADROOM_TRY(const ConfigTable one, tiers.need<ConfigTable>(name));
        HEADROOM_TRY(f.tiers[static_cast<size_t>(tier)], read_tier(one));
    }
    HEADROOM_TRY(ConfigTable traffic, table.need<ConfigTable>("traffic"));
    for (const TrafficKey& k : kTraffic) {
        HEADROOM_TRY(const ConfigValue value, traffic.need(k.key));
        HEADROOM_TRY(f.traffic.*k.member, read_whole(value));
    }
    HEADROOM_CHECK(traffic.finish());
    (void)table.find("kind_columns");  // for people
    HEADROOM_TRY(const ConfigValue kinds, table.need("kinds"));
    HEADROOM_TRY(const std::vector<ConfigValue> rows, kinds.items());
    for (const ConfigValue& row : rows) {
        HEADROOM_TRY(const KindFigures k, read_kind(row));
        f.kinds.push_back(k);
    }
    HEADROOM_TRY(const std::vector<ConfigTable> curves, table.need<std::vector<ConfigTable>>("curves"));
    for (const ConfigTable& c : curves) {
        HEADROOM_TRY(MemoryBins b, read_bins(c));
        f.curves.push_back(std::move(b));
    }
    HEADROOM_CHECK(table.finish());
    return f;
}

}  // namespace headroom::fidelity
