#include "program/layer_step.h"

#include <algorithm>
#include <vector>

#include "program/layer.h"
#include "program/parameters.h"
#include "program/past.h"
#include "program/stager.h"

namespace headroom {
namespace {

class LayerStep {
public:
    LayerStep(const Plan& plan, const LowerOptions& options)
        : plan_(plan),
          n_(plan.chunks()),
          layers_(plan.model.layer_count()),
          on_host_(plan.decisions.activations == Activations::checkpoint_host),
          chunks_(options.of(n_)),
          builder_(expected_ops(), options.sizes_only),
          emitter_(plan, builder_, std::min(plan.decisions.chunk.count(), plan.context.count()),
                   PastFlow::longest_call(plan)),
          parameters_(plan, builder_, emitter_),
          past_(plan, builder_, emitter_, nullptr) {
        builder_.stand(Tier::device, Category::libraries, plan.hardware.library_memory.count());
        builder_.buffer("token ids", Tier::device, Category::activations,
                        plan.recipe.batch * plan.context.count() * 4);
        const int64_t rows = std::min(plan.decisions.chunk.count(), plan.context.count());
        hidden_bytes_ = rows * emitter_.sizes().hidden * emitter_.sizes().element;
        buffers_ = emitter_.layer_buffers("");
        top_ = emitter_.hidden("hidden");
        dx_ = emitter_.hidden("d hidden");
        hidden_pool_ = builder_.pool("hidden states", on_host_ ? Tier::host : Tier::device, hidden_bytes_);
        stored_x_.assign(static_cast<size_t>(n_), kNone);
        if (on_host_) {
            const int64_t slots = plan.decisions.staging_slots, ahead = plan.decisions.prefetch;
            in_ = Stager(builder_, "hidden states in", Category::staging, hidden_bytes_, slots, ahead);
            out_ = Stager(builder_, "hidden states out", Category::staging, hidden_bytes_, slots, ahead);
            dx_in_ = Stager(builder_, "hidden gradients in", Category::staging, hidden_bytes_, slots, ahead);
            stored_dx_.assign(static_cast<size_t>(n_), kNone);
        }
    }

    Program run() {
        parameters_.begin_step();
        for (int64_t s = 0; s < plan_.recipe.batch; ++s) {
            builder_.sequence = static_cast<uint8_t>(s);
            first_sequence_ = s == 0;
            past_.begin_sequence();
            builder_.pass = Pass::fill;
            embed_all();
            for (int64_t l = 0; l < layers_; ++l) forward_layer(l);
            builder_.pass = Pass::gradient;
            head_all();
            for (int64_t l = layers_ - 1; l >= 0; --l) backward_layer(l);
            embed_backward_all();
        }
        parameters_.update();
        return builder_.finish();
    }

private:
    size_t expected_ops() const {
        return chunks_.size() * static_cast<size_t>(layers_ * plan_.recipe.batch) * 56 + 4096;
    }
    const Layer& layer(int64_t l) const { return plan_.model.layers[static_cast<size_t>(l)]; }
    void at(int64_t chunk, int64_t layer) {
        builder_.chunk = chunk < 0 ? kNone : static_cast<uint32_t>(chunk);
        builder_.layer = layer < 0 ? kNoLayer : static_cast<uint16_t>(layer);
    }
    uint32_t hidden_copy(WorkKind direction) { return builder_.work(copy(direction, hidden_bytes_, 1)); }

    // Brings hidden state (or its gradient) `slot` of chunk c to where compute reads it; the buffer is taken.
    void bring(Stager& stager, BufferId to, OpId stored) {
        if (on_host_) {
            emitter_.await(stager.load(Stream::to_device, OpKind::load_activations,
                                       hidden_copy(WorkKind::copy_to_device), stored));
        }
        // Out of the slot (or the pool), so that the slot is free for the next.
        const OpId op =
            emitter_.compute(OpKind::merge, builder_.work(memory_bound(2 * hidden_bytes_, Kernel::copy)));
        builder_.take(to, op);
        if (on_host_) stager.used(op);
    }
    // Puts the hidden state away; a place of its own if `fresh`. Returns the op after which it can be read.
    OpId put(bool fresh) {
        const OpId op =
            emitter_.compute(OpKind::merge, builder_.work(memory_bound(2 * hidden_bytes_, Kernel::copy)),
                             on_host_ ? out_.free_after() : kNone);
        if (!on_host_) {
            if (fresh) builder_.pool_take(hidden_pool_, Category::activations, 1, op);
            return kNone;
        }
        const OpId stored = builder_.op(Stream::to_host, OpKind::store_activations,
                                        hidden_copy(WorkKind::copy_to_host), {op});
        if (fresh) builder_.pool_take(hidden_pool_, Category::activations, 1, stored, op);
        out_.used(stored);
        return stored;
    }

    void embed_all() {
        for (const int64_t c : chunks_) {
            at(c, -1);
            const int64_t tokens = plan_.chunk_tokens(c);
            parameters_.need_embedding(tokens);
            emitter_.embed(tokens, top_);
            parameters_.embedding_done(builder_.last_compute());
            stored_x_[static_cast<size_t>(c)] = put(true);
            builder_.release(top_, builder_.last_compute());
        }
    }

