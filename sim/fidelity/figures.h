// The figures of one step, simulated or measured, that predictions are judged by: small enough to commit.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "timeline/timeline.h"

namespace headroom::fidelity {

// Ops of one kind on one stream. Times in ns; the median of an even count is the lower of the middle two.
struct KindFigures {
    OpKind kind = OpKind::embed;
    Stream stream = Stream::compute;
    int64_t count = 0, total_ns = 0, min_ns = 0, median_ns = 0, max_ns = 0;
    int64_t bytes = 0;  // moved; stops at 2^63 - 1
    double flops = 0;
    bool operator==(const KindFigures&) const = default;
};

// Live bytes of one category of a tier, the step cut into equal parts: the least and the most of each part.
struct MemoryBins {
    Tier tier = Tier::device;
    Category category = Category::activations;
    std::vector<int64_t> least, most;
    bool operator==(const MemoryBins&) const = default;
};

struct TierFigures {
    int64_t peak_bytes = 0;                             // live bytes at the worst instant
    std::array<int64_t, kCategories> at_peak{};         // of it, by category
    std::array<int64_t, kCategories> category_peaks{};  // the largest that each ever is
    bool operator==(const TierFigures&) const = default;
};

// Sums over chunks, layers and passes, in pages and bytes (program.h, Traffic).
struct TrafficFigures {
    int64_t selected = 0, loaded = 0, hit = 0, gradients_loaded = 0, written_back = 0, first_touched = 0;
    int64_t loaded_bytes = 0, written_bytes = 0;
    bool operator==(const TrafficFigures&) const = default;
};

struct Figures {
    int64_t step_ns = 0, ops = 0;
    std::array<int64_t, static_cast<size_t>(Pass::count_)> pass_ns{};
    std::vector<KindFigures> kinds;  // by stream, then kind; none without ops
    std::array<int64_t, kStreams> busy_ns{}, hidden_ns{};
    double hidden_share = 1;  // of the time of all transfers, while compute ran
    std::array<TierFigures, kTiers> tiers;
    TrafficFigures traffic;
    std::vector<MemoryBins> curves;  // empty: not kept
    bool operator==(const Figures&) const = default;
};

// `bins`: parts that memory curves are cut into; 0: none. Cost: as statistics_of, and a sort of the times.
Figures figures_of(const Timeline& timeline, int64_t bins);

nlohmann::ordered_json figures_json(const Figures& figures);
// Errors: keys missing or unknown, names that do not exist, negative figures.
Result<Figures> read_figures(ConfigTable table);

}  // namespace headroom::fidelity
