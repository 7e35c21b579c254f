// Each op of the program to the function that executes it.
#include <string>

#include "program/names.h"
#include "run/step_state.h"

namespace headroom::engine {

Result<void> Executor::State::run(OpId id) {
    const Op& op = program.ops[id];
    op_ = id;
    enter(op);
    switch (op.kind) {
        case OpKind::zero:
            (pass_ == Pass::setup ? gradients : begin_sums(op)).zero_();
            break;
        case OpKind::embed:
            embed();
            break;
        case OpKind::norm:
            norm();
            break;
        case OpKind::qkv:
            qkv();
            break;
        case OpKind::rope:
            HEADROOM_CHECK(rope());
            break;
        case OpKind::page_means:
            page_means_op();
            break;
        case OpKind::select:
            select_op();
            break;
        case OpKind::selection_to_host:
            HEADROOM_CHECK(selection_to_host());
            break;
        case OpKind::gather_pages:
            if (selects_pages(plan, layer_)) {
                gather_selected();
            } else {
                unpack_piece(op);
            }
            break;
        case OpKind::attention_own:
            attention_own();
            break;
        case OpKind::attention_past:
            attention_past(op);
            break;
        case OpKind::merge:
            merge();
            break;
        case OpKind::attention_out:
            attention_out();
            break;
        case OpKind::gate_up:
            multiply(Projection::gate_up, gate_up(), of_tile(rows("normed", plan.model.hidden)),
                     w().gate_up.t());
            break;
        case OpKind::activation:
            swiglu(gate_up(), tile_rows("activation", plan.model.intermediate), gelu_);
            break;
        case OpKind::down:
            down();
            break;
        case OpKind::head:
            head();
            break;
        case OpKind::loss:
        case OpKind::head_backward:
            break;  // by head(), tile by tile
        case OpKind::weight_gradient:
            weight_gradient();
            break;
        case OpKind::down_backward:
            multiply(Projection::down, tile_rows("d activation", plan.model.intermediate),
                     of_tile(d_projected()), w().down);
            break;
        case OpKind::activation_backward:
            swiglu_backward(gate_up(), tile_rows("d activation", plan.model.intermediate), gelu_);
            break;
        case OpKind::gate_up_backward:
            multiply(Projection::gate_up, of_tile(rows("d normed", plan.model.hidden)), gate_up(),
                     w().gate_up);
            break;
        case OpKind::norm_backward:
            norm_backward();
            break;
        case OpKind::attention_out_backward:
            multiply(Projection::out, rows("d attention", plan.model.q_size()), d_projected(), w().out);
            break;
        case OpKind::attention_own_backward:
            attention_own_backward();
            break;
        case OpKind::attention_past_backward:
            attention_past_backward(op);
            break;
        case OpKind::accumulate_kv_gradients:
            HEADROOM_CHECK(accumulate(op));
            break;
        case OpKind::rope_backward:
            rope_backward();
            break;
        case OpKind::qkv_backward:
            multiply(Projection::qkv, rows("d normed", plan.model.hidden),
                     rows("d qkv", plan.model.q_size() + 2 * plan.model.kv_size()), w().qkv);
            break;
        case OpKind::lora:
            adapt(false);
            break;
        case OpKind::lora_backward:
            adapt(true);
            break;
        case OpKind::embed_backward:
            embed_backward();
            break;
        case OpKind::load_pages:
            HEADROOM_CHECK(load_pages(op));
            break;
        case OpKind::store_pages:
            HEADROOM_CHECK(store_pages());
            break;
        case OpKind::load_page_gradients:
            HEADROOM_CHECK(load_page_gradients(op));
            break;
        case OpKind::store_page_gradients:
            HEADROOM_CHECK(store_page_gradients());
            break;
        case OpKind::read_pages:
            HEADROOM_CHECK(read_from_disk());
            break;
        case OpKind::write_pages:
            HEADROOM_CHECK(write_to_disk());
            break;
        case OpKind::store_attention_outputs:
            HEADROOM_CHECK(move_buffer("host attention outputs", output_offset(), output_slots_.next(), 0,
                                       output_bytes()));
            break;
        case OpKind::load_attention_outputs:
            HEADROOM_CHECK(move_buffer(of_layer("attention", layer_), 0, "host attention outputs",
                                       output_offset(), output_bytes()));
            break;
        case OpKind::store_activations:
            HEADROOM_CHECK(move_buffer("host layer inputs", layer_ * input_bytes(), input_out_slots_.next(),
                                       0, input_bytes()));
            break;
        case OpKind::load_activations:
            input_slot_ = input_slots_.next();
            HEADROOM_CHECK(
                move_buffer(input_slot_, 0, "host layer inputs", layer_ * input_bytes(), input_bytes()));
            break;
        case OpKind::load_weights:
            HEADROOM_CHECK(load_weights(op));
            break;
        case OpKind::load_gradients:
            HEADROOM_CHECK(load_gradients(op));
            break;
        case OpKind::store_gradients:
            HEADROOM_CHECK(store_gradients(op));
            break;
        case OpKind::load_states:
            HEADROOM_CHECK(load_update(op, true));
            break;
        case OpKind::store_states:
            HEADROOM_CHECK(store_update(op));
            break;
        case OpKind::gradient_norm:
            gradient_norm_op(op);
            break;
        case OpKind::update:
            update(op);
            break;
        default:
            return fail("op " + std::to_string(id), "'" + std::string(name_of(op.kind)) + "'",
                        "an operation that the engine runs", Fault::run_failed);
    }
    if (op.stream == Stream::compute) before_ = op.kind;
    return {};
}

}  // namespace headroom::engine
