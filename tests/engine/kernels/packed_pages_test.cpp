// Packing and unpacking on the GPU against their CPU twins: the same roundings, so the same bits.
#include "decoder/packed_pages.h"

#include "engine/decoder/page_lists.h"
#include "engine/kernels/drawn.h"

namespace headroom::engine::test {
namespace {

TEST_F(Kernels, PackedPages) {
    for (const auto& [tokens, page, heads, dim] :
         {std::array<int64_t, 4>{4096, 128, 4, 128}, {500, 64, 2, 64}, {96, 32, 3, 80}, {70, 16, 1, 16}}) {
        at::Tensor wide = drawn({tokens, (heads + 2) * dim}, 1);
        wide.narrow(0, 0, 16).zero_();
        const auto part = [&, heads = heads, dim = dim](const at::Tensor& t) {
            return t.narrow(1, dim, heads * dim).unflatten(1, {heads, dim});
        };
        const int64_t pages = (tokens + page - 1) / page;
        const at::Tensor codes = at::zeros({pages, page, heads, dim}, at::kByte),
                         scales = at::zeros({pages, heads}, at::kFloat), codes_gpu = codes.cuda(),
                         scales_gpu = scales.cuda();
        pack_pages(part(wide), codes.view(at::kFloat8_e4m3fn), scales);
        pack_pages(part(wide.cuda()), codes_gpu.view(at::kFloat8_e4m3fn), scales_gpu);
        EXPECT_TRUE(scales_gpu.cpu().equal(scales));
        // 0 has a sign.
        const auto values = [](const at::Tensor& c) {
            return c.cpu().view(at::kFloat8_e4m3fn).to(at::kFloat);
        };
        EXPECT_TRUE(values(codes_gpu).equal(values(codes)));
        at::Tensor out = at::empty({pages, page, heads, dim}, at::kBFloat16), out_gpu = out.cuda(),
                   some = at::zeros_like(out_gpu);
        unpack_pages(codes.view(at::kFloat8_e4m3fn), scales, out);
        unpack_pages(codes_gpu.view(at::kFloat8_e4m3fn), scales_gpu, out_gpu);
        EXPECT_TRUE(out_gpu.cpu().equal(out));
        std::vector<int32_t> all, reversed;
        for (int64_t p = 0; p < pages; ++p) {
            all.push_back(static_cast<int32_t>(p));
            reversed.push_back(static_cast<int32_t>(pages - 1 - p));
        }
        unpack_pages({addresses_of(codes_gpu, all, at::kCUDA), addresses_of(scales_gpu, all, at::kCUDA),
                      addresses_of(some, reversed, at::kCUDA)},
                     {page, heads, dim}, at::kBFloat16);
        EXPECT_TRUE(some.flip(0).cpu().equal(out));
    }
}

}  // namespace
}  // namespace headroom::engine::test
