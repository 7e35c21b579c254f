#include "kernels/selection.h"

#include <algorithm>
#include <cmath>

#include "kernels/choose_pages.h"
#include "kernels/score_tiles.cuh"

namespace headroom::engine::kernels {
namespace {

constexpr int64_t kResidentBlocks = 2 * 132;  // thread blocks that the GPU runs at once

// Sum of 2^s over scores s, as a maximum and the sum of 2^(s - most).
struct PowerSum {
    float most, sum;
};
__device__ PowerSum joined(PowerSum a, PowerSum b) {
    const float most = fmaxf(a.most, b.most);
    if (most == -INFINITY) return {most, 0};
    return {most, a.sum * exp2f(a.most - most) + b.sum * exp2f(b.most - most)};
}

struct Votes {
    Rows queries;  // of the first KV head; the others follow `head_stride` values later
    int64_t head_stride;
    const bf16* means;  // [pages, groups, dim]
    int64_t tokens, pages, block;
    int groups, dim;
    float scale;  // of a score, in powers of two
    int page_parts, query_parts;
    PowerSum* sums;  // [page_parts, groups, tokens]
};
__device__ Rows queries_of(const Votes& v, int group, int64_t token) {
    return {v.queries.first + group * v.head_stride + token * v.queries.stride, v.queries.stride,
            v.queries.heads};
}
__device__ Rows pages_of(const Votes& v, int group, int64_t page) {
    return {v.means + (page * v.groups + group) * v.dim, static_cast<int64_t>(v.groups) * v.dim, 1};
}

// Sums over a part of the pages, for kTile queries of one KV head.
__global__ void __launch_bounds__(kThreads, 2) query_sums(const Votes v) {
    extern __shared__ __align__(16) bf16 shared[];
    __shared__ PowerSum halves[2][kTile];
    bf16* queries = shared;
    bf16* pages = shared + kTile * (v.dim + kPad);
    const int64_t token = static_cast<int64_t>(blockIdx.x) * kTile;
    const int group = static_cast<int>(blockIdx.y);
    load_tile(queries_of(v, group, token), v.tokens - token, v.dim, queries);
    PowerSum mine[2][2] = {{{-INFINITY, 0}, {-INFINITY, 0}}, {{-INFINITY, 0}, {-INFINITY, 0}}};
    const int64_t tiles = (v.pages + kTile - 1) / kTile, last = tiles * (blockIdx.z + 1) / v.page_parts;
    for (int64_t tile = tiles * blockIdx.z / v.page_parts; tile < last; ++tile) {
        __syncthreads();
        load_tile(pages_of(v, group, tile * kTile), v.pages - tile * kTile, v.dim, pages);
        __syncthreads();
        Scores s;
        multiply(queries, pages, v.dim, s);
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                PowerSum part{-INFINITY, 0};
#pragma unroll
                for (int n = 0; n < 8; ++n) {
#pragma unroll
                    for (int i = 0; i < 2; ++i) {
                        float& score = s.v[m][n][2 * half + i];
                        score = tile * kTile + column_in_tile(n) + i < v.pages ? score * v.scale : -INFINITY;
                        part.most = fmaxf(part.most, score);
                    }
                }
                if (part.most == -INFINITY) continue;
#pragma unroll
                for (int n = 0; n < 8; ++n) {
#pragma unroll
                    for (int i = 0; i < 2; ++i) part.sum += exp2f(s.v[m][n][2 * half + i] - part.most);
                }
                mine[m][half] = joined(mine[m][half], part);
            }
        }
    }
    for (int m = 0; m < 2; ++m) {
        for (int half = 0; half < 2; ++half) {
            PowerSum all = mine[m][half];
            for (int step = 1; step < 4; step *= 2) {
                all = joined(all, {__shfl_xor_sync(0xffffffffu, all.most, step),
                                   __shfl_xor_sync(0xffffffffu, all.sum, step)});
            }
            if (threadIdx.x % 4 == 0) halves[threadIdx.x / 128][row_in_tile(m, half)] = all;
        }
    }
    __syncthreads();
    if (threadIdx.x < kTile && token + threadIdx.x < v.tokens) {
        v.sums[(static_cast<int64_t>(blockIdx.z) * v.groups + group) * v.tokens + token + threadIdx.x] =
            joined(halves[0][threadIdx.x], halves[1][threadIdx.x]);
    }
}

