#include "program/chunk_step.h"

#include <algorithm>
#include <vector>

#include "program/layer.h"
#include "program/page_traffic.h"
#include "program/parameters.h"
#include "program/past.h"
#include "program/ring.h"
#include "program/stager.h"

namespace headroom {
namespace {

class ChunkStep {
public:
    ChunkStep(const Plan& plan, const SelectionSet& selections, const LowerOptions& options)
        : plan_(plan),
          d_(plan.decisions),
          n_(plan.chunks()),
          layers_(plan.model.layer_count()),
          chunks_(options.of(n_)),
          builder_(expected_ops(), options.sizes_only),
          emitter_(plan, builder_, rank_tokens(std::min(d_.chunk.count(), plan.context.count())),
                   std::max(PastFlow::longest_call(plan), RingFlow::longest_call(plan))),
          parameters_(plan, builder_, emitter_),
          past_(plan, builder_, emitter_, all_moves(plan, selections, cache_pages(plan))),
          ring_(plan, builder_, emitter_) {
        builder_.stand(Tier::device, Category::libraries, plan.hardware.library_memory.count());
        make_buffers();
    }

    Program run() {
        parameters_.begin_step();
        for (int64_t s = 0; s < plan_.recipe.batch; ++s) {
            builder_.sequence = static_cast<uint8_t>(s);
            first_sequence_ = s == 0;
            past_.begin_sequence();
            fill_pass();
            gradient_pass();
        }
        parameters_.update();
        return builder_.finish();
    }

private:
    size_t expected_ops() const {
        return chunks_.size() * static_cast<size_t>(layers_ * plan_.recipe.batch) * 56 + 4096;
    }
    // Of `tokens` of a chunk those that this rank holds.
    int64_t rank_tokens(int64_t tokens) const { return ceil_div(tokens, d_.ring_ranks); }
    int64_t tokens_of(int64_t c) const { return rank_tokens(plan_.chunk_tokens(c)); }
    const Layer& layer(int64_t l) const { return plan_.model.layers[static_cast<size_t>(l)]; }

    void make_buffers() {
        builder_.buffer("token ids", Tier::device, Category::activations,
                        plan_.recipe.batch * rank_tokens(plan_.context.count()) * 4);
        const bool by_copy = d_.attention_outputs == AttentionOutputs::host;
        keep_ = d_.activations == Activations::keep;
        // One set for layers in flight; per layer what the backward pass needs.
        flight_ = emitter_.layer_buffers("");
        for (int64_t w = 0; w < d_.wavefront; ++w)
            hidden_.push_back(emitter_.hidden("hidden " + std::to_string(w)));
        dx_ = emitter_.hidden("d hidden");
        per_layer_.resize(static_cast<size_t>(layers_));
        for (int64_t l = 0; l < layers_; ++l) {
            const std::string suffix = " of layer " + std::to_string(l);
            LayerBuffers& b = per_layer_[static_cast<size_t>(l)];
            b = flight_;
            if (keep_) {
                b = emitter_.layer_buffers(suffix, by_copy);
                if (emitter_.tiled_mlp()) b.gate_up = flight_.gate_up;
                continue;
            }
            if (d_.activations == Activations::checkpoint_device) b.x = emitter_.hidden("x" + suffix);
            if (d_.attention_outputs != AttentionOutputs::recompute) {
                b.attention = emitter_.layer_buffers(suffix, by_copy).attention;
            }
        }
        const RankSizes& s = emitter_.sizes();
        const int64_t rows = tokens_of(0);
        output_bytes_ = rows * (s.q * s.element + s.heads * s.sum);
        hidden_bytes_ = rows * s.hidden * s.element;
        if (by_copy && n_ > 1) {
            output_slots_ = Stager(builder_, "attention outputs", Category::staging, output_bytes_,
                                   d_.wavefront + 1, d_.wavefront);
            output_pool_ = builder_.pool("host attention outputs", Tier::host, output_bytes_);
            loaded_by_.assign(static_cast<size_t>(layers_), kNone);
        }
        if (d_.attention_outputs == AttentionOutputs::device && n_ > 1) {
            output_pool_ = builder_.pool("attention outputs of the fill pass", Tier::device, output_bytes_);
        }
        if (d_.activations == Activations::checkpoint_host) {
            input_slots_ = Stager(builder_, "layer inputs", Category::staging, hidden_bytes_,
                                  d_.staging_slots, d_.prefetch);
            input_out_ = Stager(builder_, "layer inputs out", Category::staging, hidden_bytes_,
                                d_.staging_slots, d_.prefetch);
            input_pool_ = builder_.pool("host layer inputs", Tier::host, hidden_bytes_);
        }
    }

