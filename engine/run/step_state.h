// What an executor keeps while a step runs: views of the arena, the page table, and where in the step it is.
// Only for the files of the executor.
//
// Which norm, weight gradient or adapter an op is follows from the ops before it: the order inside a layer is
// fixed (program/layer.h).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "decoder/adapters.h"
#include "decoder/attention.h"
#include "decoder/pointwise.h"
#include "decoder/products.h"
#include "program/layer.h"
#include "program/past_pieces.h"
#include "run/executor.h"

namespace headroom::engine {

at::ScalarType scalar_type(Dtype dtype);

// Views of one layer's buffers for the tokens of one chunk.
struct LayerViews {
    at::Tensor x, x_mid;        // [T, H]
    at::Tensor qkv;             // [T, Q + 2 KV]
    at::Tensor q, k, v;         // [T, h, d], [T, g, d]: of qkv, but for q and k where they have norms
    at::Tensor raw_q, raw_k;    // of qkv: before norms
    at::Tensor attention, lse;  // [T, h, d], [T, h]
    at::Tensor gate_up;         // [T, 2 I]
};

struct Executor::State {
    State(const Plan& plan, const Program& program, at::Tensor arena, OptimizerSettings settings);

    void begin(const at::Tensor& tokens);
    Result<void> run(OpId id);
    double loss() const { return loss_sum_.item<double>() * target_scale_; }
    double gradient_norm() const { return norm_; }

    const Plan& plan;
    const Program& program;
    at::Tensor arena;
    OptimizerSettings settings;
    at::Tensor weights, adapters;  // adapters: undefined where all weights are trained
    at::Tensor trained;            // the one of them that is
    at::Tensor gradients, states;  // of what is trained
    int64_t steps = 0;

private:
    enum class Norm : uint8_t { attention, mlp };

    // `sizes` of the buffer called `name`, from `offset` bytes into it on.
    at::Tensor view(const std::string& name, at::IntArrayRef sizes, at::ScalarType type,
                    int64_t offset = 0) const;
    at::Tensor rows(const std::string& name, int64_t columns) const;  // [T, columns] of activations
    // Output [T, h, d] and log-sum-exp [T, h] of the attention buffer called `name`.
    std::pair<at::Tensor, at::Tensor> attention_in(const std::string& name) const;
    const LayerViews& layer_views();
    void find_rope();  // rope_: of this chunk and layer
    LayerViews make_views(const std::string& x, const std::string& qkv, const std::string& attention,
                          const std::string& x_mid, const std::string& gate_up) const;
    std::string of_layer(const char* name, int64_t layer) const;
    void enter(const Op& op);  // a chunk, layer or pass
    void begin_sequence();

    // forward.cpp
    void embed();
    void norm();
    void qkv();
    Result<void> rope();
    void attention_own();
    void attention_past(const Op& op);
    void merge();
    void attention_out();
    void down();
    void head();
    void adapt(bool backward);
    void multiply(Projection projection, at::Tensor out, const at::Tensor& left, const at::Tensor& right);
    // backward.cpp
    void weight_gradient();
    void norm_backward();
    void attention_own_backward();
    void attention_past_backward(const Op& op);
    Result<void> accumulate(const Op& op);
    void rope_backward();
    void close_chunk();
    void embed_backward();
    // update.cpp
    void gradient_norm_op();
    void update(const Op& op);

    // K (half 0) or V (half 1) of a run of pages as [tokens, g, d].
    at::Tensor page_view(PageKind kind, const PageRun& run, int half) const;
    // Calls visit(k, v, first token, tokens) for tokens [first, last) of the past, at most a segment at once.
    void visit_past(
        const PastPiece& piece,
        const std::function<void(const at::Tensor&, const at::Tensor&, int64_t, int64_t)>& visit) const;
    Span span_of(int64_t key_at) const;
    const Layer& layer() const { return plan.model.layers[static_cast<size_t>(layer_)]; }
    const LayerParameters& w() const { return parameters_.layers[static_cast<size_t>(layer_)]; }
    const LayerParameters& g() const { return sums_.layers[static_cast<size_t>(layer_)]; }
    int64_t element() const { return static_cast<int64_t>(c10::elementSize(type_)); }
    int64_t chunk_first() const { return chunk_ * plan.decisions.chunk.count(); }

    std::unordered_map<std::string, BufferId> by_name_;
    ModelParameters parameters_, sums_;  // sums_: undefined where only adapters are trained
    std::vector<LayerAdapters> adapters_, adapter_sums_;
    at::ScalarType type_, sum_;  // of activations; of log-sum-exp and running sums
    at::Tensor tokens_;          // [batch, context] int32, on the device
    at::Tensor targets_;         // [batch, context] int64: the next token, -1 where there is none
    PageTable pages_;
    std::vector<int64_t> touched_from_;  // by layer: gradient pages exist from this token on
    // Where the step is.
    Pass pass_ = Pass::setup;
    int64_t sequence_ = 0, chunk_ = -1, layer_ = -1, rows_ = 0;
    uint8_t sequence_id_ = 0;                      // of the last op: sequence_ modulo 256
    Norm next_norm_ = Norm::attention;             // of the next norm op
    Norm next_norm_backward_ = Norm::mlp;          // backward, a layer's come in turn
    Projection projection_ = Projection::qkv;      // of the last product, whose adapters come next
    Projection next_gradient_ = Projection::down;  // backward, a layer's come in turn
    bool views_known_ = false, d_q_fresh_ = true, emitted_ = false;
    bool partial_pending_ = false;  // an attention to the past that is not merged yet
    LayerViews views_;
    RopeTable rope_;
    int64_t rope_chunk_ = -1, rope_window_ = -1;
    at::Tensor loss_sum_;  // fp64, one value, on the device
    double target_scale_ = 0, norm_ = 0;
    at::Generator random_;
};

}  // namespace headroom::engine
