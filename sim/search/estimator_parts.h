// What the estimator keeps of candidates that share decisions. Only for the files of the estimator.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "search/estimator.h"

namespace headroom {

inline constexpr int64_t kFewChunks = 8;  // steps of up to this many chunks are lowered whole
inline constexpr size_t kCopies = 3;      // kinds of PageCopy

// Nanoseconds of the streams on one chunk in one pass.
struct Busy {
    double compute = 0, peer = 0, disk = 0;
    // Over the host link; pages by the way they are copied (PageCopy).
    std::array<double, kCopies> pages_in{}, gradients_in{}, pages_out{}, gradients_out{};
    double other_in = 0, other_out = 0;
};

// A chunk that stands for `weight` of its pass.
struct PricedChunk {
    Busy busy;
    double weight = 0;
};

// Bytes of one tier's page pools at one instant: this much, and so much for each layer whose K and V
// (gradient pages) are all on the device, or are not.
struct Estimator::PoolLine {
    double always = 0, where_any_device = 0, where_any_off = 0;  // the latter of K and V
    double kv_device = 0, kv_off = 0, gradients_device = 0, gradients_off = 0;
};
struct Estimator::Pools {
    std::array<std::vector<PoolLine>, kTiers> lines;  // of the instants that may be the peak
    int64_t most(size_t tier, int64_t kv_device, int64_t kv_off, int64_t gradients_device,
                 int64_t gradients_off) const;
};

// What lowering a group gives of its bytes.
struct Estimator::Sizes {
    int64_t scratch = 0;
    std::array<int64_t, kTiers> standing{};    // without parameters, gradients, states
    int64_t kv_slots = 0, gradient_slots = 0;  // of `standing`, on the device: all of two slots' ring
    int64_t kv_slot = 0, gradient_slot = 0, input_slots = 0;  // one slot more of each
    std::array<int64_t, kTiers> whole_need{};                 // one-chunk steps: everything, exactly
};

struct Estimator::Group : Estimator::Sizes {
    bool timed = false;  // else fill, gradient and whole_ns are not known
    int64_t output_bytes = 0, hidden_bytes = 0;
    int64_t kv_page = 0, gradient_page = 0;  // bytes
    std::vector<PricedChunk> fill, gradient;
    std::vector<int64_t> live_gradients;  // pages of one sparse layer at each chunk of the gradient pass
    int64_t sparse_layers = 0;
    std::vector<int64_t> window_pages;  // by dense layer: most gradient pages alive, K and V aside
    int64_t whole_ns = 0;
    std::optional<Pools> pools;  // once asked for
    // Pages loaded from the host in the fill pass and in the backward pass, by the pages that the cache
    // holds.
    std::map<int64_t, std::pair<double, double>> loads;
};

// What candidates with the same selections share.
struct Estimator::Selected {
    SelectionSet set;
    // Of one layer: gradient pages that exist at the peak of each chunk's backward pass (a page has one from
    // the last chunk that reads it down to its own). Empty where nothing is selected.
    std::vector<int64_t> live;  // [chunks]
    // ... by the chunk they belong to: [i][k] counts those of the chunks before k, at chunk n - 1 - i *
    // sample_stride(n).
    std::vector<std::vector<int64_t>> live_before;
};

// Pools of sparse layers are looked at every so many chunks of n.
inline int64_t sample_stride(int64_t n) {
    return std::max<int64_t>(1, n / 64);
}

struct Estimator::Homes {
    std::array<int64_t, kTiers> standing{};
    std::array<int64_t, kTiers> arena{};  // with a few buffers that are the same for all homes
    bool timed = false;                   // else setup_and_update_ns is not known
    int64_t setup_and_update_ns = 0;
    int64_t fill_in_ns = 0, gradient_in_ns = 0;         // weights, for each chunk
    int64_t gradients_in_ns = 0, gradients_out_ns = 0;  // weight gradients, for each chunk
};

inline bool by_chunks(const Plan& plan) {
    return plan.chunks() > 1;
}
inline bool residency_is_free(const Plan& plan) {
    return plan.decisions.strategy != "layer-major";
}

}  // namespace headroom
