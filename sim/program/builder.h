// Writes a Program op by op, in the order of the step.
//
// Contract:
//  - op() returns ascending ids; what an op waits for must exist before it.
//  - Own-stream order is implied: pass only ops of other streams as waits (kNone entries are dropped).
//  - Memory of compute ops is ordered by the stream. An op of another stream that takes pages says after
//  which
//    compute op it runs (`after`), so that only pages freed before that op can be given to it.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program/arena.h"
#include "program/program.h"

namespace headroom {

using PoolId = uint32_t;

class StepBuilder {
public:
    // `sizes_only`: ops are numbered and forgotten. The program has its buffers, arenas and standing bytes,
    // to the byte, and no ops, waits, changes or lifetimes; about three times as fast, in no memory.
    explicit StepBuilder(size_t expected_ops = 0, bool sizes_only = false);

    // Interns a shape. Call it once per shape, not once per op.
    uint32_t work(const Work& work);

    // Where the next ops stand.
    Pass pass = Pass::setup;
    uint32_t chunk = kNone;
    uint16_t layer = kNoLayer;
    uint8_t sequence = 0;

    OpId op(Stream stream, OpKind kind, uint32_t work, std::initializer_list<OpId> waits = {},
            int64_t piece = 0);
    OpId last_compute() const { return last_[static_cast<size_t>(Stream::compute)]; }
    OpId last_of(Stream stream) const { return last_[static_cast<size_t>(stream)]; }

    // A buffer with an address of its own for the whole step. 0 bytes: no buffer (kNone).
    // `alignment` of its address: a multiple of kAlignment.
    BufferId buffer(std::string name, Tier tier, Category category, int64_t bytes,
                    int64_t alignment = kAlignment);
    // A device buffer used by compute ops only, live between take and release; others share its address. One
    // that is never taken has no bytes in the program.
    BufferId scratch(std::string name, Category category, int64_t bytes);
    void take(BufferId buffer, OpId op);     // live from the start of `op`
    void release(BufferId buffer, OpId op);  // free from the end of `op`
    bool live(BufferId buffer) const;        // taken and not released; false for kNone and for own addresses

    // Bytes outside the arenas (libraries).
    void stand(Tier tier, Category category, int64_t bytes);

    // A pool of pages of `unit` bytes that several categories share; its region in the arena is its peak.
    PoolId pool(std::string name, Tier tier, int64_t unit);
    // From now on the pool has room for so many units more than are live.
    void pool_spare(PoolId pool, int64_t units);
    // `units` more from the start of `op`; `after`: the compute op (or kNone: op itself) it is known to
    // follow.
    void pool_take(PoolId pool, Category category, int64_t units, OpId op, OpId after = kNone);
    // `units` less from the end of `op`, a compute op.
    void pool_free(PoolId pool, Category category, int64_t units, OpId op);

    void traffic(const Traffic& row) {
        if (!sizes_only_) program_.traffic.push_back(row);
    }

    // Packs addresses and closes the program; the builder is empty afterwards.
    Program finish();

private:
    struct Scratch {
        BufferId buffer = kNone;
        OpId taken_at = kNone;  // kNone: not live
        bool used = false;      // was ever taken
        Packable request;
    };
    struct Pool {
        BufferId buffer = kNone;
        Tier tier = Tier::device;
        int64_t unit = 0, live = 0, spare = 0, peak = 0;
        std::deque<std::pair<OpId, int64_t>> freed;  // by compute ops, not yet known to be over
    };
    struct WorkHash {
        size_t operator()(const Work& work) const;
    };
    void change(Tier tier, Category category, int64_t bytes, OpId op, bool at_end);
    void assign_addresses();

    Program program_;
    bool sizes_only_;
    OpId next_ = 0;
    std::unordered_map<Work, uint32_t, WorkHash> interned_;  // -> index of program_.works
    std::array<OpId, kStreams> last_{};
    std::vector<uint32_t> waits_begin_;
    std::vector<OpId> waits_;
    std::unordered_map<BufferId, int64_t> aligned_;  // those whose alignment is not kAlignment
    std::vector<uint32_t> scratch_index_;            // by BufferId; kNone where it is none
    std::vector<Scratch> scratch_;
    std::vector<uint64_t> live_;                      // bits of live scratch, and of what is leaving
    std::vector<std::pair<uint32_t, OpId>> leaving_;  // released, by the op at whose end it is free
    std::vector<Pool> pools_;
};

}  // namespace headroom
