// Pages: copies, gradient sums, page vectors, selection.
#include <cuda_runtime_api.h>

#include <numeric>

#include "bench/engine/timed.h"
#include "decoder/pages.h"
#include "decoder/selection.h"
#include "engine/decoder/page_lists.h"

namespace headroom::engine::bench {
namespace {

constexpr int64_t kPageValues = kPage * kGroups * kDim, kBlocks = 32, kBudget = 64;

std::vector<int32_t> all_rows(int64_t count) {
    std::vector<int32_t> rows(static_cast<size_t>(count));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

// K of 64 pages for each of 32 blocks, page by page from scattered places.
void copy_on_device(benchmark::State& state) {
    const at::Tensor from = drawn({kBlocks * kBudget, kPageValues}), to = at::empty_like(from);
    const at::Tensor scattered = at::randperm(from.size(0), from.options().dtype(at::kLong));
    const at::Tensor sources = test::addresses_of(from, all_rows(from.size(0)), at::kCUDA).index({scattered}),
                     destinations = test::addresses_of(to, all_rows(to.size(0)), at::kCUDA);
    measure(state, kMemory, 2.0 * static_cast<double>(from.nbytes()),
            [&] { copy_pages(sources, destinations, kPageValues * 2); });
}
HEADROOM_GPU_BENCHMARK(copy_on_device);

// Argument: thread blocks at once; 0: as many as fit.
template <bool kToDevice>
void copy_over_link(benchmark::State& state) {
    const at::Tensor device = drawn({1024, kPageValues}), host = device.cpu().pin_memory();
    const at::Tensor on_device = test::addresses_of(device, all_rows(1024), at::kCUDA),
                     on_host = test::addresses_of(host, all_rows(1024), at::kCUDA);
    measure(state, kLink, static_cast<double>(device.nbytes()), [&] {
        copy_pages(kToDevice ? on_host : on_device, kToDevice ? on_device : on_host, kPageValues * 2,
                   state.range(0));
    });
}
HEADROOM_GPU_BENCHMARK(copy_over_link<true>)->Arg(0)->Arg(8)->Arg(16)->Arg(32)->Arg(132);
HEADROOM_GPU_BENCHMARK(copy_over_link<false>)->Arg(0)->Arg(8)->Arg(16)->Arg(32)->Arg(132);

// dK of 32 blocks of 64 pages each; arguments: distinct pages, bytes of a page's value.
void sum_pages_(benchmark::State& state) {
    const int64_t distinct = state.range(0);
    const at::ScalarType type = state.range(1) == 4 ? at::kFloat : at::kBFloat16;
    const at::Tensor emissions = drawn({kBlocks * kBudget, kPageValues});
    at::Tensor selection = at::empty({kBlocks, kBudget}, at::kInt);
    for (int64_t i = 0; i < selection.numel(); ++i) selection.view({-1})[i] = i % distinct;
    const at::Tensor pool = drawn({distinct, kPageValues}, type);
    PageSums sums = test::sums_for(emissions_by_page(selection), pool);
    sums.fresh.zero_();
    measure(state, kMemory, static_cast<double>(emissions.nbytes() + 2 * pool.nbytes()),
            [&] { sum_pages(emissions, sums, type); });
}
HEADROOM_GPU_BENCHMARK(sum_pages_)->ArgsProduct({{64, 230, 2048}, {2, 4}});

void page_means_(benchmark::State& state) {
    const at::Tensor k = drawn({kTokens, kGroups, kDim});
    at::Tensor out = at::empty({kTokens / kPage, kGroups, kDim}, k.options());
    measure(state, kMemory, static_cast<double>(k.nbytes() + out.nbytes()),
            [&] { page_means(k, kPage, out); });
}
HEADROOM_GPU_BENCHMARK(page_means_);

// Arguments: queries of a block, pages. FLOPs: of the scores, once; they are made twice.
void select_pages_(benchmark::State& state) {
    const int64_t block = state.range(0), pages = state.range(1);
    const at::Tensor q = drawn({kTokens, kHeads, kDim}), means = drawn({pages, kGroups, kDim});
    const at::Tensor scratch =
        at::empty({select_scratch_bytes(kTokens, kGroups, pages, block)}, q.options().dtype(at::kByte));
    at::Tensor selection = at::empty({kTokens / block, kBudget}, q.options().dtype(at::kInt));
    measure(state, kTensorCores, 2.0 * kTokens * kGroups * kDim * static_cast<double>(pages), [&] {
        select_pages(q, means, {block, kBudget, 1, 8}, scratch, selection);
    });
}
HEADROOM_GPU_BENCHMARK(select_pages_)->ArgsProduct({{4096, 128}, {512, 1024, 8192, 32768}});

}  // namespace
}  // namespace headroom::engine::bench
