#include "decoder/block_attention.h"

#include <algorithm>

#include "decoder/attention.h"
#include "decoder/graph_operands.h"
#include "decoder/on_gpu.h"

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
    const int64_t whole = q.size(0) / block;
    return q.is_cuda() && is_half(q) && whole > 1 ? whole : 0;
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

// ---- through cuDNN's graph API, in planned buffers ----

bool runs_on_graph(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& lse,
                   const BlockScratch& scratch) {
    return uses_cudnn_graph() && q.is_cuda() && is_half(q) && scratch.packed.defined() && fits_graph(q) &&
           fits_graph(k) && fits_graph(v) && lse.scalar_type() == at::kFloat;
}

// Some blocks of equal length: `count` from block `first` on, of `length` queries each.
struct Blocks {
    int64_t first, count, length;
    // Their rows of x [T, ...], as [count, length, ...].
    at::Tensor rows(const at::Tensor& x, int64_t block) const {
        return x.narrow(0, first * block, count * length).unflatten(0, {count, length});
    }
    at::Tensor keys(const at::Tensor& x) const { return x.narrow(0, first, count); }
};

// visit(blocks): the whole ones, then the ragged last one.
template <class Visit>
void in_equal_lengths(int64_t tokens, int64_t block, const Visit& visit) {
    const int64_t length = std::min(block, tokens), whole = tokens / length, rest = tokens - whole * length;
    visit(Blocks{0, whole, length});
    if (rest > 0) visit(Blocks{whole, 1, rest});
}

CudnnShape shape_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& out) {
    CudnnShape s;
    s.batch = q.size(0);
    s.queries = q.size(1);
    s.keys = k.size(1);
    s.heads = q.size(2);
    s.kv_heads = k.size(2);
    s.head_dim = q.size(3);
    s.bf16 = q.scalar_type() == at::kBFloat16;
    s.q = strides_of(q);
    s.k = strides_of(k);
    s.v = strides_of(v);
    s.out = strides_of(out);
    return s;
}

// One after the other in a planned buffer.
class Room {
public:
    explicit Room(const at::Tensor& bytes) : bytes_(bytes) {}
    at::Tensor take(at::IntArrayRef sizes, at::ScalarType type) {
        int64_t count = static_cast<int64_t>(c10::elementSize(type));
        for (const int64_t size : sizes) count *= size;
        TORCH_CHECK(at_ + count <= bytes_.numel(), "block attention: scratch of ", bytes_.numel(), " bytes, ",
                    at_ + count, " needed");
        const at::Tensor taken = bytes_.narrow(0, at_, count).view(type).view(sizes);
        at_ += count;
        return taken;
    }

private:
    at::Tensor bytes_;
    int64_t at_ = 0;
};

void forward_on_graph(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t block,
                      const at::Tensor& out, const at::Tensor& lse, const BlockScratch& scratch) {
    in_equal_lengths(q.size(0), block, [&](const Blocks& blocks) {
        const at::Tensor queries = blocks.rows(q, block), outputs = blocks.rows(out, block),
                         keys = blocks.keys(k), values = blocks.keys(v);
        const at::Tensor sums =
            Room(scratch.packed).take({blocks.count, q.size(1), blocks.length}, at::kFloat);
        check_done(cudnn_attention_forward(shape_of(queries, keys, values, outputs),
                                           {queries.data_ptr(), keys.data_ptr(), values.data_ptr(),
                                            outputs.data_ptr(), sums.data_ptr<float>()},
                                           scratch.forward.data_ptr(), scratch.forward.numel(),
                                           current_stream()));
        blocks.rows(lse, block).copy_(sums.transpose(1, 2));
    });
}

// [B, block, h, ...] <-> [B, block h / g, g, ...]: the heads of a group as further queries.
at::Tensor by_group(const at::Tensor& x, int64_t groups) {
    return x.unflatten(2, {groups, -1}).transpose(2, 3);  // [B, block, h / g, g, ...]
}

void backward_on_graph(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& out,
                       const at::Tensor& lse, const at::Tensor& d_out, int64_t block, const at::Tensor& dq,
                       bool add_dq, const at::Tensor& dk, const at::Tensor& dv, const BlockScratch& scratch) {
    const int64_t groups = k.size(2), per = q.size(1) / groups, dim = q.size(2);
    TORCH_CHECK(!scratch.is_packed || k.size(0) == 1, "block attention: ", k.size(0),
                " blocks that are packed");
    in_equal_lengths(q.size(0), block, [&](const Blocks& blocks) {
        Room room(scratch.packed);
        const auto pack = [&](const at::Tensor& x) {
            const at::Tensor packed =
                room.take({blocks.count, blocks.length, per, groups, dim}, q.scalar_type());
            if (!scratch.is_packed) packed.copy_(by_group(blocks.rows(x, block), groups));
            return packed.flatten(1, 2);
        };
        const at::Tensor queries = pack(q), outputs = pack(out), d_outputs = pack(d_out);
        const at::Tensor sums = room.take({blocks.count, groups, blocks.length, per}, at::kFloat);
        if (!scratch.is_packed) sums.permute({0, 2, 3, 1}).copy_(by_group(blocks.rows(lse, block), groups));
        const at::Tensor d_queries = scratch.dq.flatten()
                                         .narrow(0, 0, blocks.count * blocks.length * q.size(1) * dim)
                                         .view({blocks.count, blocks.length * per, groups, dim});
        const at::Tensor keys = blocks.keys(k), values = blocks.keys(v), d_keys = blocks.keys(dk),
                         d_values = blocks.keys(dv);
        CudnnShape shape = shape_of(queries, keys, values, outputs);
        shape.deterministic = scratch.deterministic;
        shape.d_out = strides_of(d_outputs);
        shape.dq = strides_of(d_queries);
        shape.dk = strides_of(d_keys);
        shape.dv = strides_of(d_values);
        check_done(cudnn_attention_backward(
            shape,
            {queries.data_ptr(), keys.data_ptr(), values.data_ptr(), outputs.data_ptr(), d_outputs.data_ptr(),
             sums.data_ptr<float>(), d_queries.data_ptr(), d_keys.data_ptr(), d_values.data_ptr()},
            scratch.backward.data_ptr(), scratch.backward.numel(), current_stream()));
        const at::Tensor into = by_group(blocks.rows(dq, block), groups),
                         part = d_queries.unflatten(1, {blocks.length, per});
        if (add_dq) {
            into.add_(part);
        } else {
            into.copy_(part);
        }
    });
}

}  // namespace

void block_attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t block,
                             at::Tensor out, at::Tensor lse, const BlockScratch& scratch) {
    check_blocks(q, k, block);
    if (runs_on_graph(q, k, v, lse, scratch)) return forward_on_graph(q, k, v, block, out, lse, scratch);
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
                              int64_t block, at::Tensor dq, bool add_dq, at::Tensor dk, at::Tensor dv,
                              const BlockScratch& scratch) {
    check_blocks(q, k, block);
    if (runs_on_graph(q, k, v, lse, scratch))
        return backward_on_graph(q, k, v, out, lse, d_out, block, dq, add_dq, dk, dv, scratch);
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
