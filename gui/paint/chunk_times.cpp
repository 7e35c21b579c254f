#include "gui/paint/chunk_times.h"

#include <algorithm>

namespace headroom::gui {

const WorkSpan* ChunkTimes::at(int64_t ns) const {
    const auto after = std::upper_bound(spans.begin(), spans.end(), ns,
                                        [](int64_t t, const WorkSpan& s) { return t < s.start_ns; });
    return after == spans.begin() ? nullptr : &*(after - 1);
}

int64_t ChunkTimes::begin(Pass pass, int layer, int64_t chunk) const {
    const int64_t row = layer == kAllLayers ? layers : layer;
    return begin_ns[index_of(pass)][static_cast<size_t>(row * chunks + chunk)];
}

OpId ChunkTimes::op_of(Pass pass, int layer, int64_t chunk) const {
    return layer == kAllLayers ? kNone : past_op[index_of(pass)][static_cast<size_t>(layer * chunks + chunk)];
}

ChunkTimes chunk_times(const Timeline& timeline, int64_t chunks, int64_t layers) {
    ChunkTimes times;
    times.chunks = chunks;
    times.layers = layers;
    for (size_t i = 0; i < 2; ++i) {
        times.begin_ns[i].assign(static_cast<size_t>((layers + 1) * chunks), ChunkTimes::kNever);
        times.past_op[i].assign(static_cast<size_t>(layers * chunks), kNone);
    }
    for (size_t id = 0; id < timeline.ops.size(); ++id) {
        const TimelineOp& op = timeline.ops[id];
        if (op.stream != Stream::compute) continue;
        const WorkSpan span{op.start_ns, op.chunk, op.layer, op.pass};
        const WorkSpan* before = times.spans.empty() ? nullptr : &times.spans.back();
        if (before == nullptr || before->chunk != span.chunk || before->layer != span.layer ||
            before->pass != span.pass)
            times.spans.push_back(span);
        const bool of_pass = op.pass == Pass::fill || op.pass == Pass::gradient;
        if (!of_pass || op.chunk >= chunks) continue;
        const size_t i = index_of(op.pass), chunk = op.chunk;
        int64_t& any = times.begin_ns[i][static_cast<size_t>(layers * chunks) + chunk];
        any = std::min(any, op.start_ns);
        if (op.layer >= layers) continue;
        const size_t cell = op.layer * static_cast<size_t>(chunks) + chunk;
        times.begin_ns[i][cell] = std::min(times.begin_ns[i][cell], op.start_ns);
        const bool attends = op.kind == OpKind::attention_past || op.kind == OpKind::attention_past_backward;
        if (attends && times.past_op[i][cell] == kNone) times.past_op[i][cell] = static_cast<OpId>(id);
    }
    return times;
}

}  // namespace headroom::gui
