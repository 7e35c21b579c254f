#include "kernels/reductions.h"

#include <algorithm>

#include "kernels/reduce.cuh"
#include "kernels/wide.cuh"

namespace headroom::engine::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kColumns = 32, kLanes = 16;  // of add_parts: a thread block's columns, and threads of each

__device__ void add_eight(const bf16* p, float* sum) {
    const Eight e = load(p);
    for (int i = 0; i < kWide; ++i) sum[i] += __bfloat162float(e.v[i]);
}

__device__ void add_to(float* to, float more) {
    *to += more;
}
__device__ void add_to(bf16* to, float more) {
    auto* value = reinterpret_cast<__nv_bfloat16*>(to);
    *value = __float2bfloat16(__bfloat162float(*value) + more);
}

// 16 bytes of values, their squares added up.
__device__ double squares_of(const float* p) {
    const float4 v = *reinterpret_cast<const float4*>(p);
    return (static_cast<double>(v.x) * v.x + static_cast<double>(v.y) * v.y) +
           (static_cast<double>(v.z) * v.z + static_cast<double>(v.w) * v.w);
}
__device__ double squares_of(const bf16* p) {
    const Eight e = load(p);
    double sum = 0;
    for (int i = 0; i < kWide; ++i) {
        const double v = __bfloat162float(e.v[i]);
        sum += v * v;
    }
    return sum;
}
__device__ double value_at(const float* p) {
    return *p;
}
__device__ double value_at(const bf16* p) {
    return __bfloat162float(*reinterpret_cast<const __nv_bfloat16*>(p));
}

__global__ void sum_part(const bf16* x, int64_t stride, float* partial, int64_t rows, int64_t rows_of_part,
                         int64_t columns) {
    const int64_t c = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kWide;
    if (c >= columns) return;
    const int64_t first = blockIdx.y * rows_of_part, last = min(rows, first + rows_of_part);
    float sum[kWide] = {};
#pragma unroll 4
    for (int64_t r = first; r < last; ++r) add_eight(x + r * stride + c, sum);
    for (int i = 0; i < kWide; ++i) partial[blockIdx.y * columns + c + i] = sum[i];
}

template <class Value>
__global__ void sum_parts(const float* partial, Value* sums, int64_t parts, int64_t columns) {
    __shared__ float lanes[kLanes][kColumns];
    const int64_t c = static_cast<int64_t>(blockIdx.x) * kColumns + threadIdx.x;
    float sum = 0;
    for (int64_t p = threadIdx.y; p < parts && c < columns; p += kLanes) sum += partial[p * columns + c];
    lanes[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || c >= columns) return;
    float all = 0;
    for (int lane = 0; lane < kLanes; ++lane) all += lanes[lane][threadIdx.x];
    add_to(sums + c, all);
}

// One thread block.
template <class Value>
__global__ void sum_values(const Value* values, int64_t count, double* sum) {
    __shared__ double shared[32];
    double mine = 0;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) mine += values[i];
    const double all = over_block<Sum>(mine, shared);
    if (threadIdx.x == 0) *sum += all;
}

template <class Value>
__global__ void square_parts(const Value* values, int64_t count, double* partial) {
    constexpr int64_t kLoad = 16 / sizeof(Value);
    __shared__ double shared[32];
    const int64_t wide = count / kLoad, step = static_cast<int64_t>(gridDim.x) * kThreads,
                  mine = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    double sum = 0;
#pragma unroll 4
    for (int64_t i = mine; i < wide; i += step) sum += squares_of(values + kLoad * i);
    for (int64_t i = kLoad * wide + mine; i < count; i += step) {
        const double v = value_at(values + i);
        sum += v * v;
    }
    const double all = over_block<Sum>(sum, shared);
    if (threadIdx.x == 0) partial[blockIdx.x] = all;
}

// In accesses of 16 bytes: where the table is on the host each of them is a packet on the link.
__device__ void add_eight_to(float* to, float scale, const float (&sum)[kWide]) {
    auto* const fours = reinterpret_cast<float4*>(to);
    float4 low = fours[0], high = fours[1];
    low.x += scale * sum[0], low.y += scale * sum[1], low.z += scale * sum[2], low.w += scale * sum[3];
    high.x += scale * sum[4], high.y += scale * sum[5], high.z += scale * sum[6], high.w += scale * sum[7];
    fours[0] = low;
    fours[1] = high;
}
__device__ void add_eight_to(bf16* to, float scale, const float (&sum)[kWide]) {
    Eight eight = load(to);
    for (int i = 0; i < kWide; ++i)
        eight.v[i] = __float2bfloat16(__bfloat162float(eight.v[i]) + scale * sum[i]);
    store(to, eight);
}

