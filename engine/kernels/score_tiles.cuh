// Tiles of scores, queries x pages, on the tensor cores: bf16 operands in shared memory, fp32 sums in
// registers. A thread block of kThreads works on one tile.
#pragma once

#include "kernels/wide.cuh"

namespace headroom::engine::kernels {

constexpr int kTile = 128;     // queries, and pages, of one tile of scores
constexpr int kThreads = 256;  // 4 x 2 warps, 32 queries x 64 pages each
constexpr int kPad = 8;        // values between rows in shared memory: no two lanes of a load share a bank

// Rows of one KV head: `heads` heads of `dim` values side by side, summed; rows `stride` values apart.
struct Rows {
    const bf16* first;
    int64_t stride;
    int heads;
};

__device__ inline Eight summed(const bf16* p, int heads, int dim) {
    if (heads == 1) return load(p);
    float sum[kWide] = {};
    for (int h = 0; h < heads; ++h) {
        const Eight e = load(p + h * dim);
        for (int i = 0; i < kWide; ++i) sum[i] += __bfloat162float(e.v[i]);
    }
    Eight r;
    for (int i = 0; i < kWide; ++i) r.v[i] = __float2bfloat16(sum[i]);
    return r;
}

// kTile rows into shared memory, `dim` + kPad values apart; zeros from `count` on.
__device__ inline void load_tile(const Rows& rows, int64_t count, int dim, bf16* tile) {
    const int wide = dim / kWide;
    for (int i = static_cast<int>(threadIdx.x); i < kTile * wide; i += kThreads) {
        const int row = i / wide, c = i % wide * kWide;
        Eight e = {};
        if (row < count) e = summed(rows.first + row * rows.stride + c, rows.heads, dim);
        store(tile + row * (dim + kPad) + c, e);
    }
}

__device__ inline uint32_t pair_at(const bf16* p) {
    return *reinterpret_cast<const uint32_t*>(p);
}

// This warp's 32 x 64 products of rows of `queries` and of `pages`. v[m][n]: rows group and group + 8 of the
// m-th 16, columns 2 lane and 2 lane + 1 of the n-th 8, where group = lane / 4 and lane is its remainder.
// Source of the layout: PTX ISA, "Matrix Fragments for mma.m16n8k16".
struct Scores {
    float v[2][8][4];
};
__device__ inline int row_in_tile(int m, int half) {
    return static_cast<int>(threadIdx.x) / 32 % 4 * 32 + m * 16 + half * 8 +
           static_cast<int>(threadIdx.x) % 32 / 4;
}
__device__ inline int column_in_tile(int n) {
    return static_cast<int>(threadIdx.x) / 128 * 64 + n * 8 + static_cast<int>(threadIdx.x) % 4 * 2;
}
__device__ inline void multiply(const bf16* queries, const bf16* pages, int dim, Scores& s) {
    const int pitch = dim + kPad, group = static_cast<int>(threadIdx.x) % 32 / 4,
              lane = static_cast<int>(threadIdx.x) % 4;
    for (int m = 0; m < 2; ++m)
        for (int n = 0; n < 8; ++n)
            for (int i = 0; i < 4; ++i) s.v[m][n][i] = 0;
    const bf16* left = queries + row_in_tile(0, 0) * pitch + 2 * lane;
    const bf16* right = pages + (column_in_tile(0) - 2 * lane + group) * pitch + 2 * lane;
    for (int k = 0; k < dim; k += 16) {
        uint32_t a[2][4];
#pragma unroll
        for (int m = 0; m < 2; ++m) {
            const bf16* p = left + m * 16 * pitch + k;
            a[m][0] = pair_at(p);
            a[m][1] = pair_at(p + 8 * pitch);
            a[m][2] = pair_at(p + 8);
            a[m][3] = pair_at(p + 8 * pitch + 8);
        }
#pragma unroll
        for (int n = 0; n < 8; ++n) {
            const bf16* p = right + n * 8 * pitch + k;
            const uint32_t b0 = pair_at(p), b1 = pair_at(p + 8);
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                float(&c)[4] = s.v[m][n];
                asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                    "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                    : "r"(a[m][0]), "r"(a[m][1]), "r"(a[m][2]), "r"(a[m][3]), "r"(b0), "r"(b1));
            }
        }
    }
}

}  // namespace headroom::engine::kernels
