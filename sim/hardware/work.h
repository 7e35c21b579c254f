// A piece of work as the cost model sees it: what kind, which shape, how many bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "base/units.h"

namespace headroom {

// What an op keeps busy. Each kind belongs to one resource class (see Sharing).
enum class WorkKind : uint8_t {
    none,               // nothing to do (an op that exists for its dependencies): 0 ns
    gemm,               // C[m,n] = A[m,k] B[n,k]^T
    gemm_accumulate,    // weight gradient, fp32 sum: C[m,n] += A[k,m]^T B[k,n]
    attention_forward,  // q queries x kv keys, `heads` query heads over `kv_heads`
    attention_backward,
    attention_backward_deterministic,
    memory_bound,    // elementwise, norms, gathers: bytes over device bandwidth
    copy_to_device,  // host -> device over the host link
    copy_to_host,    // device -> host
    peer,            // device -> device over the peer link: point to point, full duplex
    all_reduce,      // ring algorithm over `ranks`: 2 (r - 1) / r of `bytes` each way
    all_gather,      // (r - 1) / r of `bytes` (the gathered size)
    reduce_scatter,  // the same
    disk_read,       // disk -> host
    disk_write,      // host -> disk
    count_
};

// How scattered pages travel over the host link.
enum class PageCopy : uint8_t {
    loop,    // one copy call per piece
    batch,   // one batched copy call of all pieces (copy engine)
    gather,  // a kernel that reads or writes pinned memory (takes SMs)
};

// Memory-bound ops by the kernels that they run: each reaches its own share of the bandwidth.
enum class Kernel : uint8_t {
    other,  // none of those below: the device's memory_efficiency
    embed,
    norm,
    post_norm,
    norm_backward,
    rope,
    rope_store,  // and K and V into their pages
    rope_backward,
    merge,
    activation,
    activation_backward,
    page_means,
    select,
    embed_backward,
    copy,
    zero,
    pack_queries,  // the heads of a group as further queries, before attention backward
    gather_pages,
    accumulate_copy,  // gradient pages: the first sums of a page
    accumulate_add,
    accumulate_add_bf16,
    accumulate_sum,  // sorted segments of selected pages
    loss,
    gradient_norm,
    update_sgd,
    update_adamw,
    update_adamw_bf16,    // bf16 states
    update_adamw_master,  // fp32 master weights
    update_adamw8bit,
    count_
};
inline constexpr size_t kKernels = static_cast<size_t>(Kernel::count_);

// Contract: equal Works have equal cost; fields that a kind does not use are zero.
struct Work {
    WorkKind kind = WorkKind::none;
    PageCopy copy = PageCopy::batch;  // host-link kinds only
    bool causal = false;              // attention: only keys at or before the query
    Kernel kernel = Kernel::other;    // memory_bound only
    int32_t batch = 1;                // kernels: equal calls, one after the other
    int32_t blocks = 1;               // attention: query blocks of one call, each with keys of its own
    int32_t heads = 0, kv_heads = 0, head_dim = 0;  // attention
    int32_t ranks = 1;                              // collectives
    int64_t m = 0, n = 0, k = 0;  // gemm; attention: m = queries, n = keys; memory_bound: m = rows
    int64_t pieces = 0;           // copies: contiguous pieces of bytes / pieces each
    int64_t bytes = 0;            // bytes moved (attention and gemm: operands and result once)
    int64_t packed = 0;           // attention backward: bytes that are read and written to pack its queries
    int64_t flops = 0;            // floating-point operations, a multiply-add counts 2
    auto operator<=>(const Work&) const = default;
};

std::string_view name_of(WorkKind kind);
std::string_view name_of(PageCopy copy);
std::string_view name_of(Kernel kernel);  // the key in a hardware file: "norm_backward"

// Constructors that fill flops and bytes. Operands are bf16 where nothing else is said.
Work gemm(int64_t m, int64_t n, int64_t k, int32_t batch = 1);
Work gemm_accumulate(int64_t m, int64_t n, int64_t k, int32_t batch = 1);  // adds fp32 read + write of C
// `keys_seen`: sum over queries of visible keys; 0 = all (causal: the lower triangle incl. diagonal, q = kv).
Work attention(bool backward, bool deterministic, bool causal, int64_t queries, int64_t keys, int32_t heads,
               int32_t kv_heads, int32_t head_dim, int32_t calls = 1, int64_t keys_seen = 0);
// One call of `blocks` blocks of `queries` queries, each with `keys` keys of its own.
Work block_attention(bool backward, bool deterministic, int64_t queries, int64_t keys, int32_t heads,
                     int32_t kv_heads, int32_t head_dim, int32_t blocks);
// Bytes read and written to pack q, out and d_out of so many tokens, `element` bytes a value.
int64_t packed_bytes(int64_t tokens, int64_t heads, int64_t head_dim, int64_t element);
// `rows`: tokens (or pages, parameters) that the kernel goes over.
Work memory_bound(int64_t bytes, Kernel kernel = Kernel::other, int64_t rows = 0);
Work copy(WorkKind direction, int64_t bytes, int64_t pieces, PageCopy how = PageCopy::batch);
Work collective(WorkKind kind, int64_t bytes, int32_t ranks);
Work disk(WorkKind direction, int64_t bytes);

}  // namespace headroom
