// What a Timeline says in figures.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "timeline/timeline.h"

namespace headroom {

// Peak of one tier: its worst instant and who owned the bytes then.
struct Peak {
    int64_t bytes = 0;
    int64_t time_ns = 0;
    OpId op = kNone;  // the last op that started at or before that instant
    std::array<int64_t, kCategories> by_category{};
};

// Sums of bytes stop at 2^63 - 1. FLOPs are summed in double: a dense step of 4Mi tokens has more than 2^63.
struct KindStatistics {
    int64_t count = 0, total_ns = 0, min_ns = 0, max_ns = 0, bytes = 0;
    double flops = 0;
};

struct StreamStatistics {
    int64_t ops = 0, busy_ns = 0, bytes = 0;
    double flops = 0;
    int64_t hidden_ns = 0;  // part of busy_ns while the compute stream was busy too (0 for compute itself)
};

struct Statistics {
    int64_t duration_ns = 0;  // from 0 to the last end
    std::array<KindStatistics, kOpKinds> kinds{};
    std::array<StreamStatistics, kStreams> streams{};
    // From the first start to the last end of each.
    std::array<int64_t, static_cast<size_t>(Pass::count_)> pass_ns{};
    std::array<Peak, kTiers> peaks{};
    // Share of the time that any transfer ran (union over the other streams) during which compute was busy;
    // 1 where nothing travelled.
    double hidden_share = 1;
    // The chain of ops that decided the duration: time by kind, and waiting (gaps of a measured run). Both
    // together are the duration. Back from the op that ends last (ties: the lowest id) to the one that ended
    // last of those it waited for and the one before it on its stream.
    std::array<int64_t, kOpKinds> critical_ns{};
    int64_t critical_gap_ns = 0;
    std::vector<OpId> critical_path;  // first to last
};
// Cost: linear in ops, waits and samples. The timeline keeps its contract (read_timeline makes sure of it).
Statistics statistics_of(const Timeline& timeline);

}  // namespace headroom
