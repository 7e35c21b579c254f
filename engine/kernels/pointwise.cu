#include "kernels/pointwise.h"

#include "kernels/reduce.cuh"
#include "kernels/wide.cuh"

namespace headroom::engine::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kMergeLanes = 16;  // threads of one row

// The gate's activation, and its derivative. Sources: SiLU, Elfwing et al., arXiv 1702.03118; the tanh form
// of GELU, Hendrycks, Gimpel, arXiv 1606.08415.
template <bool gelu>
__device__ float2 gate_of(float g) {
    if (!gelu) {
        const float s = 1.0f / (1.0f + __expf(-g));
        return {g * s, s * (1.0f + g * (1.0f - s))};
    }
    constexpr float kA = 0.7978845608028654f, kB = 0.044715f;  // sqrt(2 / pi)
    const float t = tanhf(kA * (g + kB * g * g * g));
    return {0.5f * g * (1.0f + t),
            0.5f * (1.0f + t) + 0.5f * g * (1.0f - t * t) * kA * (1.0f + 3.0f * kB * g * g)};
}

template <bool gelu>
__global__ void swiglu_values(const bf16* gate_up, bf16* act, int64_t inner) {
    const int64_t c = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kWide, row = blockIdx.y;
    if (c >= inner) return;
    const Eight gate = load(gate_up + row * 2 * inner + c), up = load(gate_up + (row * 2 + 1) * inner + c);
    Eight r;
    for (int i = 0; i < kWide; ++i) {
        const float2 gated = gate_of<gelu>(__bfloat162float(gate.v[i]));
        r.v[i] = __float2bfloat16(gated.x * __bfloat162float(up.v[i]));
    }
    store(act + row * inner + c, r);
}

template <bool gelu>
__global__ void swiglu_backward_values(bf16* gate_up, const bf16* d_act, int64_t inner) {
    const int64_t c = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kWide, row = blockIdx.y;
    if (c >= inner) return;
    bf16* gates = gate_up + row * 2 * inner + c;
    bf16* ups = gate_up + (row * 2 + 1) * inner + c;
    Eight gate = load(gates), up = load(ups);
    const Eight d = load(d_act + row * inner + c);
    for (int i = 0; i < kWide; ++i) {
        const float u = __bfloat162float(up.v[i]), o = __bfloat162float(d.v[i]);
        const float2 gated = gate_of<gelu>(__bfloat162float(gate.v[i]));
        gate.v[i] = __float2bfloat16(o * u * gated.y);
        up.v[i] = __float2bfloat16(o * gated.x);
    }
    store(gates, gate);
    store(ups, up);
}

__global__ void rope_table_values(const Frequencies frequencies, int64_t first, int64_t tokens, int64_t half,
                                  float* cosines, float* sines) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= tokens * half) return;
    double s, c;
    sincos(static_cast<double>(first + i / half) * frequencies.f[i % half], &s, &c);
    cosines[i] = static_cast<float>(c);
    sines[i] = static_cast<float>(s);
}

__global__ void rope_values(bf16* x, const float* cos, const float* sin, int64_t heads, int64_t half,
                            int64_t stride, float sign) {
    const int64_t token = blockIdx.x;
    for (int64_t i = threadIdx.x; i < heads * half; i += blockDim.x) {
        const int64_t head = i / half, pair = i % half;
        bf16* p = x + token * stride + head * 2 * half + pair;
        auto* a = reinterpret_cast<__nv_bfloat16*>(p);
        auto* b = reinterpret_cast<__nv_bfloat16*>(p + half);
        const float c = cos[token * half + pair], s = sign * sin[token * half + pair];
        const float u = __bfloat162float(*a), v = __bfloat162float(*b);
        *a = __float2bfloat16(u * c - v * s);
        *b = __float2bfloat16(v * c + u * s);
    }
}

// The same, eight pairs a thread.
__global__ void rope_eights(bf16* x, const float* cos, const float* sin, int64_t heads, int64_t half,
                            int64_t stride, float sign) {
    const int64_t token = blockIdx.x, wide = half / kWide;
    for (int64_t i = threadIdx.x; i < heads * wide; i += blockDim.x) {
        const int64_t pair = i % wide * kWide;
        bf16* p = x + token * stride + i / wide * 2 * half + pair;
        const float4* c = reinterpret_cast<const float4*>(cos + token * half + pair);
        const float4* s = reinterpret_cast<const float4*>(sin + token * half + pair);
        Eight a = load(p), b = load(p + half);
#pragma unroll
        for (int k = 0; k < kWide / 4; ++k) {
            const float4 c4 = c[k], s4 = s[k];
            const float cosines[4] = {c4.x, c4.y, c4.z, c4.w}, sines[4] = {s4.x, s4.y, s4.z, s4.w};
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const float u = __bfloat162float(a.v[4 * k + j]), v = __bfloat162float(b.v[4 * k + j]);
                a.v[4 * k + j] = __float2bfloat16(u * cosines[j] - v * sign * sines[j]);
                b.v[4 * k + j] = __float2bfloat16(v * cosines[j] + u * sign * sines[j]);
            }
        }
        store(p, a);
        store(p + half, b);
    }
}