// Votes for kTile pages of one block: over a part of its tiles of queries, KV head by KV head. votes
// [query_parts, blocks, pages].
__global__ void __launch_bounds__(kThreads, 2) page_votes(const Votes v, float* votes) {
    extern __shared__ __align__(16) bf16 shared[];
    __shared__ float logs[kTile];
    __shared__ float quarters[4][kTile];
    bf16* queries = shared;
    bf16* pages = shared + kTile * (v.dim + kPad);
    const int64_t page = static_cast<int64_t>(blockIdx.x) * kTile, first = blockIdx.y * v.block,
                  end = min(v.tokens, first + v.block);
    const int64_t tiles = (end - first + kTile - 1) / kTile, all = tiles * v.groups,
                  last = all * (blockIdx.z + 1) / v.query_parts;
    int loaded = -1;
    float sum[8][2] = {};
    for (int64_t item = all * blockIdx.z / v.query_parts; item < last; ++item) {
        const int group = static_cast<int>(item / tiles);
        const int64_t token = first + item % tiles * kTile;
        __syncthreads();
        if (group != loaded) load_tile(pages_of(v, group, page), v.pages - page, v.dim, pages);
        loaded = group;
        load_tile(queries_of(v, group, token), end - token, v.dim, queries);
        if (threadIdx.x < kTile) {
            PowerSum s{-INFINITY, 0};
            for (int part = 0; part < v.page_parts && token + threadIdx.x < end; ++part)
                s = joined(
                    s,
                    v.sums[(static_cast<int64_t>(part) * v.groups + group) * v.tokens + token + threadIdx.x]);
            // A row that is none weighs nothing.
            logs[threadIdx.x] = token + threadIdx.x < end ? s.most + log2f(s.sum) : INFINITY;
        }
        __syncthreads();
        Scores s;
        multiply(queries, pages, v.dim, s);
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float log = logs[row_in_tile(m, half)];
#pragma unroll
                for (int n = 0; n < 8; ++n) {
#pragma unroll
                    for (int i = 0; i < 2; ++i) sum[n][i] += exp2f(s.v[m][n][2 * half + i] * v.scale - log);
                }
            }
        }
    }
    for (int n = 0; n < 8; ++n) {
        for (int i = 0; i < 2; ++i) {
            float over_rows = sum[n][i];
            for (int step = 4; step < 32; step *= 2)
                over_rows += __shfl_xor_sync(0xffffffffu, over_rows, step);
            if (threadIdx.x % 32 < 4) quarters[threadIdx.x / 32 % 4][column_in_tile(n) + i] = over_rows;
        }
    }
    __syncthreads();
    if (threadIdx.x < kTile && page + threadIdx.x < v.pages) {
        float over_rows = 0;
        for (const auto& quarter : quarters) over_rows += quarter[threadIdx.x];
        votes[(static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y) * v.pages + page + threadIdx.x] =
            over_rows;
    }
}

// out [tokens, groups, dim] of q [tokens, groups x heads, dim].
__global__ void sum_heads(Rows q, bf16* out, int64_t tokens, int groups, int dim) {
    const int64_t wide = dim / kWide, i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= tokens * groups * wide) return;
    const int64_t c = i % wide * kWide, group = i / wide % groups, token = i / wide / groups;
    store(out + i * kWide, summed(q.first + token * q.stride + group * q.heads * dim + c, q.heads, dim));
}

int64_t ceil_of(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}
int64_t between(int64_t least, int64_t v, int64_t most) {
    return v < least ? least : v > most ? most : v;
}
unsigned grid_of(int64_t n) {
    return static_cast<unsigned>(n);
}

