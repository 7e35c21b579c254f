#include "timeline/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "program/names.h"
#include "timeline/excerpt.h"
#include "timeline/peaks.h"

namespace headroom {
namespace {

constexpr double kJudgedFrom = 0.005;

// The ops of both, id by id: how many stand at another place of the step.
Result<int64_t> match(const Timeline& predicted, const Timeline& measured) {
    if (predicted.ops.size() != measured.ops.size()) {
        return fail("compare",
                    fmt::format("{} ops predicted, {} measured", predicted.ops.size(), measured.ops.size()),
                    "two timelines of one plan");
    }
    int64_t unmatched = 0;
    for (size_t i = 0; i < predicted.ops.size(); ++i) {
        const TimelineOp& p = predicted.ops[i];
        const TimelineOp& m = measured.ops[i];
        if (p.kind != m.kind) {
            return fail("compare",
                        fmt::format("op {} is '{}' in the one and '{}' in the other", i, name_of(p.kind),
                                    name_of(m.kind)),
                        "two timelines of one plan");
        }
        if (p.stream != m.stream || p.pass != m.pass || p.chunk != m.chunk || p.layer != m.layer ||
            p.piece != m.piece || p.sequence != m.sequence) {
            ++unmatched;
        }
    }
    return unmatched;
}

double relative_error(int64_t predicted, int64_t measured) {
    if (predicted == measured) return 0;
    if (measured == 0)
        return predicted > 0 ? std::numeric_limits<double>::infinity()
                             : -std::numeric_limits<double>::infinity();
    return (static_cast<double>(predicted) - static_cast<double>(measured)) / static_cast<double>(measured);
}

double share(int64_t part, double total) {
    return total > 0 ? static_cast<double>(part) / total : 0;
}

// The rows of one group: what they weigh needs their sum.
class Group {
public:
    Group(std::string name, std::string unit) : name_(std::move(name)), unit_(std::move(unit)) {}
    void add(std::string what, int64_t predicted, int64_t measured) {
        if (predicted == 0 && measured == 0) return;
        rows_.push_back({std::move(what), name_, unit_, predicted, measured,
                         relative_error(predicted, measured), 0, true});
    }
    void move_to(Comparison& comparison) {
        double predicted = 0, measured = 0;
        for (const Difference& row : rows_) {
            predicted += static_cast<double>(row.predicted);
            measured += static_cast<double>(row.measured);
        }
        for (Difference& row : rows_) {
            row.weight = std::max(share(row.predicted, predicted), share(row.measured, measured));
            row.judged = row.weight >= kJudgedFrom;
            if (row.judged) comparison.worst = std::max(comparison.worst, std::abs(row.error));
            comparison.differences.push_back(std::move(row));
        }
    }

private:
    std::string name_, unit_;
    std::vector<Difference> rows_;
};

}  // namespace

Result<Comparison> compare(const Timeline& predicted, const Timeline& measured) {
    if (predicted.excerpt.empty() != measured.excerpt.empty()) {
        const bool cut_first = predicted.excerpt.empty();
        HEADROOM_TRY(const Timeline cut, cut_first ? cut_like(predicted, measured, "predicted")
                                                   : cut_like(measured, predicted, "measured"));
        return cut_first ? compare(cut, measured) : compare(predicted, cut);
    }
    Comparison result;
    result.excerpt = predicted.excerpt;
    HEADROOM_TRY(result.unmatched_ops, match(predicted, measured));
    result.same_plan = predicted.plan_hash == measured.plan_hash;
    const Statistics p = statistics_of(predicted);
    const Statistics m = statistics_of(measured);
    const auto p_categories = category_peaks_of(predicted);
    const auto m_categories = category_peaks_of(measured);

    Group step("step", "ns"), tiers("tier", "bytes"), categories("category", "bytes"),
        streams("stream", "ns"), kinds("kind", "ns");
    step.add("step time", p.duration_ns, m.duration_ns);
    for (size_t i = 0; i < kTiers; ++i) {
        const std::string_view tier = name_of(static_cast<Tier>(i));
        tiers.add(fmt::format("{} peak", tier), p.peaks[i].bytes, m.peaks[i].bytes);
        for (size_t c = 0; c < kCategories; ++c) {
            categories.add(fmt::format("{} {} at its peak", tier, name_of(static_cast<Category>(c))),
                           p_categories[i][c], m_categories[i][c]);
        }
    }
    for (size_t i = 0; i < kStreams; ++i) {
        streams.add(fmt::format("{} busy", name_of(static_cast<Stream>(i))), p.streams[i].busy_ns,
                    m.streams[i].busy_ns);
    }
    for (size_t i = 0; i < kOpKinds; ++i) {
        kinds.add(std::string(name_of(static_cast<OpKind>(i))), p.kinds[i].total_ns, m.kinds[i].total_ns);
    }
    for (Group* group : {&step, &tiers, &categories, &streams, &kinds}) group->move_to(result);
    return result;
}

}  // namespace headroom
