// Times work on the GPU and says how near it comes to what bounds it.
#pragma once

#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <functional>

namespace headroom::engine::bench {

// What an H200 can do at most (models/hardware/h200-sxm-pcie5.toml), and its link (PCIe 5.0 x16: 32 GT/s, 16
// lanes, 128 of 130 bits).
struct Bound {
    double per_second;
    double unit;
    const char* name;
};
inline constexpr Bound kMemory{4.8e12, 1e12, "TB/s"}, kTensorCores{989.4e12, 1e12, "TFLOP/s"},
    kLink{63.0e9, 1e9, "GB/s"};

// `amount`: bytes or FLOPs of one call of `work`. Between calls the L2 cache is filled with something else.
// Label: the rate, and its share of the bound.
void measure(benchmark::State& state, const Bound& bound, double amount, const std::function<void()>& work);

// Random, on the GPU: the clock depends on what the bits are.
at::Tensor drawn(at::IntArrayRef sizes, at::ScalarType type = at::kBFloat16);

// Qwen2.5-7B, one chunk.
inline constexpr int64_t kTokens = 4096, kHidden = 3584, kHeads = 28, kGroups = 4, kDim = 128, kInner = 18944,
                         kVocabulary = 152064, kPage = 128;

}  // namespace headroom::engine::bench

// A benchmark of GPU work: some calls to warm up, then this many.
#define HEADROOM_GPU_BENCHMARK(name) \
    BENCHMARK(name)->UseManualTime()->Iterations(40)->Unit(benchmark::kMicrosecond)
