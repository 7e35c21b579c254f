// Timelines made by hand, and random ones, that keep the contract of timeline.h.
#pragma once

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "gui/model/step.h"

namespace headroom::gui::test {

class TimelineMaker {
public:
    TimelineMaker() {
        timeline_.source = "simulated";
        timeline_.waits_begin.push_back(0);
    }
    // Ops of a stream in order of time.
    OpId add(Stream stream, OpKind kind, int64_t start_ns, int64_t end_ns, std::vector<OpId> waits = {},
             uint32_t chunk = kNone, uint16_t layer = kNoLayer) {
        TimelineOp op;
        op.stream = stream;
        op.kind = kind;
        op.start_ns = start_ns;
        op.end_ns = end_ns;
        op.chunk = chunk;
        op.layer = layer;
        op.pass = Pass::fill;
        timeline_.ops.push_back(op);
        timeline_.waits.insert(timeline_.waits.end(), waits.begin(), waits.end());
        timeline_.waits_begin.push_back(static_cast<uint32_t>(timeline_.waits.size()));
        return static_cast<OpId>(timeline_.ops.size() - 1);
    }
    TimelineOp& op(OpId id) { return timeline_.ops[id]; }
    // In order of time.
    void memory(int64_t time_ns, Tier tier, Category category, int64_t bytes) {
        timeline_.memory.push_back({time_ns, bytes, tier, category});
    }
    void capacity(Tier tier, int64_t bytes) { timeline_.capacity_bytes[static_cast<size_t>(tier)] = bytes; }
    Timeline take() { return std::move(timeline_); }
    StepPtr step() { return make_step("by hand", take()); }

private:
    Timeline timeline_;
};

// `ops` ops over three streams: mostly short, some long, gaps now and then; each waits for one before it.
inline Timeline random_timeline(uint32_t seed, size_t ops) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
    TimelineMaker maker;
    std::array<int64_t, 3> now{};
    for (size_t i = 0; i < ops; ++i) {
        const auto s = static_cast<size_t>(below(3));
        const int64_t gap = below(4) == 0 ? below(below(40) == 0 ? 20'000 : 30) : 0;
        const int64_t length = below(50) == 0 ? below(10'000) : below(40);
        const int64_t start = now[s] + gap;
        now[s] = start + length;
        std::vector<OpId> waits;
        if (i > 0 && below(2) == 0) waits.push_back(static_cast<OpId>(below(static_cast<int64_t>(i))));
        maker.add(static_cast<Stream>(s), static_cast<OpKind>(below(12)), start, now[s], waits,
                  static_cast<uint32_t>(below(8)), static_cast<uint16_t>(below(4)));
    }
    return maker.take();
}

// `samples` samples of two tiers and a few categories, several at one instant now and then.
inline Timeline random_memory(uint32_t seed, size_t samples) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
    TimelineMaker maker;
    int64_t now = below(50);
    for (size_t i = 0; i < samples; ++i) {
        maker.memory(now, static_cast<Tier>(below(2)), static_cast<Category>(below(5)),
                     below(1000) * below(1000));
        now += below(3) == 0 ? 0 : below(60);
    }
    maker.add(Stream::compute, OpKind::qkv, 0, now + 10);
    return maker.take();
}

}  // namespace headroom::gui::test
