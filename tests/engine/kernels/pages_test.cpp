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

TEST_F(Kernels, CopyListFromPinnedMemory) {
    const at::Tensor host = at::arange(3000, at::kLong).pin_memory();
    for (const int64_t bytes : {0, 4, 16, 20, 4096 + 8, 3000 * 8}) {
        at::Tensor here = at::full({3000}, -1, host.options().device(at::kCUDA));
        copy_list(static_cast<const std::byte*>(host.const_data_ptr()),
                  static_cast<std::byte*>(here.mutable_data_ptr()), bytes, here.device());
        at::cuda::getCurrentCUDAStream().synchronize();
        const int64_t words = (bytes + 15) / 16 * 2;  // it may copy up to the next 16 bytes
        EXPECT_TRUE(here.cpu().narrow(0, 0, words).equal(host.narrow(0, 0, words))) << bytes;
        EXPECT_TRUE((here.narrow(0, words, 3000 - words) == -1).all().item<bool>()) << bytes;
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

TEST_F(Kernels, AddPageRows) {
    const int64_t page = 32, columns = 4 * 72, stride = 3 * columns;
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        const at::Tensor pages = drawn({5, page, columns}, 1, type), pages_gpu = pages.cuda();
        at::Tensor rows = drawn({5 * page, stride}, 2), rows_gpu = rows.cuda();
        const at::Tensor tokens = at::tensor({32, 7, 32}, at::kInt);
        const auto lists = [&](const at::Tensor& of, const at::Tensor& to, const at::Device& device) {
            return PageRows{addresses_of(of, {4, 0, 2}, device),
                            addresses_of(to.narrow(1, columns, columns), {0, 96, 32}, device),
                            tokens.to(device)};
        };
        add_page_rows(lists(pages, rows, at::kCPU), type, at::kBFloat16, columns, stride, page);
        add_page_rows(lists(pages_gpu, rows_gpu, at::kCUDA), type, at::kBFloat16, columns, stride, page);
        EXPECT_TRUE(rows_gpu.cpu().equal(rows));
    }
}

}  // namespace
}  // namespace headroom::engine::test
