// What the measured work reads and writes: a few large buffers that all of it shares.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace headroom::engine {

// Contract: views are dense, aligned to 256 bytes, and taken one after the other; begin() starts over, so
// that the next piece of work gets the same memory. Views of different kinds never overlap. Values are drawn
// from a normal distribution: with zeros a GPU runs faster, since it takes less power.
class Operands {
public:
    // `type`: of values (bf16 on a GPU, fp32 on a CPU). Bytes of each kind. Throws c10::Error where the
    // device has too little memory.
    struct Sizes {
        int64_t drawn = 0, out = 0, kept = 0, sums = 0, workspace = 0;
    };
    Operands(const at::Device& device, at::ScalarType type, const Sizes& sizes);

    void begin();
    // Never written.
    at::Tensor drawn(at::IntArrayRef sizes);
    // Overwritten by whatever runs.
    at::Tensor out(at::IntArrayRef sizes) { return out(sizes, type_); }
    at::Tensor out(at::IntArrayRef sizes, at::ScalarType type);
    // Changed in place; refresh() draws them anew.
    at::Tensor kept(at::IntArrayRef sizes);
    // fp32, finite: added to.
    at::Tensor sums(at::IntArrayRef sizes);
    at::Tensor workspace(int64_t bytes) const;
    void refresh();

    at::TensorOptions options() const;
    at::ScalarType type() const { return type_; }

private:
    struct Pool {
        at::Tensor bytes;
        int64_t next = 0;
    };
    static at::Tensor take(Pool& pool, at::IntArrayRef sizes, at::ScalarType type);

    at::Device device_;
    at::ScalarType type_;
    Pool drawn_, out_, kept_, sums_;
    at::Tensor workspace_;
};

}  // namespace headroom::engine