    void at(int64_t chunk, int64_t layer) {
        builder_.chunk = static_cast<uint32_t>(chunk);
        builder_.layer = layer < 0 ? kNoLayer : static_cast<uint16_t>(layer);
    }

    // ---- fill pass ----

    // The last chunk's keys are read by no other chunk: it needs no fill (unless the plan runs the head
    // there).
    int64_t filled_chunks() const { return d_.fill_head ? n_ : n_ - 1; }

    void fill_pass() {
        builder_.pass = Pass::fill;
        std::vector<int64_t> order;
        for (const int64_t c : chunks_) {
            if (c < filled_chunks()) order.push_back(c);
        }
        const int64_t width = d_.wavefront;
        for (size_t i = 0; i < order.size(); i += static_cast<size_t>(width)) {
            const int64_t group = std::min<int64_t>(width, static_cast<int64_t>(order.size() - i));
            // Chunk j of the group runs one layer behind chunk j - 1.
            for (int64_t step = 0; step < layers_ + group - 1; ++step) {
                for (int64_t j = 0; j < group; ++j) {
                    const int64_t l = step - j;
                    if (l >= 0 && l < layers_)
                        fill_layer(order[i + static_cast<size_t>(j)], l, hidden_[static_cast<size_t>(j)]);
                }
            }
        }
    }

    void fill_layer(int64_t c, int64_t l, BufferId x) {
        const int64_t tokens = tokens_of(c);
        const bool last = l + 1 == layers_, whole = !last || d_.fill_head;
        at(c, l);
        if (l == 0) embed(tokens, x);
        LayerBuffers b = flight_;
        b.x = x;
        b.x_mid = x;
        parameters_.need_layer(l);
        emitter_.await(past_.append_wait(l, c));
        OpId op = emitter_.project(layer(l), tokens, b);
        past_.append(c, l, op);
        past_.select(c, l);
        // The selection and the outputs of the last layer are needed where the gradient pass reuses them.
        const bool outputs = keeps_outputs(c);
        if (whole || outputs) {
            if (outputs && d_.attention_outputs == AttentionOutputs::host)
                emitter_.await(output_slots_.free_after());
            emitter_.attend_own(layer(l), tokens, b);
            past_.forward(c, l, false);
            if (outputs) store_outputs();
        }
        builder_.release(b.qkv, builder_.last_compute());
        emitter_.release_rotated(builder_.last_compute());
        if (!whole) {
            if (builder_.live(b.attention)) builder_.release(b.attention, builder_.last_compute());
            builder_.release(x, builder_.last_compute());
            parameters_.layer_done(builder_.last_compute());
            return;
        }
        op = emitter_.attention_out(layer(l), tokens, b, false);
        builder_.release(b.attention, op);
        emitter_.mlp(layer(l), tokens, b, x, false);
        parameters_.layer_done(builder_.last_compute());
        if (!last) return;
        at(c, -1);
        parameters_.need_head();
        emitter_.head(tokens, x, kNone, true);
        parameters_.head_done(builder_.last_compute());
        builder_.release(x, builder_.last_compute());
    }

    void embed(int64_t tokens, BufferId x) {
        parameters_.need_embedding(tokens);
        emitter_.embed(tokens, x);
        parameters_.embedding_done(builder_.last_compute());
    }

    // Whether the fill pass keeps this chunk's attention outputs (the last chunk has no fill pass).
    bool keeps_outputs(int64_t c) const {
        return c < n_ - 1 && (d_.attention_outputs == AttentionOutputs::host ||
                              d_.attention_outputs == AttentionOutputs::device);
    }