    void forward_layer(int64_t l) {
        at(-1, l);
        parameters_.need_layer(l);
        for (const int64_t c : chunks_) {
            at(c, l);
            const int64_t tokens = plan_.chunk_tokens(c);
            bring(in_, buffers_.x, stored_x_[static_cast<size_t>(c)]);
            past_.append(c, l, emitter_.project(layer(l), tokens, buffers_));
            attend(c, l);
            builder_.release(buffers_.qkv, builder_.last_compute());
            emitter_.release_rotated(builder_.last_compute());
            const OpId op = emitter_.attention_out(layer(l), tokens, buffers_, false);
            builder_.release(buffers_.attention, op);
            builder_.release(buffers_.x, op);
            emitter_.mlp(layer(l), tokens, buffers_, top_, false);
            builder_.release(buffers_.x_mid, builder_.last_compute());
            stored_x_[static_cast<size_t>(c)] = put(true);
            builder_.release(top_, builder_.last_compute());
        }
        const OpId last = builder_.last_compute();
        past_.drop_layer(l, chunks_, last);
        parameters_.layer_done(last);
    }

    void attend(int64_t c, int64_t l) {
        emitter_.attend_own(layer(l), plan_.chunk_tokens(c), buffers_);
        past_.forward(c, l, true);
    }

    void head_all() {
        at(-1, -1);
        parameters_.need_head();
        parameters_.begin_head_gradients(first_sequence_);
        for (const int64_t c : chunks_) {
            at(c, -1);
            bring(in_, top_, stored_x_[static_cast<size_t>(c)]);
            emitter_.head(plan_.chunk_tokens(c), top_, dx_, false);
            put_gradient(c);  // in the place of the last layer's output
        }
        parameters_.head_done(builder_.last_compute());
        parameters_.end_head_gradients(builder_.last_compute());
    }

    void put_gradient(int64_t c) {
        const OpId stored = put(false);
        if (on_host_) stored_dx_[static_cast<size_t>(c)] = stored;
        builder_.release(dx_, builder_.last_compute());
    }
    OpId gradient_stored(int64_t c) const { return on_host_ ? stored_dx_[static_cast<size_t>(c)] : kNone; }

    void backward_layer(int64_t l) {
        at(-1, l);
        parameters_.need_layer(l);
        parameters_.begin_layer_gradients(l, first_sequence_);
        // The inputs of this layer were stored in the forward pass, all before its first backward op.
        for (const int64_t c : chunks_) {
            if (c + 1 == n_) break;  // no later chunk reads its keys
            at(c, l);
            bring(in_, buffers_.x, kNone);
            past_.append(c, l, emitter_.project_kv(layer(l), plan_.chunk_tokens(c), buffers_));
            builder_.release(buffers_.x, builder_.last_compute());
        }
        for (auto it = chunks_.rbegin(); it != chunks_.rend(); ++it) backward_chunk(*it, l);
        parameters_.layer_done(builder_.last_compute());
        parameters_.end_layer_gradients(l, builder_.last_compute());
    }

    void backward_chunk(int64_t c, int64_t l) {
        at(c, l);
        const int64_t tokens = plan_.chunk_tokens(c);
        bring(in_, buffers_.x, kNone);
        emitter_.project(layer(l), tokens, buffers_);
        attend(c, l);
        emitter_.attention_out(layer(l), tokens, buffers_, true);
        emitter_.mlp_again(layer(l), tokens, buffers_);
        bring(dx_in_, dx_, gradient_stored(c));
        emitter_.mlp_backward(layer(l), tokens, buffers_);
        emitter_.own_attention_backward(layer(l), tokens, buffers_);
        past_.backward(c, l);
        past_.own_gradients(c, l);
        const OpId op = emitter_.project_backward(layer(l), tokens, buffers_);
        past_.close(c, l, op);
        put_gradient(c);
        // The layer's input is not needed any more; its gradient stands in the place of its output.
        builder_.pool_free(hidden_pool_, Category::activations, 1, builder_.last_compute());
    }

    void embed_backward_all() {
        for (const int64_t c : chunks_) {
            at(c, -1);
            bring(dx_in_, dx_, gradient_stored(c));
            parameters_.begin_embedding_gradients();
            emitter_.embed_backward(plan_.chunk_tokens(c), dx_);
            parameters_.end_embedding_gradients(plan_.chunk_tokens(c), builder_.last_compute());
            builder_.pool_free(hidden_pool_, Category::activations, 1, builder_.last_compute());
        }
    }

    const Plan& plan_;
    int64_t n_, layers_;
    bool on_host_, first_sequence_ = true;
    std::vector<int64_t> chunks_;
    StepBuilder builder_;
    LayerEmitter emitter_;
    ParameterFlow parameters_;
    PastFlow past_;
    int64_t hidden_bytes_ = 0;
    LayerBuffers buffers_;
    BufferId top_ = kNone, dx_ = kNone;
    PoolId hidden_pool_ = 0;
    Stager in_, out_, dx_in_;
    std::vector<OpId> stored_x_, stored_dx_;  // by chunk: the last store
};

}  // namespace

Program layer_step(const Plan& plan, const LowerOptions& options) {
    return LayerStep(plan, options).run();
}

}  // namespace headroom
