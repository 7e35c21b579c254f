#include "decoder/pages.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "decoder/on_gpu.h"
#include "decoder/page_list.h"
#include "decoder/pointwise.h"
#include "kernels/pages.h"

namespace headroom::engine {
namespace {

// Addresses are unsigned for the copies, which take those of any memory.
const uint64_t* addresses(const at::Tensor& t) {
    return reinterpret_cast<const uint64_t*>(t.const_data_ptr<int64_t>());
}

}  // namespace

void copy_list(const std::byte* from, std::byte* to, int64_t bytes, at::Device device) {
    if (device.is_cuda()) {
        kernels::copy_list(from, to, bytes, current_stream());
        return check_launch("copy_list");
    }
    std::memcpy(to, from, static_cast<size_t>(bytes));
}

void copy_pages(const at::Tensor& sources, const at::Tensor& destinations, int64_t bytes,
                int64_t most_blocks) {
    const int64_t count = sources.size(0);
    TORCH_CHECK(is_list(sources, at::kLong, count) && is_list(destinations, at::kLong, count) &&
                    sources.device() == destinations.device(),
                "copy_pages: sources and destinations are int64 lists of one length on one device");
    TORCH_CHECK(bytes % 16 == 0, "copy_pages: ", bytes, " bytes are no multiple of 16");
    const uint64_t *from = addresses(sources), *to = addresses(destinations);
    if (sources.is_cuda()) {
        kernels::copy_pages(from, to, count, bytes, most_blocks, current_stream());
        return check_launch("copy_pages");
    }
    for (int64_t i = 0; i < count; ++i) {
        std::memcpy(reinterpret_cast<void*>(to[i]), reinterpret_cast<const void*>(from[i]),
                    static_cast<size_t>(bytes));
    }
}

void convert_pages(const at::Tensor& sources, const at::Tensor& destinations, int64_t bytes,
                   at::ScalarType from, at::ScalarType to) {
    const int64_t count = sources.size(0), values = bytes / static_cast<int64_t>(c10::elementSize(from));
    TORCH_CHECK(
        sources.is_cpu() && is_list(sources, at::kLong, count) && is_list(destinations, at::kLong, count),
        "convert_pages: sources and destinations are int64 lists of one length on the CPU");
    for (int64_t i = 0; i < count; ++i)
        tensor_at(destinations, i, {values}, to).copy_(tensor_at(sources, i, {values}, from));
}

EmissionsByPage emissions_by_page(const at::Tensor& selection) {
    TORCH_CHECK(selection.is_cpu() && selection.scalar_type() == at::kInt && selection.is_contiguous(),
                "emissions_by_page: the selection is int32 on the CPU");
    const int32_t* page = selection.const_data_ptr<int32_t>();
    EmissionsByPage result;
    result.entries.resize(static_cast<size_t>(selection.numel()));
    std::iota(result.entries.begin(), result.entries.end(), 0);
    std::stable_sort(result.entries.begin(), result.entries.end(),
                     [&](int32_t a, int32_t b) { return page[a] < page[b]; });
    for (size_t i = 0; i < result.entries.size(); ++i) {
        const int32_t p = page[result.entries[i]];
        if (!result.pages.empty() && result.pages.back() == p) continue;
        result.pages.push_back(p);
        result.begin.push_back(static_cast<int32_t>(i));
    }
    result.begin.push_back(static_cast<int32_t>(result.entries.size()));
    return result;
}

void sum_pages(const at::Tensor& emissions, const PageSums& sums, at::ScalarType type) {
    const int64_t count = sums.destinations.size(0);
    TORCH_CHECK(is_list(sums.begin, at::kInt, count + 1) &&
                    is_list(sums.entries, at::kInt, sums.entries.numel()) &&
                    is_list(sums.destinations, at::kLong, count) && is_list(sums.fresh, at::kByte, count),
                "sum_pages: lists are int32, int32, int64 and uint8 for ", count, " pages");
    TORCH_CHECK(emissions.is_contiguous(), "sum_pages: emissions are dense");
    if (count == 0) return;
    const int64_t values = emissions.numel() / std::max<int64_t>(1, emissions.size(0));
    if (emissions.is_cuda()) {
        TORCH_CHECK(on_gpu(emissions) && (type == at::kBFloat16 || type == at::kFloat),
                    "sum_pages: on a GPU emissions are bf16, pages bf16 or fp32");
        const kernels::PageSums lists{
            sums.begin.const_data_ptr<int32_t>(), sums.entries.const_data_ptr<int32_t>(),
            sums.destinations.const_data_ptr<int64_t>(), sums.fresh.const_data_ptr<uint8_t>(), count};
        if (type == at::kFloat) {
            kernels::sum_pages<float>(bits(emissions), values, lists, current_stream());
        } else {
            kernels::sum_pages<kernels::bf16>(bits(emissions), values, lists, current_stream());
        }
        return check_launch("sum_pages");
    }
    const at::Tensor rows = emissions.view({-1, values});
    for (int64_t i = 0; i < count; ++i) {
        const int32_t *begin = sums.begin.const_data_ptr<int32_t>() + i,
                      *entries = sums.entries.const_data_ptr<int32_t>();
        at::Tensor page =
            at::from_blob(reinterpret_cast<void*>(sums.destinations.const_data_ptr<int64_t>()[i]), {values},
                          emissions.options().dtype(type));
        at::Tensor sum = at::zeros({values}, emissions.options().dtype(sum_type(emissions.scalar_type())));
        for (int32_t e = begin[0]; e < begin[1]; ++e) sum.add_(rows[entries[e]]);
        if (!sums.fresh.const_data_ptr<uint8_t>()[i]) sum.add_(page);
        page.copy_(sum);
    }
}

void add_page_rows(const PageRows& pages, at::ScalarType page_type, at::ScalarType row_type, int64_t columns,
                   int64_t stride, int64_t most_tokens) {
    const int64_t count = pages.sources.size(0);
    TORCH_CHECK(is_list(pages.sources, at::kLong, count) && is_list(pages.destinations, at::kLong, count) &&
                    is_list(pages.tokens, at::kInt, count),
                "add_page_rows: lists are int64, int64 and int32 for ", count, " pages");
    const int64_t* from = pages.sources.const_data_ptr<int64_t>();
    const int64_t* to = pages.destinations.const_data_ptr<int64_t>();
    const int32_t* tokens = pages.tokens.const_data_ptr<int32_t>();
    if (pages.sources.is_cuda()) {
        TORCH_CHECK(row_type == at::kBFloat16 && columns % 8 == 0 &&
                        (page_type == at::kBFloat16 || page_type == at::kFloat),
                    "add_page_rows: on a GPU rows are bf16, of a multiple of 8 values, pages bf16 or fp32");
        const kernels::PageRows lists{from, to, tokens, count, most_tokens};
        if (page_type == at::kFloat) {
            kernels::add_page_rows<float>(lists, columns, stride, current_stream());
        } else {
            kernels::add_page_rows<kernels::bf16>(lists, columns, stride, current_stream());
        }
        return check_launch("add_page_rows");
    }
    for (int64_t i = 0; i < count; ++i) {
        const at::Tensor page = at::from_blob(reinterpret_cast<void*>(from[i]), {tokens[i], columns},
                                              at::TensorOptions().dtype(page_type));
        at::Tensor rows = at::from_blob(reinterpret_cast<void*>(to[i]), {tokens[i], columns}, {stride, 1},
                                        at::TensorOptions().dtype(row_type));
        rows.add_(page);
    }
}

}  // namespace headroom::engine
