// A program beside its simulation, seen as ops with times (a Step of timeline/step_statistics.h).
#pragma once

#include <ranges>

#include "program/program.h"
#include "simulate/simulate.h"
#include "timeline/timeline.h"

namespace headroom {

struct SimulatedStep {
    const Program& program;
    const Simulation& simulation;

    size_t size() const { return program.size(); }
    TimelineOp op(size_t id) const {
        const Op& op = program.ops[id];
        const Work& work = program.works[op.work];
        return {.start_ns = simulation.start_ns[id],
                .end_ns = simulation.end_ns[id],
                .bytes = work.bytes,
                .flops = work.flops,
                .chunk = op.chunk,
                .layer = op.layer,
                .piece = op.piece,
                .kind = op.kind,
                .stream = op.stream,
                .pass = op.pass,
                .sequence = op.sequence};
    }
    auto waits(size_t id) const {
        const auto [begin, end] = adjacent_vertices(static_cast<OpId>(id), program.waits);
        return std::ranges::subrange(begin, end);
    }
};

}  // namespace headroom