    void store_outputs() {
        const OpId done = builder_.last_compute();
        if (d_.attention_outputs == AttentionOutputs::device) {
            builder_.pool_take(output_pool_, Category::attention_outputs, 1, done);
            return;
        }
        const OpId op = builder_.op(Stream::to_host, OpKind::store_attention_outputs,
                                    builder_.work(copy(WorkKind::copy_to_host, output_bytes_, 2)), {done});
        builder_.pool_take(output_pool_, Category::attention_outputs, 1, op, done);
        output_slots_.used(op);
        outputs_stored_ = op;
    }

    // ---- gradient pass ----

    void gradient_pass() {
        builder_.pass = Pass::gradient;
        at(-1, -1);
        builder_.chunk = kNone;
        past_.begin_gradients();
        bool fresh = first_sequence_;
        for (auto it = chunks_.rbegin(); it != chunks_.rend(); ++it) {
            gradient_chunk(*it, fresh);
            fresh = false;
        }
    }

    void gradient_chunk(int64_t c, bool fresh) {
        const int64_t tokens = tokens_of(c);
        const BufferId top = hidden_[0];
        at(c, 0);
        embed(tokens, layer_input(0));
        for (int64_t l = 0; l < layers_; ++l) {
            at(c, l);
            gradient_forward(c, l, l + 1 < layers_ ? layer_input(l + 1) : top);
        }
        at(c, -1);
        parameters_.need_head();
        parameters_.begin_head_gradients(fresh);
        emitter_.head(tokens, top, dx_, false);
        parameters_.head_done(builder_.last_compute());
        parameters_.end_head_gradients(builder_.last_compute());
        for (int64_t l = layers_ - 1; l >= 0; --l) {
            at(c, l);
            gradient_backward(c, l, fresh);
        }
        at(c, -1);
        parameters_.begin_embedding_gradients();
        emitter_.embed_backward(tokens, dx_);
        parameters_.end_embedding_gradients(tokens, builder_.last_compute());
    }

    BufferId layer_input(int64_t l) const {
        return d_.activations == Activations::checkpoint_host ? flight_.x
                                                              : per_layer_[static_cast<size_t>(l)].x;
    }

    void gradient_forward(int64_t c, int64_t l, BufferId x_out) {
        const int64_t tokens = tokens_of(c);
        LayerBuffers b = per_layer_[static_cast<size_t>(l)];
        b.x = layer_input(l);
        parameters_.need_layer(l);
        if (d_.activations == Activations::checkpoint_host) store_input();
        emitter_.project(layer(l), tokens, b);
        if (!keeps_outputs(c) && c + 1 == n_ && !d_.fill_head) past_.select(c, l);
        attend(c, l, b, !(c + 1 == n_ && !d_.fill_head));
        emitter_.release_rotated(builder_.last_compute());
        if (!keep_) {
            builder_.release(b.qkv, builder_.last_compute());
            b.x_mid = flight_.x_mid;
        }
        const OpId out = emitter_.attention_out(layer(l), tokens, b, keep_);
        if (d_.activations == Activations::checkpoint_host) builder_.release(b.x, out);
        if (!keep_ && d_.attention_outputs == AttentionOutputs::recompute) builder_.release(b.attention, out);
        emitter_.mlp(layer(l), tokens, b, x_out, keep_);
        if (!keep_) builder_.release(b.x_mid, builder_.last_compute());
        parameters_.layer_done(builder_.last_compute());
    }

    // The attention output of the chunk: from the fill pass, or computed.
    void attend(int64_t c, int64_t l, const LayerBuffers& b, bool known) {
        const size_t li = static_cast<size_t>(l);
        if (!keeps_outputs(c)) {
            emitter_.attend_own(layer(l), tokens_of(c), b);
            past_.forward(c, l, known);
            ring_.forward(layer(l), tokens_of(c));
            return;
        }
        if (d_.attention_outputs == AttentionOutputs::host) {
            // Each layer has a buffer of its own, free again once its backward pass is over.
            emitter_.await(builder_.op(Stream::to_device, OpKind::load_attention_outputs,
                                       builder_.work(copy(WorkKind::copy_to_device, output_bytes_, 2)),
                                       {loaded_by_[li], outputs_stored_}));
            return;
        }
        const OpId op =
            emitter_.compute(OpKind::merge, builder_.work(memory_bound(2 * output_bytes_, Kernel::copy)));
        builder_.take(b.attention, op);
        builder_.pool_free(output_pool_, Category::attention_outputs, 1, op);
    }

