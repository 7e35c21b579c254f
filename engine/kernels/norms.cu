#include "kernels/norms.h"

#include "kernels/reduce.cuh"
#include "kernels/reductions.h"
#include "kernels/wide.cuh"

namespace headroom::engine::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kShortDim = 256;  // rows up to this long share a warp

// A tensor of rows, and where one begins.
template <class Value>
struct At {
    Value* first;
    int64_t stride;
    __device__ Value* operator()(int64_t row, const NormRows& r) const {
        return first + row / r.heads * stride + row % r.heads * r.dim;
    }
};
struct Operands {
    At<const bf16> x, d_out;
    At<bf16> dx;  // or the output
    const bf16* weight;
    NormRows rows;
    NormRule rule;
    bool add;
    float* partial;  // [parts, dim] sums of the weight's gradient; null: not wanted
};

__device__ float at(const Eight& e, int i) {
    return __bfloat162float(e.v[i]);
}

// Eight values through the norm, added to those at `old` unless that is null.
__device__ Eight normed(const Eight& x, const Eight& w, float inverse, float offset, const bf16* old) {
    Eight r = {};
    if (old != nullptr) r = load(old);
    for (int i = 0; i < kWide; ++i) {
        const float value = at(x, i) * inverse * (at(w, i) + offset);
        r.v[i] = __float2bfloat16(old != nullptr ? at(r, i) + value : value);
    }
    return r;
}

// ------------------------------------------------------------- long rows: a thread block for each at a time

__global__ void norm_long(const Operands o) {
    __shared__ float shared[32];
    const bf16* row = o.x(blockIdx.x, o.rows);
    bf16* out = o.dx(blockIdx.x, o.rows);
    float sum = 0;
    for (int64_t c = threadIdx.x * kWide; c < o.rows.dim; c += kThreads * kWide) {
        const Eight e = load(row + c);
        for (int i = 0; i < kWide; ++i) sum += at(e, i) * at(e, i);
    }
    const float mean = over_block<Sum>(sum, shared) / static_cast<float>(o.rows.dim);
    const float inverse = rsqrtf(mean + o.rule.epsilon);
    for (int64_t c = threadIdx.x * kWide; c < o.rows.dim; c += kThreads * kWide) {
        const Eight e = load(row + c), w = load(o.weight + c);
        store(out + c, normed(e, w, inverse, o.rule.offset, o.add ? out + c : nullptr));
    }
}

// Eight gradients: those through the norm, and the weight's, added to `sums`. `mean`: of d * weight * unit.
__device__ Eight backward(const Eight& x, const Eight& w, const Eight& d, float inverse, float mean,
                          float offset, const bf16* old, float* sums) {
    Eight r = {};
    if (old != nullptr) r = load(old);
    for (int i = 0; i < kWide; ++i) {
        const float unit = at(x, i) * inverse;
        const float through = inverse * (at(d, i) * (at(w, i) + offset) - unit * mean);
        r.v[i] = __float2bfloat16(old != nullptr ? at(r, i) + through : through);
        sums[i] += at(d, i) * unit;
    }
    return r;
}

__device__ void write_sums(float* to, const float* sums) {
    for (int i = 0; i < kWide; ++i) to[i] = sums[i];
}

// One part of the rows; each thread has kVectors x 8 columns, of which it keeps the weight's gradient.
template <int kVectors>
__global__ void __launch_bounds__(1024) norm_backward_long(const Operands o, int64_t rows_of_part) {
    __shared__ float shared[32];
    const int64_t all = o.rows.tokens * o.rows.heads, first = blockIdx.x * rows_of_part,
                  last = min(all, first + rows_of_part), dim = o.rows.dim;
    const auto column = [&](int v) { return static_cast<int64_t>(v * blockDim.x + threadIdx.x) * kWide; };
    float sums[kVectors][kWide] = {};
    for (int64_t row = first; row < last; ++row) {
        const bf16 *in = o.x(row, o.rows), *gradient = o.d_out(row, o.rows);
        bf16* out = o.dx(row, o.rows);
        Eight x[kVectors] = {}, d[kVectors] = {};
        float squares = 0, product = 0;
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
            if (column(v) >= dim) continue;
            x[v] = load(in + column(v));
            d[v] = load(gradient + column(v));
            const Eight w = load(o.weight + column(v));
            for (int i = 0; i < kWide; ++i) {
                squares += at(x[v], i) * at(x[v], i);
                product += at(x[v], i) * (at(w, i) + o.rule.offset) * at(d[v], i);
            }
        }
        const float n = static_cast<float>(dim);
        const float inverse = rsqrtf(over_block<Sum>(squares, shared) / n + o.rule.epsilon);
        const float mean = over_block<Sum>(product, shared) * inverse / n;
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
            if (column(v) >= dim) continue;
            const Eight w = load(o.weight + column(v));
            bf16* to = out + column(v);
            store(to, backward(x[v], w, d[v], inverse, mean, o.rule.offset, o.add ? to : nullptr, sums[v]));
        }
    }
    if (o.partial == nullptr) return;
    for (int v = 0; v < kVectors; ++v)
        if (column(v) < dim) write_sums(o.partial + blockIdx.x * dim + column(v), sums[v]);
}

// -------------------------------------------------------------------- short rows: `lanes` threads for each

