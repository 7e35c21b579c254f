// Weights, their gradients and the optimizer's states whose home is the host, and the slots that they travel
// through (program/parameters.h).
#include <algorithm>

#include "decoder/reductions.h"
#include "program/parameters.h"
#include "run/step_state.h"

namespace headroom::engine {
namespace {

// Both dense, of as many bytes; an undefined or empty one is nothing to copy.
void add_copy(Copies& copies, const at::Tensor& to, const at::Tensor& from) {
    if (!from.defined() || from.numel() == 0) return;
    TORCH_CHECK(to.nbytes() == from.nbytes() && to.is_contiguous() && from.is_contiguous(), "a copy of ",
                from.nbytes(), " bytes to ", to.nbytes());
    copies.add(to.data_ptr(), from.data_ptr(), static_cast<int64_t>(from.nbytes()));
}

ParameterPart part_of(const Op& op) {
    return static_cast<ParameterPart>(op.piece);
}

}  // namespace

at::Tensor Executor::State::layer_pieces(const at::Tensor& flat, int half) const {
    const LayerRange r = layer_range(plan.model, layer_);
    return half == 0 ? flat.narrow(0, r.first, r.count) : flat.narrow(0, r.bias_first, r.bias_count);
}

// The head (or the embedding that is it) and the final norm, as they stand in the buffer of all.
std::array<at::Tensor, 2> Executor::State::head_pieces(const at::Tensor& flat) const {
    const ModelParameters all = parameters_in(plan.model, flat);
    return {all.head.flatten(), all.final_norm};
}

at::Tensor Executor::State::in_slot(const std::string& slot, int64_t elements, at::ScalarType type,
                                    int64_t offset) const {
    return view(slot, {elements}, type, offset);
}

// ---- weights ----

Result<void> Executor::State::load_weights(const Op& op) {
    const Model& m = plan.model;
    copies_.clear();
    switch (part_of(op)) {
        case ParameterPart::layer: {
            const LayerRange r = layer_range(m, layer_);
            const at::Tensor slot = in_slot(layer_weight_slots_.next(), r.count + r.bias_count, type_);
            add_copy(copies_, slot.narrow(0, 0, r.count), layer_pieces(weights, 0));
            add_copy(copies_, slot.narrow(0, r.count, r.bias_count), layer_pieces(weights, 1));
            parameters_.layers[static_cast<size_t>(layer_)] = layer_in(m, slot);
            break;
        }
        case ParameterPart::head: {
            const auto [head, norm] = head_pieces(weights);
            const at::Tensor slot = in_slot("head weights slot 0", head.numel() + norm.numel(), type_);
            parameters_.head = slot.narrow(0, 0, head.numel()).view({m.vocabulary, m.hidden});
            parameters_.final_norm = slot.narrow(0, head.numel(), norm.numel());
            add_copy(copies_, parameters_.head, head);
            add_copy(copies_, parameters_.final_norm, norm);
            break;
        }
        case ParameterPart::embedding_rows: {
            const at::Tensor table =
                                 weights.narrow(0, 0, m.vocabulary * m.hidden).view({m.vocabulary, m.hidden}),
                             slot = embedding_rows();
            const int64_t* ids = host_ids_.data() + sequence_ * plan.context.count() + chunk_first();
            for (int64_t t = 0; t < rows_; ++t) add_copy(copies_, slot[t], table[ids[t]]);
            break;
        }
    }
    return issue_copies();
}

at::Tensor Executor::State::embedding_rows() const {
    return view("embedding rows slot 0", {rows_, plan.model.hidden}, type_);
}

// ---- gradients ----

// Sums of the layer or the head in work are in the next slot from here on.
at::Tensor Executor::State::begin_sums(const Op& op) {
    const Model& m = plan.model;
    const at::ScalarType type = gradients.scalar_type();
    if (part_of(op) == ParameterPart::head) {
        const auto [head, norm] = head_pieces(gradients);
        const at::Tensor slot = in_slot("head gradients slot 0", head.numel() + norm.numel(), type);
        sums_.head = slot.narrow(0, 0, head.numel()).view({m.vocabulary, m.hidden});
        sums_.final_norm = slot.narrow(0, head.numel(), norm.numel());
        return slot;
    }
    const std::string name = layer_gradient_slots_.next();
    const auto layer = static_cast<size_t>(layer_);
    if (adapters.defined()) {
        const at::Tensor slot = in_slot(name, gradients.numel() / m.layer_count(), type);
        adapter_sums_[layer] = layer_adapters_in(m, plan.recipe, slot);
        return slot;
    }
    const LayerRange r = layer_range(m, layer_);
    const at::Tensor slot = in_slot(name, r.count + r.bias_count, type);
    sums_.layers[layer] = layer_in(m, slot);
    return slot;
}

void Executor::State::add_gradient_copies(const Op& op, const at::Tensor& slot, bool to_slot) {
    std::vector<at::Tensor> home;
    if (part_of(op) == ParameterPart::head) {
        const auto pieces = head_pieces(gradients);
        home.assign(pieces.begin(), pieces.end());
    } else if (adapters.defined()) {
        home.push_back(gradients.narrow(0, layer_ * slot.numel(), slot.numel()));
    } else {
        home = {layer_pieces(gradients, 0), layer_pieces(gradients, 1)};
    }
    copies_.clear();
    int64_t at = 0;
    for (const at::Tensor& piece : home) {
        const at::Tensor here = slot.narrow(0, at, piece.numel());
        add_copy(copies_, to_slot ? here : piece, to_slot ? piece : here);
        at += piece.numel();
    }
}

Result<void> Executor::State::load_gradients(const Op& op) {
    if (pass_ == Pass::update) return load_update(op, false);
    add_gradient_copies(op, begin_sums(op), true);
    return issue_copies();
}

Result<void> Executor::State::store_gradients(const Op& op) {
    const Model& m = plan.model;
    if (part_of(op) == ParameterPart::embedding_rows) {
        scatter_embedding_rows();
        return {};
    }
    const at::ScalarType type = gradients.scalar_type();
    if (part_of(op) == ParameterPart::head) {
        add_gradient_copies(op, in_slot("head gradients slot 0", sums_.head.numel() + m.hidden, type), false);
        return issue_copies();
    }
    const LayerRange r = layer_range(m, layer_);
    const int64_t count = adapters.defined() ? gradients.numel() / m.layer_count() : r.count + r.bias_count;
    add_gradient_copies(op, in_slot(layer_gradient_slots_.last_slot(), count, type), false);
    return issue_copies();
}

// In the type of activations where the slot, which has room for sums, holds them.
at::Tensor Executor::State::embedding_row_gradients() const {
    const at::ScalarType type = gradients.scalar_type();
    const bool narrow = element() <= static_cast<int64_t>(c10::elementSize(type));
    return view("embedding row gradients slot 0", {rows_, plan.model.hidden}, narrow ? type_ : type);
}

// Adds them where the sums are. On a GPU the kernel writes to the host's memory.
void Executor::State::scatter_embedding_rows() {
    const Model& m = plan.model;
    const at::Tensor ids = tokens_.select(0, sequence_).narrow(0, chunk_first(), rows_);
    const at::Tensor table = at::for_blob(gradients.data_ptr(), {m.vocabulary, m.hidden})
                                 .options(arena.options().dtype(gradients.scalar_type()))
                                 .target_device(arena.device())
                                 .make_tensor();
    add_embedding_rows(ids, embedding_row_gradients(), table);
}

// ---- the update ----

UpdateViews Executor::State::update_views(int64_t piece) const {
    const int64_t first = piece * kUpdatePiece, count = std::min(kUpdatePiece, trained.numel() - first);
    const UpdateSlot slot = update_slot(plan, count);
    const auto here = [&](const at::Tensor& home, int64_t bytes, int64_t at) {
        return bytes == 0 ? home.narrow(0, first, count)
                          : in_slot(update_slots_.last_slot(), count, home.scalar_type(), at);
    };
    UpdateViews v;
    v.first = first;
    v.weights = here(trained, slot.weights, slot.weights_at());
    v.gradients = here(gradients, slot.gradients, slot.gradients_at());
    v.home = engine::piece_of(optimizer, first, count);
    v.states = slot.states == 0
                   ? v.home
                   : optimizer_state_in(plan.recipe, count,
                                        in_slot(update_slots_.last_slot(), slot.states, at::kByte));
    return v;
}

// Brings a piece of the sums, and with `all` the states and weights that belong to them, to the next slot.
Result<void> Executor::State::load_update(const Op& op, bool all) {
    update_slots_.next();
    const UpdateViews v = update_views(op.piece);
    const auto add = [&](const at::Tensor& here, const at::Tensor& home) {
        if (here.defined() && here.data_ptr() != home.data_ptr()) add_copy(copies_, here, home);
    };
    copies_.clear();
    add(v.gradients, gradients.narrow(0, v.first, v.gradients.numel()));
    if (all) {
        add(v.weights, trained.narrow(0, v.first, v.weights.numel()));
        add(v.states.master, v.home.master);
        add(v.states.first_scales, v.home.first_scales);
        add(v.states.second_scales, v.home.second_scales);
        add(v.states.first, v.home.first);
        add(v.states.second, v.home.second);
    }
    return issue_copies();
}

Result<void> Executor::State::store_update(const Op& op) {
    const UpdateViews v = update_views(op.piece);
    const auto add = [&](const at::Tensor& home, const at::Tensor& here) {
        if (here.defined() && here.data_ptr() != home.data_ptr()) add_copy(copies_, home, here);
    };
    copies_.clear();
    add(trained.narrow(0, v.first, v.weights.numel()), v.weights);
    add(v.home.master, v.states.master);
    add(v.home.first_scales, v.states.first_scales);
    add(v.home.second_scales, v.states.second_scales);
    add(v.home.first, v.states.first);
    add(v.home.second, v.states.second);
    return issue_copies();
}

}  // namespace headroom::engine
