// Memory-bound ops as engine/run calls them, beside the bytes that sim/program counts for them.
#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "calibrate/work.h"
#include "decoder/attention.h"
#include "decoder/optimizer.h"
#include "decoder/pages.h"
#include "decoder/pointwise.h"
#include "decoder/reductions.h"
#include "decoder/selection.h"
#include "model/model.h"

namespace headroom::engine {
namespace {

constexpr int64_t kPage = 128, kBlock = 128, kSum = 4;

// One op under construction.
struct Build {
    const MemoryShape& shape;
    Operands& o;
    MemoryRow& row;
    const Dims& d = shape.dims;
    int64_t T = shape.tokens;
    int64_t e = static_cast<int64_t>(c10::elementSize(o.type()));

    bool gpu() const { return o.options().device().is_cuda(); }
    void says(int64_t rows, int64_t columns, int64_t bytes) {
        row.rows = rows;
        row.columns = columns;
        row.bytes = bytes;
    }
    at::Tensor scratch(int64_t columns) { return o.out({reduction_scratch_bytes(T, columns)}, at::kByte); }
    at::Tensor ids(int64_t below, at::ScalarType type) const {
        return at::randint(below, {T}, o.options().dtype(type));
    }
    // [T, heads, d] inside of rows of q, k and v.
    at::Tensor part(const at::Tensor& qkv, int64_t first, int64_t heads) const {
        return qkv.narrow(1, first, heads * d.head_dim).unflatten(1, {heads, d.head_dim});
    }
    RopeTable table() const {
        Model m;
        m.head_dim = d.head_dim;
        m.rope.theta = 1e6;
        return rope_table(m, {}, 0, T, o.options());
    }
};
using Work = std::function<void()>;

Work embed(Build& b) {
    b.says(b.T, b.d.hidden, 2 * b.T * b.d.hidden * b.e);
    const at::Tensor table = b.o.drawn({b.d.vocabulary, b.d.hidden}), ids = b.ids(b.d.vocabulary, at::kInt);
    return [=, out = b.o.out({b.T, b.d.hidden})]() mutable { at::index_select_out(out, table, 0, ids); };
}
Work embed_backward(Build& b) {
    b.says(b.T, b.d.hidden, b.T * b.d.hidden * (b.e + 2 * kSum));
    const at::Tensor rows = b.o.drawn({b.T, b.d.hidden}), ids = b.ids(b.d.vocabulary, at::kInt);
    return [=, table = b.o.sums({b.d.vocabulary, b.d.hidden})] { add_rows(ids, rows, table); };
}

Work norm(Build& b) {
    b.says(b.T, b.d.hidden, 2 * b.T * b.d.hidden * b.e);
    const at::Tensor x = b.o.drawn({b.T, b.d.hidden}), w = b.o.drawn({b.d.hidden}),
                     out = b.o.out({b.T, b.d.hidden});
    return [=] { rms_norm(x, w, 1e-6, out); };
}
Work post_norm(Build& b) {
    b.says(b.T, b.d.hidden, 3 * b.T * b.d.hidden * b.e);
    const at::Tensor x = b.o.drawn({b.T, b.d.hidden}), w = b.o.drawn({b.d.hidden}),
                     residual = b.o.drawn({b.T, b.d.hidden}), out = b.o.out({b.T, b.d.hidden});
    return [=] {
        out.copy_(residual);
        rms_norm(x, w, 1e-6, out, true);
    };
}
Work norm_backward(Build& b) {
    b.says(b.T, b.d.hidden, 4 * b.T * b.d.hidden * b.e);
    const at::Tensor x = b.o.drawn({b.T, b.d.hidden}), w = b.o.drawn({b.d.hidden}),
                     d = b.o.drawn({b.T, b.d.hidden}), dx = b.o.kept({b.T, b.d.hidden}),
                     dw = b.o.sums({b.d.hidden}), scratch = b.scratch(b.d.hidden);
    return [=] { rms_norm_backward(x, w, 1e-6, d, dx, true, dw, scratch); };
}

Work rope_op(Build& b, bool store) {
    b.says(b.T, b.d.qkv(), 2 * b.T * b.d.qkv() * b.e);
    const at::Tensor qkv = b.o.kept({b.T, b.d.qkv()}), q = b.part(qkv, 0, b.d.heads),
                     k = b.part(qkv, b.d.q(), b.d.kv_heads),
                     v = b.part(qkv, b.d.q() + b.d.kv(), b.d.kv_heads);
    const at::Tensor k_page = b.o.out(k.sizes()), v_page = b.o.out(v.sizes());
    return [=, table = b.table()] {
        rope(q, table, false);
        rope(k, table, false);
        if (!store) return;
        k_page.copy_(k);
        v_page.copy_(v);
    };
}
Work rope_backward(Build& b) {
    b.says(b.T, b.d.qkv(), b.T * (2 * b.d.qkv() * b.e + b.d.q() * kSum));
    const at::Tensor qkv = b.o.kept({b.T, b.d.qkv()}), q = b.part(qkv, 0, b.d.heads),
                     k = b.part(qkv, b.d.q(), b.d.kv_heads), sum = b.o.sums(q.sizes());
    return [=, table = b.table()] {
        q.add_(sum);
        rope(q, table, true);
        rope(k, table, true);
    };
}

Work merge(Build& b) {
    b.says(b.T, b.d.q(), b.T * (3 * b.d.q() * b.e + 3 * b.d.heads * kSum));
    const at::Tensor out = b.o.kept({b.T, b.d.heads, b.d.head_dim}), part = b.o.drawn(out.sizes());
    const at::Tensor lse = b.o.sums({b.d.heads, b.T}).t(), part_lse = b.o.sums({b.d.heads, b.T}).t();
    return [=] { attention_merge(out, lse, part, part_lse); };
}

Work activation(Build& b) {
    b.says(b.T, b.d.inner, 3 * b.T * b.d.inner * b.e);
    const at::Tensor in = b.o.drawn({b.T, 2 * b.d.inner}), out = b.o.out({b.T, b.d.inner});
    return [=] { swiglu(in, out); };
}
Work activation_backward(Build& b) {
    b.says(b.T, b.d.inner, 5 * b.T * b.d.inner * b.e);
    const at::Tensor in = b.o.kept({b.T, 2 * b.d.inner}), d = b.o.drawn({b.T, b.d.inner});
    return [=] { swiglu_backward(in, d); };
}

Work loss(Build& b) {
    b.says(b.T, b.d.vocabulary, 3 * b.T * b.d.vocabulary * b.e);
    const at::Tensor logits = b.o.kept({b.T, b.d.vocabulary}), targets = b.ids(b.d.vocabulary, at::kLong),
                     sum = at::zeros({}, b.o.options().dtype(at::kDouble)), scratch = b.scratch(64);
    return
        [=, scale = 1.0 / static_cast<double>(b.T)] { cross_entropy(logits, targets, scale, sum, scratch); };
}

Work page_means_op(Build& b) {
    b.says(b.T, b.d.kv(), b.T * b.d.kv() * b.e);
    const at::Tensor k = b.part(b.o.drawn({b.T, b.d.qkv()}), b.d.q(), b.d.kv_heads),
                     out = b.o.out({b.T / kPage, b.d.kv_heads, b.d.head_dim});
    return [=] { page_means(k, kPage, out); };
}
Work bias_gradient(Build& b) {
    b.says(b.T, b.d.qkv(), b.T * b.d.qkv() * b.e);
    const at::Tensor x = b.o.drawn({b.T, b.d.qkv()}), sums = b.o.sums({b.d.qkv()}),
                     scratch = b.scratch(b.d.qkv());
    return [=] { add_column_sums(x, sums, scratch); };
}
Work copy_op(Build& b) {
    b.says(b.T, b.d.hidden, 2 * b.T * b.d.hidden * b.e);
    const at::Tensor from = b.o.drawn({b.T, b.d.hidden}), to = b.o.out({b.T, b.d.hidden});
    return [=] { to.copy_(from); };
}
Work zero(Build& b) {
    const int64_t columns = 4 * b.d.hidden;
    b.says(b.T, columns, b.T * columns * kSum);
    const at::Tensor sums = b.o.out({b.T, columns}, at::kFloat);
    return [=] { sums.zero_(); };
}

// Sums of dK and dV in pages of fp32, or of the type of values; or the first of them, which is a copy.
Work accumulate(Build& b, bool add, bool wide) {
    const int64_t sum = wide ? kSum : b.e, values = b.T * b.d.kv();
    b.says(b.T, b.d.kv(), 2 * values * (b.e + sum * (add ? 2 : 1)));
    at::Tensor more[2], own[2];
    for (int half = 0; half < 2; ++half) {
        more[half] = b.o.drawn({b.T, b.d.kv_heads, b.d.head_dim});
        own[half] = wide ? b.o.sums(more[half].sizes()) : b.o.kept(more[half].sizes());
    }
    if (add) {
        return [a = own[0], c = own[1], x = more[0], y = more[1]] {
            a.add_(x);
            c.add_(y);
        };
    }
    return [a = own[0], c = own[1], x = more[0], y = more[1]] {
        a.copy_(x);
        c.copy_(y);
    };
}

// ---- pages that blocks of queries selected ----

// A GPU has a past of 1024 pages of which each block takes 64, as plans have it; a CPU less.
struct Pages {
    int64_t past, budget, page, blocks;
    explicit Pages(const Build& b)
        : past(b.gpu() ? 1024 : 16),
          budget(b.gpu() ? 64 : 4),
          page(b.gpu() ? kPage : 32),
          blocks(b.T / kBlock) {}
};

// Of each block, ascending; the same in every process.
at::Tensor selection_of(const Pages& p) {
    std::mt19937_64 dice(7);
    at::Tensor rows = at::empty({p.blocks, p.budget}, at::kInt);
    std::vector<int32_t> all(static_cast<size_t>(p.past));
    for (int64_t i = 0; i < p.blocks; ++i) {
        std::iota(all.begin(), all.end(), 0);
        for (size_t k = 0; k < static_cast<size_t>(p.budget); ++k)
            std::swap(all[k], all[k + dice() % (all.size() - k)]);
        std::sort(all.begin(), all.begin() + p.budget);
        std::copy_n(all.begin(), p.budget, rows.data_ptr<int32_t>() + i * p.budget);
    }
    return rows;
}

at::Tensor addresses(const at::Tensor& pages, const std::vector<int32_t>& which) {
    at::Tensor list = at::empty({static_cast<int64_t>(which.size())}, at::kLong);
    const int64_t first = reinterpret_cast<int64_t>(pages.data_ptr()),
                  bytes = pages.stride(0) * static_cast<int64_t>(pages.element_size());
    for (size_t i = 0; i < which.size(); ++i) list.data_ptr<int64_t>()[i] = first + which[i] * bytes;
    return list.to(pages.device());
}
std::vector<int32_t> up_to(int64_t count) {
    std::vector<int32_t> all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

Work gather(Build& b) {
    const Pages p(b);
    const int64_t values = p.page * b.d.kv(), keys = p.blocks * p.budget * p.page;
    b.says(keys, b.d.kv(), 4 * keys * b.d.kv() * b.e);
    const at::Tensor selection = selection_of(p);
    std::vector<int32_t> which(selection.data_ptr<int32_t>(),
                               selection.data_ptr<int32_t>() + selection.numel());
    std::vector<at::Tensor> from, to;
    for (int half = 0; half < 2; ++half) {
        from.push_back(addresses(b.o.drawn({p.past, values}), which));
        to.push_back(addresses(b.o.out({selection.numel(), values}), up_to(selection.numel())));
    }
    return [sources = at::cat(from), destinations = at::cat(to), bytes = values * b.e] {
        copy_pages(sources, destinations, bytes);
    };
}

Work sum_selected(Build& b) {
    const Pages p(b);
    const int64_t values = p.page * b.d.kv();
    const at::Tensor selection = selection_of(p);
    const EmissionsByPage by_page = emissions_by_page(selection);
    const auto distinct = static_cast<int64_t>(by_page.pages.size());
    b.says(distinct, values, 2 * selection.numel() * values * b.e + 2 * distinct * values * 2 * kSum);
    const at::Device device = b.o.options().device();
    std::vector<at::Tensor> emissions;
    std::vector<PageSums> sums;
    for (int half = 0; half < 2; ++half) {
        emissions.push_back(b.o.drawn({selection.numel(), p.page, b.d.kv_heads, b.d.head_dim}));
        sums.push_back({at::tensor(by_page.begin, at::kInt).to(device),
                        at::tensor(by_page.entries, at::kInt).to(device),
                        addresses(b.o.sums({p.past, values}), by_page.pages),
                        at::zeros({distinct}, at::TensorOptions().dtype(at::kByte).device(device))});
    }
    return [=] {
        for (size_t half = 0; half < 2; ++half) sum_pages(emissions[half], sums[half], at::kFloat);
    };
}

Work select(Build& b) {
    const Pages p(b);
    const int64_t past = 2 * p.past;
    b.says(b.T, past, 2 * b.T * b.d.kv_heads * past * kSum);
    const at::Tensor q = b.part(b.o.drawn({b.T, b.d.qkv()}), 0, b.d.heads),
                     means = b.o.drawn({past, b.d.kv_heads, b.d.head_dim});
    const at::Tensor scratch = b.o.out({select_scratch_bytes(b.T, b.d.kv_heads, past, kBlock)}, at::kByte);
    const at::Tensor chosen = b.o.out({p.blocks, p.budget}, at::kInt);
    return
        [=, choice = PageChoice{kBlock, p.budget, 1, 1}] { select_pages(q, means, choice, scratch, chosen); };
}

// ---- the optimizer, of `tokens` parameters ----

Work gradient_norm(Build& b) {
    b.says(b.T, 1, b.T * kSum);
    const at::Tensor g = b.o.sums({b.T}), sum = at::zeros({}, b.o.options().dtype(at::kDouble)),
                     scratch = b.o.out({reduction_scratch_bytes(1, 64)}, at::kByte);
    return [=] { add_squares(g, sum, scratch); };
}

Work update(Build& b, Optimizer kind, Dtype states, bool master) {
    Recipe recipe;
    recipe.optimizer = kind;
    recipe.states = states;
    recipe.master_weights = master;
    const at::Tensor weights = b.o.kept({b.T}), gradients = b.o.sums({b.T});
    const at::Tensor bytes = b.o.sums({3 * b.T + 1024}).view(at::kByte);
    const OptimizerState state = optimizer_state_in(recipe, b.T, bytes);
    int64_t held = 0;
    for (const at::Tensor& t :
         {state.master, state.first_scales, state.second_scales, state.first, state.second})
        held += t.defined() ? static_cast<int64_t>(t.nbytes()) : 0;
    if (state.second.defined() && state.second.is_floating_point()) state.second.abs_();
    b.says(b.T, 1, b.T * (2 * b.e + kSum) + 2 * held);
    kernels::OptimizerStep step;
    step.rate = 1e-4, step.beta1 = 0.9, step.beta2 = 0.95, step.epsilon = 1e-8, step.decay = 0.1;
    step.correction1 = 0.1, step.correction2 = 0.05;
    return [=] { optimizer_update(weights, gradients, state, 0, step); };
}

const std::map<std::string, std::function<Work(Build&)>>& kernels_by_name() {
    using B = Build;
    static const std::map<std::string, std::function<Work(Build&)>> all{
        {"embed", embed},
        {"embed_backward", embed_backward},
        {"norm", norm},
        {"post_norm", post_norm},
        {"norm_backward", norm_backward},
        {"rope", [](B& b) { return rope_op(b, false); }},
        {"rope.store", [](B& b) { return rope_op(b, true); }},
        {"rope_backward", rope_backward},
        {"merge", merge},
        {"activation", activation},
        {"activation_backward", activation_backward},
        {"loss", loss},
        {"page_means", page_means_op},
        {"bias_gradient", bias_gradient},
        {"copy", copy_op},
        {"zero", zero},
        {"accumulate_kv_gradients.add", [](B& b) { return accumulate(b, true, true); }},
        {"accumulate_kv_gradients.add_bf16", [](B& b) { return accumulate(b, true, false); }},
        {"accumulate_kv_gradients.copy", [](B& b) { return accumulate(b, false, true); }},
        {"accumulate_kv_gradients.sum", sum_selected},
        {"gather_pages", gather},
        {"select", select},
        {"gradient_norm", gradient_norm},
        {"update.adamw", [](B& b) { return update(b, Optimizer::adamw, Dtype::fp32, false); }},
        {"update.adamw_bf16", [](B& b) { return update(b, Optimizer::adamw, Dtype::bf16, false); }},
        {"update.adamw_master", [](B& b) { return update(b, Optimizer::adamw, Dtype::bf16, true); }},
        {"update.adamw8bit", [](B& b) { return update(b, Optimizer::adamw8bit, Dtype::fp32, false); }},
        {"update.sgd", [](B& b) { return update(b, Optimizer::sgd, Dtype::fp32, false); }},
    };
    return all;
}

}  // namespace

Timed memory_work(const MemoryShape& shape, Operands& operands, MemoryRow& row) {
    row.kernel = shape.kernel;
    const std::string name = shape.kernel + " of " + std::to_string(shape.tokens) + ", hidden " +
                             std::to_string(shape.dims.hidden);
    return built(name, [&]() -> Work {
        const auto found = kernels_by_name().find(shape.kernel);
        TORCH_CHECK(found != kernels_by_name().end(), "no kernel '", shape.kernel, "'");
        operands.begin();
        Build build{shape, operands, row};
        return found->second(build);
    });
}

std::function<void()> smallest_work(Operands& operands) {
    operands.begin();
    const at::Tensor x = operands.drawn({1, 256}), w = operands.drawn({256}), out = operands.out({1, 256});
    return [=] { rms_norm(x, w, 1e-6, out); };
}

}  // namespace headroom::engine