// Offsets for so many blocks at once.
SelectLayout layout_of(const SelectShape& s, int64_t blocks, bool summed, bool parted) {
    SelectLayout r;
    r.blocks = blocks;
    r.summed = summed;
    const int64_t tokens = std::min(s.tokens, blocks * s.block), page_tiles = ceil_of(s.pages, kTile);
    const int64_t query_tiles = s.groups * ceil_of(std::min(s.tokens, s.block), kTile);
    if (parted) {
        r.page_parts = between(1, ceil_of(kResidentBlocks, ceil_of(tokens, kTile) * s.groups),
                               std::min<int64_t>(8, page_tiles));
        r.query_parts = between(1, ceil_of(kResidentBlocks, page_tiles * blocks), query_tiles);
    }
    r.sums_at = ceil_of(s.blocks() * s.pages * 4, 8) * 8;
    r.queries_at = ceil_of(r.sums_at + r.page_parts * s.groups * tokens * 8, 16) * 16;
    r.votes_at = r.queries_at + (summed ? tokens * s.groups * s.dim * 2 : 0);
    r.end = r.votes_at + (r.query_parts > 1 ? r.query_parts * blocks * s.pages * 4 : 0);
    if (!summed && r.query_parts == 1) r.end = r.sums_at + r.page_parts * s.groups * tokens * 8;
    return r;
}

}  // namespace

// As many blocks at once as fit; summed queries and parts only while enough queries run at once all the same.
SelectLayout select_layout(const SelectShape& shape) {
    const int64_t space = shape.scratch_bytes(), enough = std::min<int64_t>(shape.tokens, 8 * kTile);
    for (const bool summed : {true, false}) {
        if (summed && shape.heads == shape.groups) continue;
        for (int64_t blocks = shape.blocks(); blocks > 0 && blocks * shape.block >= enough; --blocks) {
            const SelectLayout r = layout_of(shape, blocks, summed, true);
            if (r.end <= space) return r;
        }
    }
    int64_t blocks = shape.blocks();
    while (blocks > 1 && layout_of(shape, blocks, false, false).end > space) --blocks;
    return layout_of(shape, blocks, false, false);
}

void select_pages(const bf16* q, int64_t stride, const bf16* means, const SelectShape& s, void* scratch,
                  int32_t* selection, cudaStream_t stream) {
    const SelectLayout layout = select_layout(s);
    char* base = static_cast<char*>(scratch);
    auto* votes = reinterpret_cast<float*>(base);
    auto* summed_queries = reinterpret_cast<bf16*>(base + layout.queries_at);
    auto* parts = reinterpret_cast<float*>(base + layout.votes_at);
    const int heads = static_cast<int>(s.heads / s.groups), dim = static_cast<int>(s.dim),
              groups = static_cast<int>(s.groups);
    const int shared = 2 * kTile * (dim + kPad) * static_cast<int>(sizeof(bf16));
    for (const auto kernel :
         {reinterpret_cast<const void*>(query_sums), reinterpret_cast<const void*>(page_votes)})
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    for (int64_t first = 0; first < s.blocks(); first += layout.blocks) {
        const int64_t blocks = std::min(layout.blocks, s.blocks() - first),
                      tokens = std::min(blocks * s.block, s.tokens - first * s.block);
        Votes v{{q + first * s.block * stride, stride, heads},
                static_cast<int64_t>(heads) * dim,
                means,
                tokens,
                s.pages,
                s.block,
                groups,
                dim,
                static_cast<float>(M_LOG2E / std::sqrt(static_cast<double>(s.dim))),
                static_cast<int>(layout.page_parts),
                static_cast<int>(layout.query_parts),
                reinterpret_cast<PowerSum*>(base + layout.sums_at)};
        if (layout.summed) {
            const int64_t values = tokens * groups * dim / kWide;
            sum_heads<<<grid_of(ceil_of(values, kThreads)), kThreads, 0, stream>>>(v.queries, summed_queries,
                                                                                   tokens, groups, dim);
            v.queries = {summed_queries, static_cast<int64_t>(groups) * dim, 1};
            v.head_stride = dim;
        }
        const dim3 by_query(grid_of(ceil_of(tokens, kTile)), grid_of(groups), grid_of(layout.page_parts));
        query_sums<<<by_query, kThreads, static_cast<size_t>(shared), stream>>>(v);
        float* of_blocks = votes + first * s.pages;
        const dim3 by_page(grid_of(ceil_of(s.pages, kTile)), grid_of(blocks), grid_of(layout.query_parts));
        page_votes<<<by_page, kThreads, static_cast<size_t>(shared), stream>>>(
            v, layout.query_parts > 1 ? parts : of_blocks);
        choose_pages({parts, v.query_parts, of_blocks, blocks, s.pages, s.budget, s.sink, s.local},
                     selection + first * s.budget, stream);
    }
}

}  // namespace headroom::engine::kernels
