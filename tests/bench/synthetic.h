// Programs of any size with the shape of a training step, and a machine to price them on.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hardware/hardware.h"
#include "program/program.h"

namespace headroom::bench {

enum class Mix { compute, lock_step, all_streams };

// One byte or FLOP takes a nanosecond, and copies slow compute down.
inline Hardware machine() {
    Hardware h;
    h.name = "synthetic";
    h.dense_flops = h.device_bandwidth = h.peer_bandwidth = h.disk_read = h.disk_write = 1e9;
    h.memory_efficiency = 1;
    h.gemm.per_flop = h.attention_forward.per_flop = 1e-9;
    const Curve curve{{{1, 1e9}}};
    h.to_device = h.to_host = {curve, curve, curve};
    h.both_directions = 1.8e9;
    for (auto& row : h.interference) row.fill(0.93);
    return h;
}

// `ops` ops, layer by layer: ten compute ops each, of three classes, with two memory changes an op; what else
// runs depends on the mix. Lock step: a load two layers ahead of each layer, longer than the layer. All
// streams: with that a store, a collective and a disk read for each layer.
inline Program step_of(Mix mix, uint32_t ops) {
    Program p;
    p.works = {gemm(9, 9, 9), attention(false, false, false, 8, 8, 1, 1, 8), memory_bound(700)};
    const auto work = [&](const Work& w) {
        p.works.push_back(w);
        return static_cast<uint32_t>(p.works.size() - 1);
    };
    const uint32_t load = work(copy(WorkKind::copy_to_device, 15000, 1));
    const uint32_t store = work(copy(WorkKind::copy_to_host, 6000, 1));
    const uint32_t reduce = work(collective(WorkKind::all_gather, 3000, 2));
    const uint32_t read = work(disk(WorkKind::disk_read, 9000));
    std::vector<std::pair<uint32_t, uint32_t>> waits;
    const auto add = [&](Stream stream, uint32_t w) {
        Op op;
        op.stream = stream;
        op.work = w;
        p.ops.push_back(op);
        return static_cast<OpId>(p.ops.size() - 1);
    };
    constexpr uint32_t kAhead = 2;
    std::vector<OpId> loads, lasts;
    for (uint32_t layer = 0; p.ops.size() < ops; ++layer) {
        OpId fetched = kNone, reduced = kNone;
        if (mix == Mix::all_streams) {
            fetched = add(Stream::disk, read);
            if (layer >= kAhead) waits.emplace_back(fetched, lasts[layer - kAhead]);
        }
        if (mix != Mix::compute) {
            loads.push_back(add(Stream::to_device, load));
            if (layer >= kAhead) waits.emplace_back(loads.back(), lasts[layer - kAhead]);
            if (fetched != kNone) waits.emplace_back(loads.back(), fetched);
        }
        for (uint32_t i = 0; i < 10; ++i) {
            const OpId op = add(Stream::compute, i % 3);
            if (i == 3 && mix != Mix::compute) waits.emplace_back(op, loads.back());
            if (i == 5 && mix == Mix::all_streams) {
                reduced = add(Stream::peer, reduce);
                waits.emplace_back(reduced, op);
            }
            if (i == 9 && reduced != kNone) waits.emplace_back(op, reduced);
            p.changes.push_back({4096, op, Tier::device, Category::activations, false});
            p.changes.push_back({-4096, op, Tier::device, Category::activations, true});
            lasts.resize(layer + 1, op);
            lasts.back() = op;
        }
        if (mix == Mix::all_streams) waits.emplace_back(add(Stream::to_host, store), lasts.back());
    }
    p.waits = WaitGraph(boost::edges_are_sorted, waits.begin(), waits.end(),
                        static_cast<uint32_t>(p.ops.size()), static_cast<uint32_t>(waits.size()));
    return p;
}

}  // namespace headroom::bench
