#include "run/executor.h"

#include <c10/core/GradMode.h>

#include <string>

#include "program/names.h"
#include "run/step_state.h"

namespace headroom::engine {

Executor::Executor(const Plan& plan, const Program& program, at::Tensor arena, at::Tensor host,
                   OptimizerSettings settings, PageFile* disk)
    : state_(std::make_unique<State>(plan, program, std::move(arena), std::move(host), settings, disk)) {}
Executor::~Executor() = default;

at::Tensor Executor::weights() const {
    return state_->weights;
}
at::Tensor Executor::adapters() const {
    return state_->adapters;
}
at::Tensor Executor::weight_gradients() const {
    return state_->gradients;
}
const OptimizerState& Executor::optimizer_state() const {
    return state_->optimizer;
}
void Executor::begin_optimizer() {
    if (state_->states.defined()) state_->states.zero_();
    if (state_->optimizer.master.defined()) state_->optimizer.master.copy_(state_->trained);
}
void Executor::set_learning_rate(double rate) {
    state_->settings.learning_rate = rate;
}
RecordedSelection Executor::selection() const {
    return state_->recorded();
}
at::Tensor Executor::selected(int64_t chunk, int64_t layer) const {
    return state_->selected(chunk, layer).clone();
}
int64_t Executor::steps_done() const {
    return state_->steps;
}
void Executor::set_steps_done(int64_t steps) {
    state_->steps = steps;
}

std::string Executor::State::place_of(OpId id) const {
    const Op& op = program.ops[id];
    return "op " + std::to_string(id) + " (" + std::string(name_of(op.kind)) + ", chunk " +
           std::to_string(static_cast<int32_t>(op.chunk)) + ", layer " +
           std::to_string(static_cast<int16_t>(op.layer)) + ")";
}

Result<StepResult> Executor::step(const at::Tensor& tokens, const std::function<bool(OpId)>& keep_going) {
    const c10::NoGradGuard no_grad;
    State& s = *state_;
    StepResult result;
    s.begin(tokens);
    // Whatever ends the step early: nothing may still run in memory that its owner gives back.
    struct Drain {
        OpStreams& streams;
        ~Drain() {
            try {
                streams.drain();
            } catch (const c10::Error&) {  // told by the op that failed
            }
        }
    } drain{*s.streams};
    s.streams->begin_step();
    for (OpId id = 0; id < s.program.size(); ++id) {
        if (keep_going && !keep_going(id)) return fail("", "interrupted", "", Fault::interrupted);
        try {
            s.await_selection(id);
            s.streams->begin(id);
            HEADROOM_CHECK(s.disk_state());
            HEADROOM_CHECK(s.run(id));
            s.streams->end(id);
        } catch (const c10::Error& e) {
            HEADROOM_CHECK(s.disk_state());  // what it brought may be why
            return fail(s.place_of(id), e.what_without_backtrace(), "", Fault::run_failed);
        }
    }
    s.streams->read(result.start_ns, result.end_ns);
    HEADROOM_CHECK(s.disk_state());
    ++s.steps;
    result.loss = s.loss();
    result.gradient_norm = s.gradient_norm();
    result.loaded_page_bytes = s.loaded_page_bytes;
    result.stored_page_bytes = s.stored_page_bytes;
    result.disk_read_bytes = s.disk_read_bytes;
    result.disk_written_bytes = s.disk_written_bytes;
    return result;
}

}  // namespace headroom::engine
