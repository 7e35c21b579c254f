#include "decoder/optimizer.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>

#include "decoder/on_gpu.h"
#include "kernels/optimizer_math.h"

namespace headroom::engine {
namespace {

using namespace kernels;

constexpr int64_t kGrain = 64;  // blocks of one thread at least

Format format_of(const at::Tensor& t) {
    if (!t.defined()) return Format::none;
    switch (t.scalar_type()) {
        case at::kDouble:
            return Format::fp64;
        case at::kFloat:
            return Format::fp32;
        case at::kBFloat16:
            return Format::bf16;
        case at::kByte:
            return Format::int8;
        default:
            TORCH_CHECK(false, "the optimizer has no format ", t.scalar_type());
    }
}

float* floats(const at::Tensor& t) {
    return t.defined() ? t.data_ptr<float>() : nullptr;
}
void* data(const at::Tensor& t) {
    return t.defined() ? t.data_ptr() : nullptr;
}

// The twin of the kernel: parameters [begin, end) of one block.
template <class T>
void update_block(const OptimizerBuffers& b, const Factors<T>& f, uint64_t seed, int64_t begin, int64_t end) {
    const bool adam = b.moment != Format::none, codes = b.moment == Format::int8;
    auto* const first_codes = static_cast<uint8_t*>(b.first);
    auto* const second_codes = static_cast<uint8_t*>(b.second);
    const int64_t block = begin / kStateBlock;
    std::array<float, kStateBlock> ms, vs;
    float m_most = 0, v_most = 0;
    for (int64_t i = begin; i < end; ++i) {
        const Noise noise = noise_of(seed, i);
        T m = 0, v = 0;
        if (codes) {
            m = static_cast<T>(first_value(first_codes[i], b.first_scales[block]));
            v = static_cast<T>(second_value(second_codes[i], b.second_scales[block]));
        } else if (adam) {
            m = load<T>(b.first, b.moment, i);
            v = load<T>(b.second, b.moment, i);
        }
        update_one(b, f, adam, i, noise, m, v);
        if (codes) {
            const auto at = static_cast<size_t>(i - begin);
            ms[at] = static_cast<float>(m);
            vs[at] = static_cast<float>(v);
            m_most = std::fmax(m_most, std::fabs(ms[at]));
            v_most = std::fmax(v_most, vs[at]);
        } else if (adam) {
            store(b.first, b.moment, i, m, noise.first);
            store(b.second, b.moment, i, v, noise.second);
        }
    }
    if (!codes) return;
    b.first_scales[block] = first_scale(m_most);
    b.second_scales[block] = second_scale(v_most);
    for (int64_t i = begin; i < end; ++i) {
        const Noise noise = noise_of(seed, i);
        const auto at = static_cast<size_t>(i - begin);
        first_codes[i] = first_code(ms[at], b.first_scales[block], noise.first);
        second_codes[i] = second_code(vs[at], b.second_scales[block], noise.second);
    }
}

template <class T>
void update_on_cpu(const OptimizerBuffers& b, int64_t count, const OptimizerStep& step) {
    const Factors<T> f(step);
    at::parallel_for(0, ceil_div(count, kStateBlock), kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t block = begin; block < end; ++block)
            update_block(b, f, step.seed, block * kStateBlock, std::min(count, (block + 1) * kStateBlock));
    });
}

}  // namespace

OptimizerState optimizer_state_in(const Recipe& recipe, int64_t count, const at::Tensor& bytes) {
    OptimizerState state;
    int64_t offset = 0;
    const auto next = [&](int64_t elements, at::ScalarType type) {
        const int64_t size = elements * static_cast<int64_t>(c10::elementSize(type));
        TORCH_CHECK(offset + size <= bytes.numel(), "the buffer of optimizer states has ", bytes.numel(),
                    " bytes, not ", offset + size);
        at::Tensor view = at::from_blob(static_cast<uint8_t*>(bytes.data_ptr()) + offset, {elements},
                                        bytes.options().dtype(type));
        offset += size;
        return view;
    };
    if (recipe.optimizer == Optimizer::none) return state;
    if (recipe.master_weights) state.master = next(count, at::kFloat);
    if (recipe.optimizer == Optimizer::adamw8bit) {
        state.first_scales = next(ceil_div(count, kStateBlock), at::kFloat);
        state.second_scales = next(ceil_div(count, kStateBlock), at::kFloat);
        state.first = next(count, at::kByte);
        state.second = next(count, at::kByte);
    }
    if (recipe.optimizer == Optimizer::adamw) {
        const at::ScalarType type = recipe.states == Dtype::bf16   ? at::kBFloat16
                                    : recipe.states == Dtype::fp64 ? at::kDouble
                                                                   : at::kFloat;
        state.first = next(count, type);
        state.second = next(count, type);
    }
    return state;
}

OptimizerState piece_of(const OptimizerState& state, int64_t first, int64_t count) {
    const auto part = [](const at::Tensor& t, int64_t from, int64_t size) {
        return t.defined() ? t.narrow(0, from, size) : t;
    };
    const int64_t block = first / kStateBlock, blocks = ceil_div(count, kStateBlock);
    return {part(state.master, first, count), part(state.first_scales, block, blocks),
            part(state.second_scales, block, blocks), part(state.first, first, count),
            part(state.second, first, count)};
}

void optimizer_update(const at::Tensor& weights, const at::Tensor& gradients, const OptimizerState& state,
                      int64_t first, const OptimizerStep& step) {
    const int64_t count = weights.numel();
    TORCH_CHECK(first % kStateBlock == 0, "an update begins at parameter ", first, ", inside a block of ",
                kStateBlock);
    TORCH_CHECK(gradients.numel() == count, gradients.numel(), " gradients of ", count, " parameters");
    OptimizerStep own = step;
    own.seed = seed_from(step.seed, first);
    OptimizerBuffers b;
    b.weights = weights.data_ptr();
    b.gradients = gradients.data_ptr();
    b.master = floats(state.master);
    b.first = data(state.first);
    b.second = data(state.second);
    b.first_scales = floats(state.first_scales);
    b.second_scales = floats(state.second_scales);
    b.weight = format_of(weights);
    b.gradient = format_of(gradients);
    b.moment = format_of(state.first);
    const bool wide = b.weight == Format::fp64;
    if (weights.is_cuda()) {
        TORCH_CHECK(!wide && b.gradient != Format::fp64 && b.moment != Format::fp64,
                    "the optimizer computes in fp32 on a GPU");
        kernels::optimizer_update(b, count, own, current_stream());
        return check_launch("optimizer");
    }
    if (wide) return update_on_cpu<double>(b, count, own);
    update_on_cpu<float>(b, count, own);
}

}  // namespace headroom::engine
