// CUDA kernels of sums over many rows, in two stages: parts, then the parts in order. No atomics, nothing
// allocated: the scratch is the caller's, and a constant number of parts bounds it.
//
// Contract: as in pointwise.h. `Value` of what is added up over a step: float or bf16, added to in fp32 and
// rounded once.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pointwise.h"

namespace headroom::engine::kernels {

// Rows are cut into at most so many parts, each summed by one thread block.
inline constexpr int64_t kMostParts = 256;
constexpr int64_t rows_of_part(int64_t rows) {
    return (rows + kMostParts - 1) / kMostParts;
}
constexpr int64_t parts_of(int64_t rows) {
    return rows == 0 ? 0 : (rows + rows_of_part(rows) - 1) / rows_of_part(rows);
}
constexpr int64_t column_sums_scratch(int64_t columns) {  // bytes, for any number of rows
    return kMostParts * columns * 4;
}

// sums [columns] += x [rows, columns] summed over its rows, which are `stride` values apart.
template <class Value>
void column_sums(const bf16* x, int64_t stride, Value* sums, float* scratch, int64_t rows, int64_t columns,
                 cudaStream_t stream);
// sums [columns] += partial [parts, columns], part after part.
template <class Value>
void add_parts(const float* partial, Value* sums, int64_t parts, int64_t columns, cudaStream_t stream);

// sum (one value) += values [count], in fp64.
void add_sum(const float* values, int64_t count, double* sum, cudaStream_t stream);
// sum (one value) += the squares of values [count] (any count; aligned to 16 bytes), in fp64. scratch:
// kSquareParts fp64.
inline constexpr int64_t kSquareParts = 1024;
template <class Value>
void add_squares(const Value* values, int64_t count, double* sum, double* scratch, cudaStream_t stream);

// table [., columns]: row ids[t] += scale * rows[t], tokens in order, a window of kRowWindow after the other.
// One writer per row: the thread block of its first token in the window. Rows of the table are 16-byte
// aligned; it may be on the host. Cost besides the rows: each block reads all ids of its window.
inline constexpr int64_t kRowWindow = 4096;
template <class Id, class Value>
void add_rows(const Id* ids, const bf16* rows, Value* table, int64_t tokens, int64_t columns, float scale,
              cudaStream_t stream);

}  // namespace headroom::engine::kernels
