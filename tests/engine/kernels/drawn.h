// Random values, how far two results are apart, and tests that need a GPU.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace headroom::engine::test {

inline at::Tensor drawn(at::IntArrayRef sizes, uint64_t seed, at::ScalarType type = at::kBFloat16) {
    at::Generator random = at::detail::createCPUGenerator(seed);
    return at::randn(sizes, random, type == at::kDouble ? at::kDouble : at::kFloat).to(type);
}
// |a - b| / |b| in the 2-norm.
inline double off(const at::Tensor& gpu, const at::Tensor& cpu) {
    const at::Tensor a = gpu.cpu().to(at::kDouble), b = cpu.cpu().to(at::kDouble);
    return ((a - b).norm() / b.norm()).item<double>();
}

struct Kernels : ::testing::Test {
    void SetUp() override {
        if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    }
};

}  // namespace headroom::engine::test
