#include "decoder/reductions.h"

#include <algorithm>

#include "decoder/on_gpu.h"
#include "kernels/reductions.h"

namespace headroom::engine {
namespace {

constexpr int64_t kPiece = 64 << 20;  // values squared at once without a kernel

}  // namespace

int64_t reduction_scratch_bytes(int64_t tokens, int64_t columns) {
    return std::max({kernels::column_sums_scratch(columns), tokens * 4, kernels::kSquareParts * 8});
}

void add_column_sums(const at::Tensor& x, at::Tensor sums, const at::Tensor& scratch) {
    if (x.dim() == 2 && rows_on_gpu(x) && sums_on_gpu(sums)) {
        const at::Tensor parts = scratch_of(scratch, kernels::column_sums_scratch(x.size(1)), x);
        with_sums(sums, [&](auto* to) {
            kernels::column_sums(bits(x), x.stride(0), to, static_cast<float*>(parts.data_ptr()), x.size(0),
                                 x.size(1), current_stream());
        });
        return check_launch("column_sums");
    }
    sums.add_(x.sum(0, false, sums.scalar_type()));
}

void add_squares(const at::Tensor& values, at::Tensor sum, const at::Tensor& scratch) {
    if (sums_on_gpu(values) && is_aligned(values)) {
        const at::Tensor parts = scratch_of(scratch, kernels::kSquareParts * 8, values);
        with_sums(values, [&](const auto* from) {
            kernels::add_squares(from, values.numel(), sum.data_ptr<double>(),
                                 static_cast<double*>(parts.data_ptr()), current_stream());
        });
        return check_launch("add_squares");
    }
    for (int64_t at = 0; at < values.numel(); at += kPiece) {
        const at::Tensor piece = values.narrow(0, at, std::min(kPiece, values.numel() - at));
        sum.add_(piece.to(at::kDouble).square().sum());
    }
}

void add_rows(const at::Tensor& ids, const at::Tensor& rows, at::Tensor table, double scale) {
    if (on_gpu(rows) && sums_on_gpu(table) && ids.is_contiguous()) {
        const int64_t tokens = rows.size(0), columns = rows.size(1);
        const auto factor = static_cast<float>(scale);
        with_sums(table, [&](auto* to) {
            if (ids.scalar_type() == at::kInt) {
                kernels::add_rows(ids.const_data_ptr<int32_t>(), bits(rows), to, tokens, columns, factor,
                                  current_stream());
            } else {
                kernels::add_rows(ids.const_data_ptr<int64_t>(), bits(rows), to, tokens, columns, factor,
                                  current_stream());
            }
        });
        return check_launch("add_rows");
    }
    table.index_add_(0, ids, rows.to(table.scalar_type()), scale);
}

}  // namespace headroom::engine
