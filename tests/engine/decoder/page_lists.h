// Pages of random values in one block of memory, and lists of their addresses.
#pragma once

#include <ATen/ATen.h>

#include "decoder/pages.h"

namespace headroom::engine::test {

// Addresses of the rows of `pages`, which is dense, on its device or on `lists_on`.
inline at::Tensor addresses_of(const at::Tensor& pages, const std::vector<int32_t>& rows,
                               const at::Device& lists_on) {
    at::Tensor list = at::empty({static_cast<int64_t>(rows.size())}, at::kLong);
    for (size_t i = 0; i < rows.size(); ++i)
        list[static_cast<int64_t>(i)] = reinterpret_cast<int64_t>(pages[rows[i]].data_ptr());
    return list.to(lists_on);
}

// Sums for all pages of a selection, into pages of a pool, every other one fresh.
inline PageSums sums_for(const EmissionsByPage& by_page, const at::Tensor& pool) {
    const at::Device device = pool.device();
    at::Tensor fresh = at::zeros({static_cast<int64_t>(by_page.pages.size())}, at::kByte);
    for (int64_t i = 0; i < fresh.size(0); i += 2) fresh[i] = 1;
    return {at::tensor(by_page.begin, at::kInt).to(device), at::tensor(by_page.entries, at::kInt).to(device),
            addresses_of(pool, by_page.pages, device), fresh.to(device)};
}

}  // namespace headroom::engine::test
