#include "kernels/packed_pages.h"

#include <cuda_fp8.h>

#include "kernels/reduce.cuh"
#include "kernels/wide.cuh"

namespace headroom::engine::kernels {
namespace {

constexpr int kThreads = 256;
constexpr float kLargest = 448;  // of e4m3

struct alignas(8) EightCodes {
    __nv_fp8_storage_t v[kWide];
};
struct alignas(16) SixteenCodes {
    __nv_fp8x2_storage_t v[8];
};

// A thread block: one head of one page.
__global__ void __launch_bounds__(kThreads) pack_head(const bf16* values, int64_t stride, fp8* codes,
                                                      float* scales, int64_t tokens, const PageShape s) {
    __shared__ float shared[32];
    const int64_t first = blockIdx.x * s.page, head = blockIdx.y, wide = s.dim / kWide,
                  count = (min(tokens, first + s.page) - first) * wide;
    const bf16* from = values + first * stride + head * s.dim;
    float most = 0;
    for (int64_t i = threadIdx.x; i < count; i += kThreads) {
        const Eight e = load(from + i / wide * stride + i % wide * kWide);
        for (int k = 0; k < kWide; ++k) most = fmaxf(most, fabsf(__bfloat162float(e.v[k])));
    }
    most = over_block<Max>(most, shared);
    const float scale = most > 0 ? __fdiv_rn(most, kLargest) : 1.0f;
    if (threadIdx.x == 0) scales[blockIdx.x * s.heads + head] = scale;
    fp8* to = codes + (first * s.heads + head) * s.dim;
    for (int64_t i = threadIdx.x; i < count; i += kThreads) {
        const Eight e = load(from + i / wide * stride + i % wide * kWide);
        EightCodes c;
        for (int k = 0; k < kWide; ++k) {
            c.v[k] =
                __nv_cvt_float_to_fp8(__fdiv_rn(__bfloat162float(e.v[k]), scale), __NV_SATFINITE, __NV_E4M3);
        }
        *reinterpret_cast<EightCodes*>(to + i / wide * s.heads * s.dim + i % wide * kWide) = c;
    }
}

struct InOrder {
    const fp8* codes;
    const float* scales;
    bf16* values;
    PageShape shape;
    __device__ const fp8* from(int64_t i) const { return codes + i * shape.page * shape.heads * shape.dim; }
    __device__ const float* scale(int64_t i) const { return scales + i * shape.heads; }
    __device__ bf16* to(int64_t i) const { return values + i * shape.page * shape.heads * shape.dim; }
};
struct ByAddress {
    const int64_t *codes, *scales, *values;
    PageShape shape;
    __device__ const fp8* from(int64_t i) const { return reinterpret_cast<const fp8*>(codes[i]); }
    __device__ const float* scale(int64_t i) const { return reinterpret_cast<const float*>(scales[i]); }
    __device__ bf16* to(int64_t i) const { return reinterpret_cast<bf16*>(values[i]); }
};

// A row of the grid: one page; a thread: 16 values at a time, all of one head.
template <class Pages>
__global__ void __launch_bounds__(kThreads) unpack(const Pages p) {
    const PageShape& s = p.shape;
    const int64_t page = blockIdx.y, sixteens = s.page * s.heads * s.dim / 16;
    const fp8* from = p.from(page);
    const float* scales = p.scale(page);
    bf16* to = p.to(page);
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < sixteens;
         i += static_cast<int64_t>(gridDim.x) * kThreads) {
        const SixteenCodes c = reinterpret_cast<const SixteenCodes*>(from)[i];
        const float scale = scales[i * 16 / s.dim % s.heads];
        Eight half[2];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2(c.v[k], __NV_E4M3);
            const float2 v = __half22float2(__half2(raw));
            half[k / 4].v[k % 4 * 2] = __float2bfloat16(v.x * scale);
            half[k / 4].v[k % 4 * 2 + 1] = __float2bfloat16(v.y * scale);
        }
        store(to + i * 16, half[0]);
        store(to + i * 16 + kWide, half[1]);
    }
}

template <class Pages>
void launch_unpack(const Pages& p, int64_t count, cudaStream_t stream) {
    if (count == 0) return;
    constexpr int64_t kMostBlocks = 16;  // of a page
    const int64_t sixteens = p.shape.page * p.shape.heads * p.shape.dim / 16,
                  blocks = (sixteens + kThreads - 1) / kThreads;
    const dim3 grid(static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks),
                    static_cast<unsigned>(count));
    unpack<<<grid, kThreads, 0, stream>>>(p);
}

}  // namespace

void pack_pages(const bf16* values, int64_t stride, fp8* codes, float* scales, int64_t tokens,
                const PageShape& shape, cudaStream_t stream) {
    if (tokens == 0) return;
    const dim3 grid(static_cast<unsigned>((tokens + shape.page - 1) / shape.page),
                    static_cast<unsigned>(shape.heads));
    pack_head<<<grid, kThreads, 0, stream>>>(values, stride, codes, scales, tokens, shape);
}

void unpack_pages(const fp8* codes, const float* scales, bf16* values, int64_t count, const PageShape& shape,
                  cudaStream_t stream) {
    launch_unpack(InOrder{codes, scales, values, shape}, count, stream);
}

void unpack_pages_by_address(const int64_t* codes, const int64_t* scales, const int64_t* values,
                             int64_t count, const PageShape& shape, cudaStream_t stream) {
    launch_unpack(ByAddress{codes, scales, values, shape}, count, stream);
}

}  // namespace headroom::engine::kernels
