#include "decoder/packed_pages.h"

#include <algorithm>

#include "decoder/on_gpu.h"
#include "decoder/page_list.h"
#include "decoder/pointwise.h"
#include "kernels/packed_pages.h"

namespace headroom::engine {
namespace {

constexpr double kLargest = 448;  // of e4m3

kernels::PageShape shape_of(at::IntArrayRef sizes) {
    return {sizes[0], sizes[1], sizes[2]};
}
kernels::fp8* codes_of(const at::Tensor& t) {
    return static_cast<kernels::fp8*>(t.data_ptr());
}
void check_pages(const at::Tensor& codes, const at::Tensor& scales) {
    TORCH_CHECK(codes.dim() == 4 && codes.scalar_type() == at::kFloat8_e4m3fn && codes.is_contiguous() &&
                    scales.dim() == 2 && scales.scalar_type() == at::kFloat && scales.is_contiguous() &&
                    scales.size(0) == codes.size(0) && scales.size(1) == codes.size(2),
                "packed pages: codes ", codes.sizes(), ", scales ", scales.sizes());
}

// value [page, g, d] = code * scale [g], in the type of sums.
at::Tensor values_of(const at::Tensor& codes, const at::Tensor& scales, at::ScalarType type) {
    const at::ScalarType wide = sum_type(type);
    return codes.to(wide).mul_(scales.to(wide).unsqueeze(-1));
}

}  // namespace

void pack_pages(const at::Tensor& x, at::Tensor codes, at::Tensor scales) {
    check_pages(codes, scales);
    const int64_t page = codes.size(1), tokens = x.size(0);
    TORCH_CHECK(x.dim() == 3 && x.size(1) == codes.size(2) && x.size(2) == codes.size(3) &&
                    codes.size(0) == (tokens + page - 1) / page,
                "pack_pages: ", x.sizes(), " into ", codes.sizes());
    if (x.is_cuda()) {
        TORCH_CHECK(rows_on_gpu(x) && x.size(2) % 16 == 0, "pack_pages: on a GPU values are bf16, d ",
                    x.size(2), " a multiple of 16");
        kernels::pack_pages(bits(x), x.stride(0), codes_of(codes), scales.data_ptr<float>(), tokens,
                            shape_of(codes.sizes().slice(1)), current_stream());
        return check_launch("pack_pages");
    }
    for (int64_t p = 0; p < codes.size(0); ++p) {
        const int64_t count = std::min(page, tokens - p * page);
        const at::Tensor values = x.narrow(0, p * page, count).to(sum_type(x.scalar_type()));
        const at::Tensor most = values.abs().amax({0, 2});  // [g]
        scales[p].copy_(at::where(most > 0, most / kLargest, at::ones_like(most)));
        codes[p]
            .narrow(0, 0, count)
            .copy_((values / scales[p].to(values.scalar_type()).unsqueeze(-1))
                       .to(at::kFloat)
                       .clamp_(-kLargest, kLargest));
    }
}

void unpack_pages(const at::Tensor& codes, const at::Tensor& scales, at::Tensor out) {
    check_pages(codes, scales);
    TORCH_CHECK(out.sizes() == codes.sizes() && out.is_contiguous(), "unpack_pages: ", codes.sizes(),
                " into ", out.sizes());
    if (out.is_cuda()) {
        TORCH_CHECK(on_gpu(out) && out.size(3) % 16 == 0, "unpack_pages: on a GPU values are bf16, d ",
                    out.size(3), " a multiple of 16");
        kernels::unpack_pages(codes_of(codes), scales.const_data_ptr<float>(), bits(out), codes.size(0),
                              shape_of(codes.sizes().slice(1)), current_stream());
        return check_launch("unpack_pages");
    }
    for (int64_t p = 0; p < codes.size(0); ++p)
        out[p].copy_(values_of(codes[p], scales[p], out.scalar_type()));
}

void unpack_pages(const PackedPages& pages, at::IntArrayRef sizes, at::ScalarType type) {
    const int64_t count = pages.codes.size(0);
    TORCH_CHECK(is_list(pages.codes, at::kLong, count) && is_list(pages.scales, at::kLong, count) &&
                    is_list(pages.values, at::kLong, count) && sizes.size() == 3,
                "unpack_pages: int64 lists of one length, and page, heads and head size");
    if (pages.codes.is_cuda()) {
        TORCH_CHECK(type == at::kBFloat16 && sizes[2] % 16 == 0, "unpack_pages: on a GPU values are bf16, d ",
                    sizes[2], " a multiple of 16");
        kernels::unpack_pages_by_address(
            pages.codes.const_data_ptr<int64_t>(), pages.scales.const_data_ptr<int64_t>(),
            pages.values.const_data_ptr<int64_t>(), count, shape_of(sizes), current_stream());
        return check_launch("unpack_pages");
    }
    for (int64_t i = 0; i < count; ++i) {
        at::Tensor out = tensor_at(pages.values, i, sizes, type);
        out.copy_(values_of(tensor_at(pages.codes, i, sizes, at::kFloat8_e4m3fn),
                            tensor_at(pages.scales, i, {sizes[1]}, at::kFloat), type));
    }
}

}  // namespace headroom::engine
