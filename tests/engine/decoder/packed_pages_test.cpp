#include "decoder/packed_pages.h"

#include <gtest/gtest.h>

#include "engine/decoder/page_lists.h"
#include "engine/kernels/drawn.h"

namespace headroom::engine::test {
namespace {

struct Packed {
    at::Tensor codes, scales;
};
Packed packed(const at::Tensor& x, int64_t page) {
    const int64_t pages = (x.size(0) + page - 1) / page;
    const Packed p{at::full({pages, page, x.size(1), x.size(2)}, 0, at::kByte).view(at::kFloat8_e4m3fn),
                   at::full({pages, x.size(1)}, -1, at::kFloat)};
    pack_pages(x, p.codes, p.scales);
    return p;
}

// Every value is the nearest of those that its page and head can hold.
TEST(PackedPages, RoundToTheNearest) {
    at::Tensor x = drawn({64, 2, 16}, 1, at::kFloat);
    x.narrow(0, 32, 16).mul_(1e-4);  // each page has its own scale,
    x.select(1, 1).mul_(100);        // and each head
    const Packed p = packed(x, 16);
    at::Tensor back = at::empty({4, 16, 2, 16}, at::kFloat);
    unpack_pages(p.codes, p.scales, back);
    const at::Tensor pages = x.view({4, 16, 2, 16});
    EXPECT_TRUE(p.scales.equal((pages.abs().amax({1, 3}) / 448).to(at::kFloat)));
    // All finite codes: 0x7f and 0xff are not numbers.
    const at::Tensor all = at::cat({at::arange(0, 127, at::kByte), at::arange(128, 255, at::kByte)})
                               .view(at::kFloat8_e4m3fn)
                               .to(at::kDouble);
    for (int64_t page = 0; page < 4; ++page) {
        for (int64_t head = 0; head < 2; ++head) {
            const at::Tensor mine = pages[page].select(1, head).flatten().to(at::kDouble),
                             held = back[page].select(1, head).flatten().to(at::kDouble),
                             held_by_all = all * p.scales[page][head].item<double>();
            const at::Tensor nearest = (mine.unsqueeze(1) - held_by_all.unsqueeze(0)).abs().amin(1);
            EXPECT_LT(((mine - held).abs() - nearest).abs().max().item<double>(),
                      1e-6 * mine.abs().max().item<double>());
        }
    }
    EXPECT_LT(off(back, pages), 1.0 / 32);
    EXPECT_GT(off(back, pages), 1.0 / 128);
}

TEST(PackedPages, ZerosAndARaggedPage) {
    at::Tensor x = at::zeros({40, 1, 16}, at::kBFloat16);
    x.narrow(0, 32, 8).fill_(-3);
    const Packed p = packed(x, 16);
    EXPECT_EQ(p.scales[0].item<float>(), 1);  // of zeros
    at::Tensor back = at::empty({3, 16, 1, 16}, at::kBFloat16);
    unpack_pages(p.codes, p.scales, back);
    EXPECT_TRUE(back.view({48, 1, 16}).narrow(0, 0, 40).equal(x));
    EXPECT_EQ(back.view({48, 1, 16}).narrow(0, 40, 8).abs().max().item<float>(), 0);
}

// Keys inside of wider rows, as q, k and v lie beside each other.
TEST(PackedPages, RowsApartAndPagesAnywhere) {
    const at::Tensor wide = drawn({32, 7 * 16}, 3), x = wide.narrow(1, 32, 3 * 16).unflatten(1, {3, 16});
    const Packed p = packed(x, 8), dense = packed(x.contiguous(), 8);
    EXPECT_TRUE(p.codes.view(at::kByte).equal(dense.codes.view(at::kByte)));
    at::Tensor back = at::empty({4, 8, 3, 16}, at::kBFloat16), some = at::zeros_like(back);
    unpack_pages(p.codes, p.scales, back);
    unpack_pages({addresses_of(p.codes, {3, 0, 3}, at::kCPU), addresses_of(p.scales, {3, 0, 3}, at::kCPU),
                  addresses_of(some, {0, 2, 1}, at::kCPU)},
                 {8, 3, 16}, at::kBFloat16);
    EXPECT_TRUE(some[0].equal(back[3]));
    EXPECT_TRUE(some[1].equal(back[3]));
    EXPECT_TRUE(some[2].equal(back[0]));
    EXPECT_EQ(some[3].abs().max().item<float>(), 0);
}

TEST(PackedPages, RefusesWhatDoesNotFit) {
    const at::Tensor x = drawn({32, 2, 16}, 1);
    const Packed p = packed(x, 16);
    EXPECT_THROW(pack_pages(x.narrow(0, 0, 16), p.codes, p.scales), c10::Error);
    EXPECT_THROW(pack_pages(x, p.codes, p.scales.narrow(0, 0, 1)), c10::Error);
    EXPECT_THROW(pack_pages(x, p.codes.view(at::kByte), p.scales), c10::Error);
    EXPECT_THROW(unpack_pages(p.codes, p.scales, at::empty({32, 2, 16}, at::kBFloat16)), c10::Error);
    const at::Tensor one = addresses_of(p.codes, {0}, at::kCPU),
                     two = addresses_of(p.codes, {0, 1}, at::kCPU);
    EXPECT_THROW(unpack_pages({one, two, one}, {16, 2, 16}, at::kBFloat16), c10::Error);
}

}  // namespace
}  // namespace headroom::engine::test
