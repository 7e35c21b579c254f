#include "decoder/block_attention.h"

#include <algorithm>

#include "decoder/attention.h"

namespace headroom::engine {
namespace {

// The first rows of x [T, h, d] or [T, h], as [B, block, g, h / g, ...].
at::Tensor in_blocks(const at::Tensor& x, int64_t blocks, int64_t block, int64_t groups) {
    return x.narrow(0, 0, blocks * block).unflatten(0, {blocks, block}).unflatten(2, {groups, -1});
}
// [B, block, g, h / g, ...] -> [B, g, block * h / g, ...], dense: the heads of a group as further queries.
at::Tensor packed(const at::Tensor& x) {
    return x.transpose(1, 2).flatten(2, 3).contiguous();
}
at::Tensor unpacked(const at::Tensor& x, int64_t block) {
    return x.unflatten(2, {block, -1}).transpose(1, 2);
}

// Blocks that one call of the library takes: all that are whole, if there are several.
int64_t batched_blocks(const at::Tensor& q, int64_t block) {
    const bool half = q.scalar_type() == at::kBFloat16 || q.scalar_type() == at::kHalf;
    const int64_t whole = q.size(0) / block;
    return q.is_cuda() && half && whole > 1 ? whole : 0;
}

// A block whose keys are all seen.
Span none_hidden(const at::Tensor& k) {
    return {k.size(1), 0, 0};
}

// visit(block, first query, queries) of blocks [first, B).
template <class Visit>
void each_block(const at::Tensor& q, int64_t block, int64_t first, const Visit& visit) {
    for (int64_t at = first * block; at < q.size(0); at += block)
        visit(at / block, at, std::min(block, q.size(0) - at));
}

void check_blocks(const at::Tensor& q, const at::Tensor& k, int64_t block) {
    TORCH_CHECK(block > 0 && k.dim() == 4 && k.size(0) == (q.size(0) + block - 1) / block,
                "block attention: keys ", k.sizes(), " for ", q.size(0), " queries in blocks of ", block);
}

}  // namespace

void block_attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t block,
                             at::Tensor out, at::Tensor lse) {
    check_blocks(q, k, block);
    const int64_t batched = batched_blocks(q, block);
    if (batched > 0) {
        const auto heads_first = [&](const at::Tensor& x) {
            return in_blocks(x, batched, block, 1).squeeze(2).transpose(1, 2);
        };
        const auto keys = [&](const at::Tensor& x) { return x.narrow(0, 0, batched).transpose(1, 2); };
        const auto result =
            at::_scaled_dot_product_cudnn_attention(heads_first(q), keys(k), keys(v), {}, true, 0.0, false);
        heads_first(out).copy_(std::get<0>(result));
        heads_first(lse).copy_(std::get<1>(result).view({batched, q.size(1), block}));
    }
    each_block(q, block, batched, [&](int64_t b, int64_t at, int64_t count) {
        attention_forward(q.narrow(0, at, count), k[b], v[b], none_hidden(k), out.narrow(0, at, count),
                          lse.narrow(0, at, count));
    });
}

void block_attention_backward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const at::Tensor& out, const at::Tensor& lse, const at::Tensor& d_out,
                              int64_t block, at::Tensor dq, bool add_dq, at::Tensor dk, at::Tensor dv) {
    check_blocks(q, k, block);
    const int64_t batched = batched_blocks(q, block), groups = k.size(2);
    if (batched > 0) {
        const auto pack = [&](const at::Tensor& x) { return packed(in_blocks(x, batched, block, groups)); };
        const auto keys = [&](const at::Tensor& x) { return x.narrow(0, 0, batched).transpose(1, 2); };
        const at::Tensor queries = pack(q), philox = at::zeros({}, q.options().dtype(at::kLong));
        const auto [d_q, d_k, d_v] = at::_scaled_dot_product_cudnn_attention_backward(
            pack(d_out), queries, keys(k), keys(v), pack(out), pack(lse).unsqueeze(-1), philox, philox, {},
            {}, {}, queries.size(2), k.size(1), 0.0, false);
        const at::Tensor sums = in_blocks(dq, batched, block, groups);
        if (add_dq) {
            sums.add_(unpacked(d_q, block));
        } else {
            sums.copy_(unpacked(d_q, block));
        }
        keys(dk).copy_(d_k);
        keys(dv).copy_(d_v);
    }
    each_block(q, block, batched, [&](int64_t b, int64_t at, int64_t count) {
        attention_backward(q.narrow(0, at, count), k[b], v[b], out.narrow(0, at, count),
                           lse.narrow(0, at, count), d_out.narrow(0, at, count), none_hidden(k),
                           dq.narrow(0, at, count), add_dq, dk[b], dv[b]);
    });
}

}  // namespace headroom::engine
