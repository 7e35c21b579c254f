// Live bytes of each tier while a program runs: its peaks and, where asked for, its curve.
//
// Contract:
//  - All changes of one instant take effect together, those of ends and those of starts: what is freed and
//  taken
//    at the same time never counts twice (as timeline/peaks.h reads a curve).
//  - Each stream's ops are told in id order. Cost: a few ns a change; 16 bytes a change of memory, because
//  the
//    changes are laid out by stream and by start and end, so that each op finds its own next in line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "timeline/statistics.h"
#include "timeline/timeline.h"

namespace headroom {

class LiveMemory {
public:
    // Errors (Fault::run_failed, our own mistakes): changes out of op order or of ops that do not exist; sums
    // that int64_t cannot hold.
    static Result<LiveMemory> of(const Program& program, bool keep_curve);
    LiveMemory(LiveMemory&&) = default;
    LiveMemory& operator=(LiveMemory&&) = default;

    void start(size_t stream, OpId op) { apply(starts_[stream], op); }
    void end(size_t stream, OpId op) { apply(ends_[stream], op); }
    // The instant is complete; `last_started`: the op that started last, of several the highest id.
    void settle(int64_t now_ns, OpId last_started) {
        if (touched_ != 0) record(now_ns, last_started);
    }

    const std::array<Peak, kTiers>& peaks() const { return peaks_; }
    std::vector<MemorySample> take_curve() { return std::move(curve_); }
    // The first category that fell below zero: a program that frees what it did not take.
    const std::optional<MemorySample>& negative() const { return negative_; }

private:
    static constexpr size_t kSlots = kTiers * kCategories;  // tier x category
    static_assert(kSlots <= 64);
    struct Change {
        int64_t bytes = 0;
        OpId op = kNone;
        uint32_t slot = 0;
    };

    LiveMemory() = default;
    void apply(const Change*& next, OpId op) {
        for (; next->op == op; ++next) {
            live_[next->slot] += next->bytes;
            touched_ |= uint64_t{1} << next->slot;
        }
    }
    void record(int64_t now_ns, OpId last_started);

    std::vector<Change>
        changes_;  // of one stream's starts, a sentinel, of its ends, a sentinel, of the next ...
    std::array<const Change*, kStreams> starts_{}, ends_{};  // the next of each
    std::array<int64_t, kSlots> live_{};
    std::array<int64_t, kSlots> settled_{};  // live_ at the last instant
    std::array<int64_t, kTiers> total_{};    // of settled_
    uint64_t touched_ = 0;                   // slots changed since then
    std::array<Peak, kTiers> peaks_{};
    bool keep_curve_ = false;
    std::vector<MemorySample> curve_;
    std::optional<MemorySample> negative_;
};

}  // namespace headroom
