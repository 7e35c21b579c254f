// Small timelines written by hand.
#pragma once

#include <initializer_list>
#include <string>

#include "timeline/timeline.h"

namespace headroom {

// Adds ops with their waits in id order.
class HandMade {
public:
    HandMade() {
        t.source = "simulated";
        t.waits_begin.push_back(0);
    }
    TimelineOp& op(Stream stream, OpKind kind, int64_t start_ns, int64_t end_ns,
                   std::initializer_list<OpId> waits = {}) {
        TimelineOp op;
        op.stream = stream;
        op.kind = kind;
        op.start_ns = start_ns;
        op.end_ns = end_ns;
        t.ops.push_back(op);
        t.waits.insert(t.waits.end(), waits);
        t.waits_begin.push_back(static_cast<uint32_t>(t.waits.size()));
        return t.ops.back();
    }
    void memory(int64_t time_ns, Tier tier, Category category, int64_t bytes) {
        t.memory.push_back({time_ns, bytes, tier, category});
    }
    Timeline t;
};

// A step of four ops, two of them transfers, with every field in use.
inline Timeline small_step() {
    HandMade made;
    made.op(Stream::compute, OpKind::embed, 0, 1000).pass = Pass::fill;
    TimelineOp& load = made.op(Stream::to_device, OpKind::load_pages, 500, 2500);
    load.pass = Pass::fill;
    load.chunk = 3;
    load.layer = 7;
    load.piece = 2;
    load.sequence = 1;
    load.bytes = 512;
    TimelineOp& past = made.op(Stream::compute, OpKind::attention_past, 2500, 4001, {1});
    past.pass = Pass::gradient;
    past.chunk = 3;
    past.layer = 7;
    past.bytes = 4096;
    past.flops = int64_t{1} << 40;
    made.op(Stream::to_host, OpKind::store_pages, 4001, 4100, {0, 2}).bytes = 256;
    made.memory(0, Tier::device, Category::weights, 1000);
    made.memory(0, Tier::host, Category::kv, 5000);
    made.memory(500, Tier::device, Category::staging, 512);
    made.memory(4001, Tier::device, Category::staging, 0);
    Timeline& t = made.t;
    t.plan = "{\"schema_version\": 1,\n  \"chunk\": 4096}\n";
    t.plan_hash = "0123456789abcdef";
    t.selection_source = "model: seed 1 \"reuse\"\t\xC3\xA9";
    t.machine = "h200-sxm-pcie5";
    t.rates = "uncalibrated: datasheet";
    t.results = {{"loss", 2.0794415416798357}, {"gradient_norm", 1e-300}};
    t.capacity_bytes = {int64_t{140} << 30, int64_t{112} << 30, 0};
    Traffic row;
    row.chunk = 3;
    row.layer = 7;
    row.selected = 64;
    row.loaded = 60;
    row.hit = 4;
    row.evicted = 1;
    row.gradients_loaded = 9;
    row.written_back = 32;
    row.first_touched = 5;
    row.loaded_bytes = 7864320;
    row.written_bytes = 4194304;
    t.traffic = {row, Traffic{}};
    return t;
}

}  // namespace headroom