    void store_input() {
        const OpId copied =
            emitter_.compute(OpKind::merge, builder_.work(memory_bound(2 * hidden_bytes_, Kernel::copy)),
                             input_out_.free_after());
        const OpId op = builder_.op(Stream::to_host, OpKind::store_activations,
                                    builder_.work(copy(WorkKind::copy_to_host, hidden_bytes_, 1)), {copied});
        builder_.pool_take(input_pool_, Category::activations, 1, op, copied);
        input_out_.used(op);
        input_stored_ = op;
    }

    void gradient_backward(int64_t c, int64_t l, bool fresh) {
        const int64_t tokens = tokens_of(c);
        LayerBuffers b = per_layer_[static_cast<size_t>(l)];
        parameters_.need_layer(l);
        parameters_.begin_layer_gradients(l, fresh);
        if (!keep_) recompute(c, l, b);
        emitter_.mlp_backward(layer(l), tokens, b);
        if (keep_) emitter_.rotate_again(layer(l), tokens);
        emitter_.own_attention_backward(layer(l), tokens, b);
        past_.backward(c, l);
        ring_.backward(layer(l), tokens);
        past_.own_gradients(c, l);
        const OpId op = emitter_.project_backward(layer(l), tokens, b);
        past_.close(c, l, op);
        parameters_.layer_done(op);
        parameters_.end_layer_gradients(l, op);
        if (d_.attention_outputs == AttentionOutputs::host && n_ > 1) {
            if (keeps_outputs(c)) builder_.pool_free(output_pool_, Category::attention_outputs, 1, op);
            loaded_by_[static_cast<size_t>(l)] = op;
        }
        if (d_.activations == Activations::checkpoint_host) {
            builder_.pool_free(input_pool_, Category::activations, 1, op);
            input_slots_.used(op);
        }
    }

    // The layer's forward once more, as far as its backward pass needs it.
    void recompute(int64_t c, int64_t l, LayerBuffers& b) {
        const int64_t tokens = tokens_of(c);
        if (d_.activations == Activations::checkpoint_host) {
            const OpId arrived = input_slots_.load(
                Stream::to_device, OpKind::load_activations,
                builder_.work(copy(WorkKind::copy_to_device, hidden_bytes_, 1)), input_stored_);
            emitter_.await(arrived);
            b.x = kNone;  // read from its slot
        }
        emitter_.project(layer(l), tokens, b);
        if (d_.attention_outputs == AttentionOutputs::recompute) {
            emitter_.attend_own(layer(l), tokens, b);
            past_.forward(c, l, true);
            ring_.forward(layer(l), tokens);
        }
        emitter_.attention_out(layer(l), tokens, b, true);
        emitter_.mlp_again(layer(l), tokens, b);
    }

    const Plan& plan_;
    const Decisions& d_;
    int64_t n_, layers_;
    std::vector<int64_t> chunks_;
    StepBuilder builder_;
    LayerEmitter emitter_;
    ParameterFlow parameters_;
    PastFlow past_;
    RingFlow ring_;
    bool keep_ = true, first_sequence_ = true;
    LayerBuffers flight_;
    std::vector<LayerBuffers> per_layer_;
    std::vector<BufferId> hidden_;
    BufferId dx_ = kNone;
    int64_t output_bytes_ = 0, hidden_bytes_ = 0;
    Stager output_slots_, input_slots_, input_out_;
    PoolId output_pool_ = 0, input_pool_ = 0;
    std::vector<OpId> loaded_by_;  // by layer: last user of its attention-output buffer
    OpId outputs_stored_ = kNone, input_stored_ = kNone;
};

}  // namespace

Program chunk_step(const Plan& plan, const SelectionSet& selections, const LowerOptions& options) {
    return ChunkStep(plan, selections, options).run();
}

}  // namespace headroom