// Half a warp for one token and head, eight values a lane.
__global__ void merge_values(bf16* out, float* lse, const bf16* part, const float* part_lse, int64_t rows,
                             SumsLayout sums, int64_t dim) {
    const int64_t row = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kMergeLanes;
    const int lane = static_cast<int>(threadIdx.x) % kMergeLanes;
    if (row >= rows) return;
    const int64_t at = row / sums.heads * sums.token + row % sums.heads * sums.head;
    const float a = lse[at], b = part_lse[at], most = fmaxf(a, b);
    const float base = isinf(most) ? 0.0f : most;
    const float wa = __expf(a - base), wb = __expf(b - base), sum = wa + wb;
    const float scale = sum > 0 ? 1.0f / sum : 0.0f;
    for (int64_t c = lane * kWide; c < dim; c += kMergeLanes * kWide) {
        Eight mine = load(out + row * dim + c);
        const Eight theirs = load(part + row * dim + c);
        for (int i = 0; i < kWide; ++i) {
            mine.v[i] = __float2bfloat16(
                (wa * __bfloat162float(mine.v[i]) + wb * __bfloat162float(theirs.v[i])) * scale);
        }
        store(out + row * dim + c, mine);
    }
    __syncwarp(__activemask());  // all lanes have read the old log-sum-exp
    if (lane == 0) lse[at] = base + __logf(sum);
}

__global__ void cross_entropy_rows(bf16* logits, const int64_t* targets, float* losses, int64_t columns,
                                   float scale) {
    __shared__ float shared[32];
    bf16* row = logits + blockIdx.x * columns;
    const int64_t target = targets[blockIdx.x];
    float most = -INFINITY, sum = 0;  // online: sum of exp(v - most)
    for (int64_t c = threadIdx.x * kWide; c < columns; c += blockDim.x * kWide) {
        const Eight e = load(row + c);
        float top = most;
        for (int i = 0; i < kWide; ++i) top = fmaxf(top, __bfloat162float(e.v[i]));
        sum *= __expf(most - top);
        for (int i = 0; i < kWide; ++i) sum += __expf(__bfloat162float(e.v[i]) - top);
        most = top;
    }
    const float top = over_block<Max>(most, shared);
    const float all = over_block<Sum>(isinf(most) ? 0.0f : sum * __expf(most - top), shared);
    const float lse = top + logf(all);
    if (threadIdx.x == 0) {
        losses[blockIdx.x] =
            target < 0 ? 0.0f : lse - __bfloat162float(*reinterpret_cast<const __nv_bfloat16*>(row + target));
    }
    __syncthreads();
    const float factor = target < 0 ? 0.0f : scale;
    for (int64_t c = threadIdx.x * kWide; c < columns; c += blockDim.x * kWide) {
        Eight e = load(row + c);
        for (int i = 0; i < kWide; ++i) {
            const float p = __expf(__bfloat162float(e.v[i]) - lse) - (c + i == target ? 1.0f : 0.0f);
            e.v[i] = __float2bfloat16(p * factor);
        }
        store(row + c, e);
    }
}

unsigned blocks_for(int64_t values) {
    return static_cast<unsigned>((values + kThreads - 1) / kThreads);
}

}  // namespace

void swiglu(const bf16* gate_up, bf16* act, int64_t rows, int64_t inner, cudaStream_t stream, bool gelu) {
    const dim3 grid(blocks_for(inner / kWide), static_cast<unsigned>(rows));
    (gelu ? swiglu_values<true> : swiglu_values<false>)<<<grid, kThreads, 0, stream>>>(gate_up, act, inner);
}

void swiglu_backward(bf16* gate_up, const bf16* d_act, int64_t rows, int64_t inner, cudaStream_t stream,
                     bool gelu) {
    const dim3 grid(blocks_for(inner / kWide), static_cast<unsigned>(rows));
    (gelu ? swiglu_backward_values<true> : swiglu_backward_values<false>)<<<grid, kThreads, 0, stream>>>(
        gate_up, d_act, inner);
}

void rope_table(const Frequencies& frequencies, int64_t first, int64_t tokens, int64_t half, float* cos,
                float* sin, cudaStream_t stream) {
    if (tokens == 0) return;
    rope_table_values<<<blocks_for(tokens * half), kThreads, 0, stream>>>(frequencies, first, tokens, half,
                                                                          cos, sin);
}

void rope(bf16* x, const float* cos, const float* sin, int64_t tokens, int64_t heads, int64_t dim,
          int64_t stride, bool inverse, cudaStream_t stream) {
    const float sign = inverse ? -1.0f : 1.0f;
    const auto address = reinterpret_cast<uintptr_t>(x);
    if (dim % (2 * kWide) == 0 && stride % kWide == 0 && address % 16 == 0) {
        rope_eights<<<static_cast<unsigned>(tokens), kThreads, 0, stream>>>(x, cos, sin, heads, dim / 2,
                                                                            stride, sign);
    } else {
        rope_values<<<static_cast<unsigned>(tokens), kThreads, 0, stream>>>(x, cos, sin, heads, dim / 2,
                                                                            stride, sign);
    }
}

void merge(bf16* out, float* lse, const bf16* part, const float* part_lse, int64_t tokens,
           const SumsLayout& sums, int64_t dim, cudaStream_t stream) {
    const int64_t rows = tokens * sums.heads;
    merge_values<<<blocks_for(rows * kMergeLanes), kThreads, 0, stream>>>(out, lse, part, part_lse, rows,
                                                                          sums, dim);
}

void cross_entropy(bf16* logits, const int64_t* targets, float* losses, int64_t rows, int64_t columns,
                   float scale, cudaStream_t stream) {
    cross_entropy_rows<<<static_cast<unsigned>(rows), 1024, 0, stream>>>(logits, targets, losses, columns,
                                                                         scale);
}

}  // namespace headroom::engine::kernels
