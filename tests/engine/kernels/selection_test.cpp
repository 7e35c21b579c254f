// Page selection on the GPU against plain loops in fp64.
#include "kernels/selection.h"

#include "engine/decoder/selection_truth.h"
#include "engine/kernels/drawn.h"

namespace headroom::engine::test {
namespace {

struct Shape {
    int64_t tokens, groups, per, dim, pages, block, budget, sink, local;
};

// Tiles of queries and pages with and without a remainder, blocks shorter and longer than a tile, several
// sets of launches (small pages x block), heads summed at each use.
TEST_F(Kernels, SelectPages) {
    for (const Shape& s :
         {Shape{256, 2, 3, 64, 300, 128, 20, 1, 8}, Shape{200, 1, 1, 16, 130, 1000, 64, 0, 0},
          Shape{700, 4, 7, 128, 257, 50, 16, 2, 2}, Shape{130, 2, 2, 256, 40, 1, 8, 1, 1},
          Shape{1024, 4, 7, 128, 2048, 1024, 64, 1, 8}, Shape{96, 8, 4, 80, 65, 32, 64, 3, 5}}) {
        // Queries of the kernel lie inside of wider rows, as in q, k and v side by side.
        const int64_t heads = s.groups * s.per;
        const at::Tensor rows = drawn({s.tokens, (heads + 2) * s.dim}, 1).mul_(0.7);
        const auto queries = [&](const at::Tensor& t) {
            return t.narrow(1, s.dim, heads * s.dim).unflatten(1, {heads, s.dim});
        };
        const at::Tensor means = drawn({s.pages, s.groups, s.dim}, 2);
        const PageChoice choice{s.block, s.budget, s.sink, s.local};
        const int64_t blocks = (s.tokens + s.block - 1) / s.block;
        const at::Tensor on_gpu = rows.cuda(), means_gpu = means.cuda();
        const at::TensorOptions gpu = on_gpu.options();
        const at::Tensor scratch = at::full({select_scratch_bytes(s.tokens, s.groups, s.pages, s.block)},
                                            0xff, gpu.dtype(at::kByte));
        at::Tensor selection = at::full({blocks, s.budget}, -7, gpu.dtype(at::kInt));
        select_pages(queries(on_gpu), means_gpu, choice, scratch, selection);
        const auto votes = votes_of(queries(rows), means, s.block);
        // A score is a sum of `dim` products in fp32 and below 40: 40 * 256 * 2^-24 = 6e-4 at the very most.
        expect_selection(selection, votes, choice, 1e-3);
        const at::Tensor counted =
            scratch.narrow(0, 0, blocks * s.pages * 4).view(at::kFloat).view({blocks, s.pages});
        for (int64_t b = 0; b < blocks; ++b)
            EXPECT_LT(off(counted[b], at::tensor(votes[static_cast<size_t>(b)], at::kDouble)), 1e-3);
        at::Tensor again = at::empty_like(selection);
        select_pages(queries(on_gpu), means_gpu, choice, scratch, again);
        EXPECT_TRUE(again.equal(selection));
    }
}

TEST_F(Kernels, SelectPagesTiesGoToTheLowerPage) {
    const at::Tensor q = drawn({64, 2, 32}, 1).cuda(),
                     means = drawn({1, 2, 32}, 2).repeat({3000, 1, 1}).cuda();
    const at::Tensor scratch =
        at::empty({select_scratch_bytes(64, 2, 3000, 64)}, q.options().dtype(at::kByte));
    at::Tensor selection = at::empty({1, 40}, q.options().dtype(at::kInt));
    select_pages(q, means, {64, 40, 2, 3}, scratch, selection);
    const at::Tensor expected = at::cat({at::arange(37, at::kInt), at::arange(2997, 3000, at::kInt)});
    EXPECT_TRUE(selection.cpu()[0].equal(expected));
}

TEST_F(Kernels, PageMeans) {
    const at::Tensor rows = drawn({300, 10 * 64}, 1);
    const at::Tensor k = rows.narrow(1, 64, 5 * 64).unflatten(1, {5, 64}),
                     k_gpu = rows.cuda().narrow(1, 64, 5 * 64).unflatten(1, {5, 64});
    for (const int64_t page : {16, 128, 512}) {
        at::Tensor out = at::empty({(300 + page - 1) / page, 5, 64}, at::kBFloat16), out_gpu = out.cuda();
        page_means(k, page, out);
        page_means(k_gpu, page, out_gpu);
        EXPECT_LT(off(out_gpu, out), 1.0 / 256);
    }
}

}  // namespace
}  // namespace headroom::engine::test