__device__ float over_lanes(float v, int lanes) {
    for (int step = lanes / 2; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

__global__ void norm_short(const Operands o, int lanes) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * (kThreads / lanes) + threadIdx.x / lanes;
    const int64_t c = static_cast<int64_t>(threadIdx.x % lanes) * kWide;
    const bool mine = row < o.rows.tokens * o.rows.heads && c < o.rows.dim;
    Eight e = {};
    if (mine) e = load(o.x(row, o.rows) + c);
    float sum = 0;
    for (int i = 0; i < kWide; ++i) sum += at(e, i) * at(e, i);
    const float inverse = rsqrtf(over_lanes(sum, lanes) / static_cast<float>(o.rows.dim) + o.rule.epsilon);
    if (!mine) return;
    const Eight w = load(o.weight + c);
    bf16* to = o.dx(row, o.rows) + c;
    store(to, normed(e, w, inverse, o.rule.offset, o.add ? to : nullptr));
}

__global__ void norm_backward_short(const Operands o, int64_t rows_of_part, int lanes) {
    __shared__ float shared[kThreads][kWide + 1];
    const int64_t all = o.rows.tokens * o.rows.heads, first = blockIdx.x * rows_of_part,
                  last = min(all, first + rows_of_part), dim = o.rows.dim;
    const int at_once = kThreads / lanes, lane = static_cast<int>(threadIdx.x) % lanes;
    const int64_t c = static_cast<int64_t>(lane) * kWide;
    const float n = static_cast<float>(dim);
    Eight w = {};
    if (c < dim) w = load(o.weight + c);
    float sums[kWide] = {};
    for (int64_t base = first; base < last; base += at_once) {
        const int64_t row = base + threadIdx.x / lanes;
        const bool mine = row < last && c < dim;
        Eight x = {}, d = {};
        if (mine) {
            x = load(o.x(row, o.rows) + c);
            d = load(o.d_out(row, o.rows) + c);
        }
        float squares = 0, product = 0;
        for (int i = 0; i < kWide; ++i) {
            squares += at(x, i) * at(x, i);
            product += at(x, i) * (at(w, i) + o.rule.offset) * at(d, i);
        }
        const float inverse = rsqrtf(over_lanes(squares, lanes) / n + o.rule.epsilon);
        const float mean = over_lanes(product, lanes) * inverse / n;
        if (!mine) continue;
        bf16* to = o.dx(row, o.rows) + c;
        store(to, backward(x, w, d, inverse, mean, o.rule.offset, o.add ? to : nullptr, sums));
    }
    if (o.partial == nullptr) return;
    write_sums(shared[threadIdx.x], sums);
    __syncthreads();
    if (static_cast<int>(threadIdx.x) >= lanes || c >= dim) return;
    for (int r = 1; r < at_once; ++r)
        for (int i = 0; i < kWide; ++i) sums[i] += shared[r * lanes + lane][i];
    write_sums(o.partial + blockIdx.x * dim + c, sums);
}

// Threads of a short row: a power of two, so that they meet in shuffles.
int lanes_for(int64_t dim) {
    int lanes = 1;
    while (lanes * kWide < dim) lanes *= 2;
    return lanes;
}
unsigned grid_of(int64_t n) {
    return static_cast<unsigned>(n);
}

}  // namespace

void rms_norm(const bf16* x, int64_t x_stride, const bf16* weight, bf16* out, int64_t out_stride, bool add,
              const NormRows& rows, const NormRule& rule, cudaStream_t stream) {
    const Operands o{{x, x_stride}, {}, {out, out_stride}, weight, rows, rule, add, nullptr};
    const int64_t all = rows.tokens * rows.heads;
    if (all == 0) return;
    if (rows.dim > kShortDim) {
        norm_long<<<grid_of(all), kThreads, 0, stream>>>(o);
        return;
    }
    const int lanes = lanes_for(rows.dim), at_once = kThreads / lanes;
    norm_short<<<grid_of((all + at_once - 1) / at_once), kThreads, 0, stream>>>(o, lanes);
}

template <class Value>
void rms_norm_backward(const bf16* x, int64_t x_stride, const bf16* weight, const bf16* d_out,
                       int64_t d_out_stride, bf16* dx, int64_t dx_stride, bool add, Value* d_weight,
                       float* scratch, const NormRows& rows, const NormRule& rule, cudaStream_t stream) {
    const Operands o{{x, x_stride},
                     {d_out, d_out_stride},
                     {dx, dx_stride},
                     weight,
                     rows,
                     rule,
                     add,
                     d_weight == nullptr ? nullptr : scratch};
    const int64_t all = rows.tokens * rows.heads;
    if (all == 0) return;
    const int64_t of_part = rows_of_part(all), parts = parts_of(all);
    if (rows.dim > kShortDim) {
        constexpr int64_t kMostThreads = 1024;
        const int64_t wide = rows.dim / kWide;
        const auto threads = [&](int64_t vectors) {
            return static_cast<unsigned>((wide + 32 * vectors - 1) / (32 * vectors) * 32);
        };
        if (wide <= kMostThreads) {
            norm_backward_long<1><<<grid_of(parts), threads(1), 0, stream>>>(o, of_part);
        } else {
            norm_backward_long<2><<<grid_of(parts), threads(2), 0, stream>>>(o, of_part);
        }
    } else {
        norm_backward_short<<<grid_of(parts), kThreads, 0, stream>>>(o, of_part, lanes_for(rows.dim));
    }
    if (d_weight != nullptr) add_parts(scratch, d_weight, parts, rows.dim, stream);
}
template void rms_norm_backward<float>(const bf16*, int64_t, const bf16*, const bf16*, int64_t, bf16*,
                                       int64_t, bool, float*, float*, const NormRows&, const NormRule&,
                                       cudaStream_t);
template void rms_norm_backward<bf16>(const bf16*, int64_t, const bf16*, const bf16*, int64_t, bf16*, int64_t,
                                      bool, bf16*, float*, const NormRows&, const NormRule&, cudaStream_t);

}  // namespace headroom::engine::kernels
