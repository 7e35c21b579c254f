// A program beside its simulation, seen as ops with times (a Step of timeline/step_statistics.h).
#pragma once

#include <boost/graph/graph_traits.hpp>

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
    using Wait = boost::graph_traits<WaitGraph>::adjacency_iterator;
    struct Waits {
        Wait first, last;
        Wait begin() const { return first; }
        Wait end() const { return last; }
    };
    Waits waits(size_t id) const {
        const auto [first, last] = adjacent_vertices(static_cast<OpId>(id), program.waits);
        return {first, last};
    }
};

}  // namespace headroom
