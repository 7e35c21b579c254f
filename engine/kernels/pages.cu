#include "kernels/pages.h"

#include <algorithm>

#include "kernels/wide.cuh"

namespace headroom::engine::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kLoads = 4;  // of 16 bytes, in flight in each thread
constexpr int64_t kSlice = kThreads * kLoads;
constexpr int kLanes = 8;  // of page_means: threads that share a column
constexpr int64_t kResidentBlocks = 8 * 132;

__global__ void __launch_bounds__(kThreads)
    copy_slices(const uint64_t* sources, const uint64_t* destinations, int64_t count, int64_t words) {
    const int64_t slices = (words + kSlice - 1) / kSlice;
    for (int64_t i = blockIdx.x; i < count * slices; i += gridDim.x) {
        const auto* from = reinterpret_cast<const uint4*>(sources[i / slices]);
        auto* to = reinterpret_cast<uint4*>(destinations[i / slices]);
        const int64_t at = i % slices * kSlice + threadIdx.x;
        uint4 held[kLoads];
#pragma unroll
        for (int k = 0; k < kLoads; ++k)
            if (at + k * kThreads < words) held[k] = from[at + k * kThreads];
#pragma unroll
        for (int k = 0; k < kLoads; ++k)
            if (at + k * kThreads < words) to[at + k * kThreads] = held[k];
    }
}

__global__ void __launch_bounds__(kThreads) copy_words(const uint4* from, uint4* to, int64_t words) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < words) to[i] = from[i];
}

// A thread block: 32 x 8 columns of one page.
__global__ void page_means_columns(const bf16* keys, bf16* out, int64_t tokens, int64_t columns,
                                   int64_t stride, int64_t page) {
    __shared__ float sums[kLanes][32][kWide + 1];
    const int64_t c = (static_cast<int64_t>(blockIdx.y) * 32 + threadIdx.x) * kWide;
    const int64_t first = blockIdx.x * page, last = min(tokens, first + page);
    float sum[kWide] = {};
    for (int64_t t = first + threadIdx.y; t < last && c < columns; t += kLanes) {
        const Eight e = load(keys + t * stride + c);
        for (int i = 0; i < kWide; ++i) sum[i] += __bfloat162float(e.v[i]);
    }
    for (int i = 0; i < kWide; ++i) sums[threadIdx.y][threadIdx.x][i] = sum[i];
    __syncthreads();
    if (threadIdx.y > 0 || c >= columns) return;
    Eight r;
    for (int i = 0; i < kWide; ++i) {
        float all = 0;
        for (int lane = 0; lane < kLanes; ++lane) all += sums[lane][threadIdx.x][i];
        r.v[i] = __float2bfloat16(all / static_cast<float>(last - first));
    }
    store(out + blockIdx.x * columns + c, r);
}

struct alignas(16) EightFloats {
    float v[kWide];
};
__device__ void add_page(const bf16* page, float* sum) {
    const Eight e = load(page);
    for (int i = 0; i < kWide; ++i) sum[i] += __bfloat162float(e.v[i]);
}
__device__ void add_page(const float* page, float* sum) {
    const EightFloats e = *reinterpret_cast<const EightFloats*>(page);
    for (int i = 0; i < kWide; ++i) sum[i] += e.v[i];
}
__device__ void write_page(bf16* page, const float* sum) {
    Eight e;
    for (int i = 0; i < kWide; ++i) e.v[i] = __float2bfloat16(sum[i]);
    store(page, e);
}
__device__ void write_page(float* page, const float* sum) {
    EightFloats e;
    for (int i = 0; i < kWide; ++i) e.v[i] = sum[i];
    *reinterpret_cast<EightFloats*>(page) = e;
}

template <class Page>
__global__ void sum_columns(const bf16* emissions, int64_t values, const PageSums sums) {
    const int64_t c = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kWide;
    if (c >= values) return;
    const int32_t end = sums.begin[blockIdx.y + 1];
    float sum[kWide] = {};
#pragma unroll 4
    for (int32_t i = sums.begin[blockIdx.y]; i < end; ++i)
        add_page(emissions + sums.entries[i] * values + c, sum);
    Page* page = reinterpret_cast<Page*>(sums.destinations[blockIdx.y]) + c;
    if (!sums.fresh[blockIdx.y]) add_page(page, sum);
    write_page(page, sum);
}

// A row of the grid: one page.
template <class Page>
__global__ void __launch_bounds__(kThreads)
    add_rows_of(const PageRows pages, int64_t columns, int64_t stride) {
    const int64_t wide = columns / kWide, all = pages.tokens[blockIdx.y] * wide;
    const Page* from = reinterpret_cast<const Page*>(pages.sources[blockIdx.y]);
    bf16* to = reinterpret_cast<bf16*>(pages.destinations[blockIdx.y]);
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < all;
         i += static_cast<int64_t>(gridDim.x) * kThreads) {
        float sum[kWide] = {};
        bf16* row = to + i / wide * stride + i % wide * kWide;
        add_page(row, sum);
        add_page(from + i * kWide, sum);
        write_page(row, sum);
    }
}

}  // namespace

template <class Page>
void add_page_rows(const PageRows& pages, int64_t columns, int64_t stride, cudaStream_t stream) {
    const int64_t most = pages.most_tokens * columns / kWide, blocks = (most + kThreads - 1) / kThreads;
    if (pages.count == 0 || most == 0) return;
    const dim3 grid(static_cast<unsigned>(std::min<int64_t>(blocks, 16)), static_cast<unsigned>(pages.count));
    add_rows_of<Page><<<grid, kThreads, 0, stream>>>(pages, columns, stride);
}
template void add_page_rows<bf16>(const PageRows&, int64_t, int64_t, cudaStream_t);
template void add_page_rows<float>(const PageRows&, int64_t, int64_t, cudaStream_t);

void copy_pages(const uint64_t* sources, const uint64_t* destinations, int64_t count, int64_t bytes,
                int64_t most_blocks, cudaStream_t stream) {
    const int64_t words = bytes / 16, slices = count * ((words + kSlice - 1) / kSlice);
    const int64_t blocks = std::min(slices, most_blocks > 0 ? most_blocks : kResidentBlocks);
    if (blocks == 0) return;
    copy_slices<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(sources, destinations, count, words);
}

void copy_list(const std::byte* from, std::byte* to, int64_t bytes, cudaStream_t stream) {
    const int64_t words = (bytes + 15) / 16;
    if (words == 0) return;
    copy_words<<<static_cast<unsigned>((words + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(to), words);
}

template <class Page>
void sum_pages(const bf16* emissions, int64_t values, const PageSums& sums, cudaStream_t stream) {
    if (sums.count == 0) return;
    const int64_t wide = values / kWide;
    const dim3 grid(static_cast<unsigned>((wide + kThreads - 1) / kThreads),
                    static_cast<unsigned>(sums.count));
    sum_columns<Page><<<grid, kThreads, 0, stream>>>(emissions, values, sums);
}
template void sum_pages<bf16>(const bf16*, int64_t, const PageSums&, cudaStream_t);
template void sum_pages<float>(const bf16*, int64_t, const PageSums&, cudaStream_t);

void page_means(const bf16* keys, bf16* out, int64_t tokens, int64_t columns, int64_t stride, int64_t page,
                cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>((tokens + page - 1) / page),
                    static_cast<unsigned>((columns + 32 * kWide - 1) / (32 * kWide)));
    page_means_columns<<<grid, dim3(32, kLanes), 0, stream>>>(keys, out, tokens, columns, stride, page);
}

}  // namespace headroom::engine::kernels