template <class Id, class Value>
__global__ void rows_by_id(const Id* ids, const bf16* rows, Value* table, int64_t tokens, int64_t columns,
                           float scale) {
    __shared__ uint32_t same[kThreads / 32];
    const int64_t first = blockIdx.x;
    const Id id = ids[first];
    bool earlier = false;
    for (int64_t t = threadIdx.x; t < first; t += kThreads) earlier = earlier || ids[t] == id;
    if (__syncthreads_or(earlier ? 1 : 0)) return;
    const int64_t c = (static_cast<int64_t>(blockIdx.y) * kThreads + threadIdx.x) * kWide;
    float sum[kWide] = {};
    for (int64_t base = first / kThreads * kThreads; base < tokens; base += kThreads) {
        const int64_t t = base + threadIdx.x;
        const uint32_t found = __ballot_sync(0xffffffffu, t >= first && t < tokens && ids[t] == id);
        if (threadIdx.x % 32 == 0) same[threadIdx.x / 32] = found;
        __syncthreads();
        for (int word = 0; word < kThreads / 32 && c < columns; ++word) {
            for (uint32_t left = same[word]; left != 0; left &= left - 1)
                add_eight(rows + (base + 32 * word + __ffs(static_cast<int>(left)) - 1) * columns + c, sum);
        }
        __syncthreads();
    }
    if (c >= columns) return;
    add_eight_to(table + id * columns + c, scale, sum);
}

unsigned grid_of(int64_t n, int64_t of) {
    return static_cast<unsigned>((n + of - 1) / of);
}

}  // namespace

template <class Value>
void column_sums(const bf16* x, int64_t stride, Value* sums, float* scratch, int64_t rows, int64_t columns,
                 cudaStream_t stream) {
    if (rows == 0) return;
    const dim3 grid(grid_of(columns, kThreads * kWide), static_cast<unsigned>(parts_of(rows)));
    sum_part<<<grid, kThreads, 0, stream>>>(x, stride, scratch, rows, rows_of_part(rows), columns);
    add_parts(scratch, sums, parts_of(rows), columns, stream);
}
template void column_sums<float>(const bf16*, int64_t, float*, float*, int64_t, int64_t, cudaStream_t);
template void column_sums<bf16>(const bf16*, int64_t, bf16*, float*, int64_t, int64_t, cudaStream_t);

template <class Value>
void add_parts(const float* partial, Value* sums, int64_t parts, int64_t columns, cudaStream_t stream) {
    sum_parts<<<grid_of(columns, kColumns), dim3(kColumns, kLanes), 0, stream>>>(partial, sums, parts,
                                                                                 columns);
}
template void add_parts<float>(const float*, float*, int64_t, int64_t, cudaStream_t);
template void add_parts<bf16>(const float*, bf16*, int64_t, int64_t, cudaStream_t);

void add_sum(const float* values, int64_t count, double* sum, cudaStream_t stream) {
    sum_values<<<1, 1024, 0, stream>>>(values, count, sum);
}

template <class Value>
void add_squares(const Value* values, int64_t count, double* sum, double* scratch, cudaStream_t stream) {
    square_parts<<<static_cast<unsigned>(kSquareParts), kThreads, 0, stream>>>(values, count, scratch);
    sum_values<<<1, 1024, 0, stream>>>(scratch, kSquareParts, sum);
}
template void add_squares<float>(const float*, int64_t, double*, double*, cudaStream_t);
template void add_squares<bf16>(const bf16*, int64_t, double*, double*, cudaStream_t);

template <class Id, class Value>
void add_rows(const Id* ids, const bf16* rows, Value* table, int64_t tokens, int64_t columns, float scale,
              cudaStream_t stream) {
    for (int64_t first = 0; first < tokens; first += kRowWindow) {
        const int64_t count = std::min(kRowWindow, tokens - first);
        const dim3 grid(static_cast<unsigned>(count), grid_of(columns, kThreads * kWide));
        rows_by_id<<<grid, kThreads, 0, stream>>>(ids + first, rows + first * columns, table, count, columns,
                                                  scale);
    }
}
template void add_rows(const int32_t*, const bf16*, float*, int64_t, int64_t, float, cudaStream_t);
template void add_rows(const int64_t*, const bf16*, float*, int64_t, int64_t, float, cudaStream_t);
template void add_rows(const int32_t*, const bf16*, bf16*, int64_t, int64_t, float, cudaStream_t);
template void add_rows(const int64_t*, const bf16*, bf16*, int64_t, int64_t, float, cudaStream_t);

}  // namespace headroom::engine::kernels
