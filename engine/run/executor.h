// Executes one Program, op by op in the order of its ids, on its streams, in the buffers and at the addresses
// that the planner gave it.
//
// Contract:
//  - Built from the plan by the lowering that the simulator uses; check_supported() has passed.
//  - Every activation, gradient, page and state lives in the arena, and so does the scratch of kernels. What
//  a step of a bf16 run on a GPU allocates besides is what ATen's call of cuDNN's attention does; on the CPU
//  the formulas have ATen's temporaries, freed when the op ends.
//  - One step: step() runs the program once and returns what it measured. Weights, states and step count
//  stay.
// Cost of the executor itself: some microseconds an op.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "decoder/optimizer.h"
#include "decoder/parameters.h"
#include "memory/page_file.h"
#include "plan/plan.h"
#include "program/program.h"
#include "run/pages.h"

namespace headroom::engine {

// Source of AdamW: Loshchilov, Hutter, arXiv 1711.05101.
struct OptimizerSettings {
    double learning_rate = 1e-4;
    double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1;  // of AdamW
    double clip_norm = 1.0;  // gradients are scaled so that their norm is at most this; 0: never
    uint64_t seed = 0;       // of the stochastic rounding of weights and states
};

// Whether pages of the plan have a size that direct access to a disk can take.
bool disk_is_aligned(const Plan& plan);

struct StepResult {
    double loss = 0;           // mean over the targets
    double gradient_norm = 0;  // before clipping; 0 where the plan has no optimizer
    // Pages of K, V, dK and dV that travelled to the device, and back.
    int64_t loaded_page_bytes = 0, stored_page_bytes = 0;
    int64_t disk_read_bytes = 0, disk_written_bytes = 0;  // of them, by way of the disk
    std::vector<int64_t> start_ns, end_ns;                // by op, from the start of the step
};

class Executor {
public:
    // `arena`, `host`: uint8 tensors of program.arena[device] and [host] bytes, aligned to kAlignment; the
    // host's is pinned where the device is a GPU, and undefined where the program needs none. `disk`: of
    // program.arena[disk] bytes, null where that is 0, and to outlive the executor. Where it has direct
    // access, disk_is_aligned() holds and the host's arena is aligned to PageFile::kAligned.
    Executor(const Plan& plan, const Program& program, at::Tensor arena, at::Tensor host,
             OptimizerSettings settings = {}, PageFile* disk = nullptr);
    ~Executor();

    // Views of the arena: flat, in the order of parameter_list().
    at::Tensor weights() const;
    // LoRA: flat, in the order of adapter_list(); else undefined.
    at::Tensor adapters() const;
    // Of what is trained: the weights, or the adapters.
    at::Tensor weight_gradients() const;
    // What the optimizer keeps of what is trained. Master weights hold what the weights were rounded from.
    const OptimizerState& optimizer_state() const;
    // Moments to zero, master weights from the weights: how a run begins.
    void begin_optimizer();

    // Runs one step over `tokens`, batch x context of them (int64, any device). `keep_going` is asked before
    // each op; false stops the step. Errors: interrupted; a page pool that runs over; an op that fails, the
    // disk's too, by its id and kind.
    Result<StepResult> step(const at::Tensor& tokens, const std::function<bool(OpId)>& keep_going = {});
    // Of sparse attention: the pages that the last step selected, of its last sequence; rows of layers that
    // attend all of their past are empty.
    RecordedSelection selection() const;
    // The same by block: [blocks, pages] int32 of a chunk that is not the first, in a sparse layer.
    at::Tensor selected(int64_t chunk, int64_t layer) const;
    int64_t steps_done() const;
    void set_steps_done(int64_t steps);  // of a resumed run
    void set_learning_rate(double rate);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace headroom::engine
