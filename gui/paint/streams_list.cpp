#include "gui/paint/streams_list.h"

#include <algorithm>

namespace headroom::gui {

OpsByStream by_stream(const Timeline& timeline, std::span<const OpId> ops) {
    OpsByStream sorted;
    for (const OpId op : ops) sorted[static_cast<size_t>(timeline.ops[op].stream)].push_back(op);
    return sorted;
}

size_t Lanes::place_of(Stream stream) const {
    const auto at =
        std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.stream == stream; });
    return static_cast<size_t>(at - lanes.begin());
}

Lanes make_lanes(std::shared_ptr<const Timeline> timeline, const OpsByStream& streams,
                 std::span<const OpId> critical_path) {
    Lanes made;
    for (size_t s = 0; s < kStreams; ++s) {
        if (!streams[s].empty())
            made.lanes.push_back(make_lane(static_cast<Stream>(s), timeline, streams[s]));
    }
    made.critical = by_stream(*timeline, critical_path);
    made.timeline = std::move(timeline);
    return made;
}

StreamsList list_of(const Lanes& lanes, const OpsByStream* hits, const TimeAxis& axis) {
    StreamsList list;
    list.axis = axis;
    std::array<int64_t, kOpKinds> busy{};
    for (const Lane& lane : lanes.lanes) {
        const auto s = static_cast<size_t>(lane.stream);
        list.lanes.push_back(list_of(lane, axis));
        list.critical.push_back(extents_of(*lanes.timeline, lanes.critical[s], axis));
        list.hits.push_back(hits == nullptr ? std::vector<Extent>{}
                                            : extents_of(*lanes.timeline, (*hits)[s], axis));
        for (size_t k = 0; k < kOpKinds; ++k) busy[k] += list.lanes.back().busy_ns[k];
    }
    for (size_t k = 0; k < kOpKinds; ++k) {
        if (busy[k] > 0) list.kinds.push_back({busy[k], static_cast<OpKind>(k)});
    }
    std::stable_sort(list.kinds.begin(), list.kinds.end(),
                     [](const KindShare& a, const KindShare& b) { return a.busy_ns > b.busy_ns; });
    return list;
}

}  // namespace headroom::gui
