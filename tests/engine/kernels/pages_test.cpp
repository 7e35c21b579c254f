// Page copies and sums on the GPU against their CPU twins: the same additions in the same order, so the same
// bits.
#include "kernels/pages.h"

#include <ATen/cuda/CUDAContext.h>

#include <numeric>

#include "engine/decoder/page_lists.h"
#include "engine/kernels/drawn.h"

namespace headroom::engine::test {
namespace {

TEST_F(Kernels, CopyPagesOnTheDeviceAndOverTheLink) {
    for (const int64_t values : {8, 8 * 1025, 64 * 1024}) {
        const at::Tensor host = drawn({40, values}, 1).pin_memory(), device = host.cuda();
        std::vector<int32_t> from(40), to(40);
        std::iota(from.begin(), from.end(), 0);
        std::iota(to.rbegin(), to.rend(), 0);
        at::Tensor back = at::zeros_like(host).pin_memory(), there = at::zeros_like(device);
        for (const int64_t most_blocks : {0, 3}) {
            for (const auto& [source, destination] :
                 {std::pair{host, there}, {device, back}, {device, there}}) {
                destination.zero_();
                copy_pages(addresses_of(source, from, at::kCUDA), addresses_of(destination, to, at::kCUDA),
                           values * 2, most_blocks);
                at::cuda::getCurrentCUDAStream().synchronize();  // reading pinned memory waits for nothing
                EXPECT_TRUE(destination.cpu().equal(host.flip(0)));
            }
        }
    }
}

TEST_F(Kernels, SumPages) {
    at::Generator random = at::detail::createCPUGenerator(3);
    const at::Tensor selection = at::randint(60, {16, 24}, random, at::kInt);
    const EmissionsByPage by = emissions_by_page(selection);
    const at::Tensor emissions = drawn({16 * 24, 32, 4, 72}, 1);
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        const at::Tensor pool = drawn({60, 32, 4, 72}, 2, type), pool_gpu = pool.cuda();
        sum_pages(emissions, sums_for(by, pool), type);
        sum_pages(emissions.cuda(), sums_for(by, pool_gpu), type);
        EXPECT_TRUE(pool_gpu.cpu().equal(pool));
    }
}

}  // namespace
}  // namespace headroom::engine::test
