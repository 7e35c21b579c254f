#include "hardware/work.h"

#include <algorithm>
#include <array>

namespace headroom {
namespace {

constexpr int64_t kHalf = 2;    // bytes of a bf16 element
constexpr int64_t kSingle = 4;  // bytes of an fp32 element

template <class... Factors>
int64_t product(Factors... factors) {
    int64_t result = 1;
    ((result = checked_mul(result, factors)), ...);
    return result;
}

// Keys that the queries of one block see, summed over the queries.
int64_t visible_keys(bool causal, int64_t queries, int64_t keys) {
    if (!causal) return product(queries, keys);
    // The mask is aligned at the bottom right: the last query sees all keys, each one before it one key less.
    const int64_t rows = std::min(queries, keys);
    return checked_add(product(rows, keys - rows), product(rows, rows + 1) / 2);
}

}  // namespace

std::string_view name_of(WorkKind kind) {
    switch (kind) {
        case WorkKind::none:
            return "none";
        case WorkKind::gemm:
            return "gemm";
        case WorkKind::gemm_accumulate:
            return "gemm_accumulate";
        case WorkKind::attention_forward:
            return "attention_forward";
        case WorkKind::attention_backward:
            return "attention_backward";
        case WorkKind::attention_backward_deterministic:
            return "attention_backward_deterministic";
        case WorkKind::memory_bound:
            return "memory_bound";
        case WorkKind::copy_to_device:
            return "copy_to_device";
        case WorkKind::copy_to_host:
            return "copy_to_host";
        case WorkKind::peer:
            return "peer";
        case WorkKind::all_reduce:
            return "all_reduce";
        case WorkKind::all_gather:
            return "all_gather";
        case WorkKind::reduce_scatter:
            return "reduce_scatter";
        case WorkKind::disk_read:
            return "disk_read";
        case WorkKind::disk_write:
            return "disk_write";
        case WorkKind::count_:
            break;
    }
    return "unknown";
}

std::string_view name_of(PageCopy copy) {
    switch (copy) {
        case PageCopy::loop:
            return "loop";
        case PageCopy::batch:
            return "batch";
        case PageCopy::gather:
            return "gather";
    }
    return "unknown";
}

std::string_view name_of(Kernel kernel) {
    constexpr std::array<std::string_view, kKernels> kNames{"other",
                                                            "embed",
                                                            "norm",
                                                            "post_norm",
                                                            "norm_backward",
                                                            "rope",
                                                            "rope_store",
                                                            "rope_backward",
                                                            "merge",
                                                            "activation",
                                                            "activation_backward",
                                                            "page_means",
                                                            "select",
                                                            "embed_backward",
                                                            "copy",
                                                            "zero",
                                                            "pack_queries",
                                                            "gather_pages",
                                                            "accumulate_copy",
                                                            "accumulate_add",
                                                            "accumulate_add_bf16",
                                                            "accumulate_sum",
                                                            "loss",
                                                            "gradient_norm",
                                                            "update_sgd",
                                                            "update_adamw",
                                                            "update_adamw_bf16",
                                                            "update_adamw_master",
                                                            "update_adamw8bit"};
    return kernel < Kernel::count_ ? kNames[static_cast<size_t>(kernel)] : "unknown";
}

Work gemm(int64_t m, int64_t n, int64_t k, int32_t batch) {
    Work w;
    w.kind = WorkKind::gemm;
    w.batch = batch;
    w.m = m, w.n = n, w.k = k;
    w.flops = product(2, batch, m, n, k);
    w.bytes = product(kHalf, batch, checked_add(checked_add(product(m, k), product(n, k)), product(m, n)));
    return w;
}

Work gemm_accumulate(int64_t m, int64_t n, int64_t k, int32_t batch) {
    Work w = gemm(m, n, k, batch);
    w.kind = WorkKind::gemm_accumulate;
    const int64_t operands = product(kHalf, batch, checked_add(product(m, k), product(n, k)));
    w.bytes = checked_add(operands, product(2, kSingle, batch, m, n));
    return w;
}

Work attention(bool backward, bool deterministic, bool causal, int64_t queries, int64_t keys, int32_t heads,
               int32_t kv_heads, int32_t head_dim, int32_t calls, int64_t keys_seen) {
    Work w;
    w.kind = !backward       ? WorkKind::attention_forward
             : deterministic ? WorkKind::attention_backward_deterministic
                             : WorkKind::attention_backward;
    w.causal = causal;
    w.batch = calls;
    w.heads = heads, w.kv_heads = kv_heads, w.head_dim = head_dim;
    w.m = queries, w.n = keys;
    const int64_t seen = keys_seen > 0 ? keys_seen : product(calls, visible_keys(causal, queries, keys));
    // Forward: Q K^T and P V. Backward: both products' two gradients, and Q K^T once more: 5 for 2.
    w.flops = product(backward ? 10 : 4, seen, heads, head_dim);
    const int64_t query_side = product(kHalf, calls, queries, heads, head_dim);  // Q, O, dQ or dO
    const int64_t key_side = product(kHalf, calls, keys, kv_heads, head_dim);    // K, V, dK or dV
    const int64_t log_sum_exp = product(kSingle, calls, queries, heads);
    w.bytes = checked_add(
        checked_add(product(backward ? 4 : 2, query_side), product(backward ? 4 : 2, key_side)), log_sum_exp);
    return w;
}

Work block_attention(bool backward, bool deterministic, int64_t queries, int64_t keys, int32_t heads,
                     int32_t kv_heads, int32_t head_dim, int32_t blocks) {
    // As many calls, but at once.
    Work w = attention(backward, deterministic, false, queries, keys, heads, kv_heads, head_dim, blocks);
    w.batch = 1;
    w.blocks = blocks;
    return w;
}

int64_t packed_bytes(int64_t tokens, int64_t heads, int64_t head_dim, int64_t element) {
    return product(2, 3, tokens, heads, head_dim, element);
}

Work memory_bound(int64_t bytes, Kernel kernel, int64_t rows) {
    Work w;
    w.kind = WorkKind::memory_bound;
    w.kernel = kernel;
    w.m = rows;
    w.bytes = bytes;
    return w;
}

Work copy(WorkKind direction, int64_t bytes, int64_t pieces, PageCopy how) {
    Work w;
    w.kind = direction;
    w.copy = how;
    w.pieces = pieces;
    w.bytes = bytes;
    return w;
}

Work collective(WorkKind kind, int64_t bytes, int32_t ranks) {
    Work w;
    w.kind = kind;
    w.ranks = ranks;
    w.bytes = bytes;
    return w;
}

Work disk(WorkKind direction, int64_t bytes) {
    Work w;
    w.kind = direction;
    w.bytes = bytes;
    return w;
}

}  // namespace headroom
