#include "timeline/statistics.h"

#include <span>

#include "timeline/peaks.h"
#include "timeline/step_statistics.h"

namespace headroom {
namespace {

struct OfTimeline {
    const Timeline& t;
    size_t size() const { return t.ops.size(); }
    const TimelineOp& op(size_t id) const { return t.ops[id]; }
    std::span<const OpId> waits(size_t id) const {
        return std::span(t.waits).subspan(t.waits_begin[id], t.waits_begin[id + 1] - t.waits_begin[id]);
    }
};

}  // namespace

Statistics statistics_of(const Timeline& timeline) {
    Statistics s = step_statistics(OfTimeline{timeline});
    s.peaks = peaks_of(timeline);
    return s;
}

}  // namespace headroom
