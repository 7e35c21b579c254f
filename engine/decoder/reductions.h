// Sums over the tokens of a chunk: gradients of biases and of the embedding; the norm of all gradients.
//
// On a GPU in bf16 (what is added to in fp32 or bf16, sums in fp32): kernels that allocate nothing and use no
// atomics, so the same input gives the same bits. Else ATen.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace headroom::engine {

// Bytes of scratch (uint8, 16-byte aligned) that is enough for every function that says so, for chunks of
// `tokens` and rows of up to `columns` values: 1 KiB a column, at least 4 bytes a token.
int64_t reduction_scratch_bytes(int64_t tokens, int64_t columns);

// sums [n] += x [T, n] summed over T; rows of x may lie apart. scratch: reduction_scratch_bytes.
void add_column_sums(const at::Tensor& x, at::Tensor sums, const at::Tensor& scratch = {});
// sum (fp64, one value, on the device) += squares of `values` (flat), added up in fp64. scratch:
// reduction_scratch_bytes.
void add_squares(const at::Tensor& values, at::Tensor sum, const at::Tensor& scratch = {});
// table [V, H]: row ids[t] += scale * rows[t], of ids [T] (int32 or int64) and rows [T, H].
void add_rows(const at::Tensor& ids, const at::Tensor& rows, at::Tensor table, double scale = 1);

}  // namespace headroom::engine
