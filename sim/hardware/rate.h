// The terms of a RateFit: what each constant is multiplied with. Fit and prediction use the same.
#pragma once

#include <algorithm>
#include <array>

#include "hardware/hardware.h"

namespace headroom {

inline constexpr std::array kRateTerms{&RateFit::per_flop,  &RateFit::by_m,    &RateFit::by_n,
                                       &RateFit::by_k,      &RateFit::latency, &RateFit::per_pair,
                                       &RateFit::pair_by_n, &RateFit::per_key, &RateFit::per_key_and_dim};
inline constexpr size_t kTerms = kRateTerms.size();

// How much longer whole waves take than the work in them: attention forward has a tile for each 128 queries
// of a query head, backward for each 128 keys of a KV head, a multiprocessor takes one at a time, and the
// last wave takes as long as the others. 1 where the number of multiprocessors is not known, and for causal
// calls, whose tiles differ in length.
inline double waves(const Work& w, int32_t multiprocessors) {
    constexpr int64_t kTile = 128;
    if (multiprocessors < 1 || w.causal) return 1;
    const bool forward = w.kind == WorkKind::attention_forward;
    const int64_t rows = forward ? w.m : w.n, heads = forward ? w.heads : w.kv_heads;
    const int64_t tiles = w.blocks * heads * ((rows + kTile - 1) / kTile);
    const int64_t whole = (tiles + multiprocessors - 1) / multiprocessors * multiprocessors;
    return static_cast<double>(whole) * kTile /
           (static_cast<double>(w.blocks) * static_cast<double>(heads) * static_cast<double>(rows));
}

// The same of a GEMM, whose tiles the library chooses: the least of whole waves of 128 x 256 outputs, either
// way round, of 128 x 128 at 1.05 of the time, and 1.12, where it splits the depth or takes smaller tiles
// still. Chosen by the rows that are fitted; those held out confirm them (docs/cost-model.md). Weight
// gradients, whose rows do not: 1.
inline double gemm_waves(const Work& w, int32_t multiprocessors) {
    if (multiprocessors < 1 || w.kind != WorkKind::gemm || w.m < 1 || w.n < 1) return 1;
    constexpr double kSmallTile = 1.05, kMost = 1.12;
    const double outputs = static_cast<double>(w.m) * static_cast<double>(w.n);
    const auto of = [&](int64_t rows, int64_t columns) {
        const int64_t tiles = ((w.m + rows - 1) / rows) * ((w.n + columns - 1) / columns);
        const int64_t whole = (tiles + multiprocessors - 1) / multiprocessors * multiprocessors;
        return static_cast<double>(whole) * static_cast<double>(rows * columns) / outputs;
    };
    return std::min({of(128, 256), of(256, 128), kSmallTile * of(128, 128), kMost});
}

// How many times as many keys a query of a causal call sees as in the longest call that was measured; at
// least 1. A whole triangle of n keys shows n / 2 of them to a query.
inline double beyond_measured(const Work& w, double pairs, int64_t measured_keys) {
    if (!w.causal || measured_keys <= 0 || w.n <= measured_keys) return 1;
    const double calls = static_cast<double>(w.batch) * w.heads;
    return std::max(1.0, 2 * pairs / calls / static_cast<double>(w.m) / static_cast<double>(measured_keys));
}

// In the order of kRateTerms, of all calls together.
inline std::array<double, kTerms> rate_factors(const Work& w, int32_t multiprocessors,
                                               int64_t measured_keys = 0) {
    const double flops = static_cast<double>(w.flops), calls = w.batch;
    const auto over = [](double value, double size) { return size > 0 ? value / size : 0; };
    if (w.heads == 0)
        return {flops * gemm_waves(w, multiprocessors),
                over(flops, static_cast<double>(w.m)),
                over(flops, static_cast<double>(w.n)),
                over(flops, static_cast<double>(w.k)),
                calls,
                0,
                0,
                0,
                0};
    const double products = w.kind == WorkKind::attention_forward ? 4 : 10;
    const double pairs = flops / (products * w.head_dim), whole = waves(w, multiprocessors);
    const double beyond = beyond_measured(w, pairs, measured_keys), n = static_cast<double>(w.n) / beyond;
    const double keys = calls * static_cast<double>(w.n) * beyond;
    return {flops * whole,
            over(flops, static_cast<double>(w.m)),
            over(flops, n),
            0,
            calls,
            pairs * whole,
            over(pairs, n),
            keys,
            keys * w.head_dim};
}

}  // namespace headroom
