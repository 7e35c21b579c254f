#include "run/training.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/cuda/CUDAContext.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/utc.h"
#include "decoder/attention.h"
#include "memory/arena.h"
#include "memory/page_file.h"
#include "plan/throughput.h"
#include "program/selected.h"
#include "run/checkpoint.h"
#include "run/executor.h"
#include "run/initial.h"
#include "run/machine_memory.h"
#include "run/measured.h"
#include "run/schedule.h"
#include "run/settings.h"
#include "run/supported.h"
#include "run/token_source.h"
#include "run/weights_io.h"
#include "strategy/strategy.h"

namespace headroom::engine {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

std::string machine_of(const at::Device& device) {
    if (device.is_cpu()) return "CPU, " + std::to_string(at::get_num_threads()) + " threads";
    const cudaDeviceProp& p = *at::cuda::getDeviceProperties(device.index());
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    return std::string(p.name) + ", CUDA driver " + std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10);
}

// Where the plan says so, only kernels that give the same bits each time; one without such a form is an error
// when it is called.
void set_deterministic(bool on) {
    // cuBLAS looks when it is first used: with workspaces of its own choice, streams may change its sums.
    if (on) setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(on, /*warn_only=*/false);
    context.setDeterministicFillUninitializedMemory(false);  // what is read was written
    context.setDeterministicCuDNN(on);
}

// Device memory in use, by whatever process, as the driver tells it.
int64_t device_used_bytes() {
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
    return static_cast<int64_t>(total - free);
}

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

Result<Plan> read_supported_plan(const std::string& path) {
    HEADROOM_TRY(Plan plan, read_plan(path));
    HEADROOM_CHECK(check_plan(plan, path));
    if (Result<void> ok = check_supported(plan); !ok) {
        Error e = ok.error();
        e.where = path + ", " + e.where;
        return tl::unexpected<Error>(std::move(e));
    }
    return plan;
}

// A folder that is to be written: nothing else may stand in its place.
Result<void> check_folder(const std::string& option, const std::string& folder) {
    std::error_code ignored;
    if (!folder.empty() && fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
        return fail(option, "'" + folder + "' is no folder", "a folder, or a name that is free");
    return {};
}

OptimizerSettings optimizer_settings(const cli::RunOptions& o) {
    OptimizerSettings s;
    s.learning_rate = o.learning_rate;
    s.beta1 = o.beta1;
    s.beta2 = o.beta2;
    s.epsilon = o.epsilon;
    s.weight_decay = o.weight_decay;
    s.clip_norm = o.clip_norm;
    s.seed = static_cast<uint64_t>(o.seed);
    return s;
}

Schedule schedule_of(const cli::RunOptions& o) {
    Schedule s;
    if (o.schedule == "linear") s.shape = Schedule::Shape::linear;
    if (o.schedule == "cosine") s.shape = Schedule::Shape::cosine;
    s.peak = o.learning_rate;
    s.least = o.min_learning_rate;
    s.warmup = o.warmup_steps;
    s.total = o.total_steps > 0 ? o.total_steps : o.steps;
    return s;
}

// The steps of one run.
class Training {
public:
    Training(const cli::RunOptions& options, const Say& say) : options_(options), say_(say) {}

    Result<void> run();

private:
    Result<void> read_input();
    Result<void> read_checkpoint();
    // Done by the run that this one goes on with.
    int64_t steps_before() const { return resumed_ ? resumed_->steps : 0; }
    Result<void> checkpoint();
    Result<void> begin();
    Result<void> begin_weights(uint64_t seed);
    Result<void> make_page_file();
    Result<void> step(int64_t index);
    void add_speed(Json& line, int64_t step_ns);
    void say_end(double loss, double gradient_norm);
    Result<void> finish();
    bool show(int64_t step, OpId op);

    cli::RunOptions options_;  // resumed: with the checkpoint's settings
    const Say& say_;
    std::optional<CheckpointFacts> resumed_;
    at::Device device_{at::kCPU};
    std::optional<Plan> plan_;
    std::optional<Program> program_;
    std::optional<WeightFiles> files_;
    std::optional<TokenSource> tokens_;
    std::optional<Arena> arena_;
    std::optional<Arena> host_arena_;
    std::unique_ptr<PageFile> page_file_;
    std::optional<Executor> executor_;
    Schedule schedule_;
    StepResult result_;
    int64_t total_ns_ = 0, most_used_bytes_ = 0;
    Clock::time_point last_said_ = Clock::now();
};

Result<void> Training::read_input() {
    const cli::RunOptions& o = options_;
    HEADROOM_TRY(plan_, read_supported_plan(o.plan));
    if (o.device == "cuda" && !at::cuda::is_available())
        return fail("--device", "cuda, and this machine has no usable GPU", "cpu");
    if (o.attention == "graph" && o.device != "cuda")
        return fail("--attention", "graph, on a CPU", "auto, aten, or --device cuda");
    device_ = at::Device(o.device == "cuda" ? "cuda:0" : "cpu");
    // ATen's call of cuDNN adds dQ in any order whatever is asked of it: two runs differ in the gradients.
    if (device_.is_cuda() && plan_->decisions.deterministic && o.attention == "aten")
        return fail("--attention", "aten, and " + o.plan + " is deterministic", "auto or graph");
    if (!o.weights.empty()) {
        HEADROOM_TRY(files_, WeightFiles::open(o.weights));
        HEADROOM_CHECK(check_weights(plan_->model, *files_));
    }
    if (!o.resume.empty()) HEADROOM_CHECK(read_checkpoint());
    HEADROOM_TRY(tokens_, TokenSource::open(*plan_, static_cast<uint64_t>(o.seed), o.tokens));
    HEADROOM_CHECK(tokens_->check(steps_before(), o.steps));
    HEADROOM_CHECK(cli::check_outputs(o));
    HEADROOM_CHECK(check_folder("--save-weights", o.save_weights));
    if (!o.disk.empty() && !fs::is_directory(o.disk))
        return fail("--disk", "'" + o.disk + "' is no folder", "a folder that can be written");
    HEADROOM_CHECK(check_folder("--save-gradients", o.save_gradients));
    if (!o.record_selection.empty() && (!plan_->decisions.attention.sparse || plan_->chunks() < 2))
        return fail("--record-selection", "a plan that selects no pages",
                    "a plan with sparse attention and more than one chunk");
    if (!o.checkpoint.empty()) HEADROOM_CHECK(check_checkpoint_folder(o.checkpoint));
    schedule_ = schedule_of(o);
    HEADROOM_CHECK(check_schedule(schedule_));
    HEADROOM_TRY(program_, lower(*plan_));
    return {};
}

Result<void> Training::read_checkpoint() {
    const fs::path folder = options_.resume;
    HEADROOM_TRY(resumed_, read_checkpoint_facts(folder));
    const std::string where = (folder / "checkpoint.json").string();
    const std::string hash = plan_hash(*plan_);
    if (resumed_->plan_hash != hash)
        return fail(where, "is of the plan with hash " + resumed_->plan_hash,
                    "a checkpoint of " + options_.plan + ", whose hash is " + hash);
    HEADROOM_TRY(options_, resumed_options(options_, resumed_->settings, where));
    HEADROOM_TRY(files_, WeightFiles::open(folder));
    HEADROOM_CHECK(check_weights(plan_->model, *files_));
    return check_checkpoint_states(folder, *plan_);
}

Result<void> Training::begin() {
    const cli::RunOptions& o = options_;
    const int64_t bytes = program_->arena[0], host_bytes = program_->arena[1];
    MachineMemory there = machine_memory(device_);
    if (o.no_device_check) there.device_bytes = there.device_free_bytes = INT64_MAX;
    HEADROOM_CHECK(check_memory(*program_, there, o.plan));
    if (device_.is_cuda()) at::globalContext().lazyInitDevice(at::kCUDA);
    set_deterministic(plan_->decisions.deterministic);
    HEADROOM_CHECK(make_page_file());
    Json line{{"event", "start"},
              {"device", machine_of(device_)},
              {"ops", program_->size()},
              {"device_arena_bytes", bytes},
              {"host_arena_bytes", host_bytes},
              {"deterministic", plan_->decisions.deterministic},
              {"first_step", steps_before()},
              {"steps", o.steps}};
    if (page_file_) {
        line["disk_bytes"] = page_file_->bytes().count();
        line["disk_direct"] = page_file_->is_direct();
    }
    say_(line);
    HEADROOM_TRY(arena_, Arena::allocate(Tier::device, Bytes(bytes), device_));
    HEADROOM_TRY(const at::Tensor memory, arena_->view(0, {bytes}, at::kByte));
    HEADROOM_TRY(host_arena_, Arena::allocate(Tier::host, Bytes(host_bytes), device_));
    HEADROOM_TRY(const at::Tensor host, host_arena_->view(0, {host_bytes}, at::kByte));
    use_cudnn_graph(o.attention != "aten");
    const OptimizerSettings settings = optimizer_settings(o);
    executor_.emplace(*plan_, *program_, memory, host, settings, page_file_.get());
    return begin_weights(settings.seed);
}

Result<void> Training::make_page_file() {
    const int64_t bytes = program_->arena[static_cast<size_t>(Tier::disk)];
    if (bytes == 0) return {};
    std::string folder = options_.disk;
    if (folder.empty()) folder = fs::path(options_.output).parent_path().string();
    if (folder.empty()) folder = ".";
    HEADROOM_TRY(page_file_, PageFile::create(folder, Bytes(bytes), disk_is_aligned(*plan_)));
    return {};
}

Result<void> Training::begin_weights(uint64_t seed) {
    const bool adapted = executor_->adapters().defined();
    if (adapted) HEADROOM_CHECK(fill_initial_adapters(*plan_, seed, executor_->adapters()));
    if (!files_) HEADROOM_CHECK(fill_initial_weights(*plan_, seed, executor_->weights()));
    executor_->begin_optimizer();
    if (!files_) return {};
    // Master weights take what the files hold, not what the weights were rounded to.
    const at::Tensor master = adapted ? at::Tensor() : executor_->optimizer_state().master;
    HEADROOM_CHECK(load_weights(plan_->model, *files_, executor_->weights(), master));
    if (!resumed_) return {};
    return load_checkpoint_states(options_.resume, *plan_, *executor_, resumed_->steps);
}

bool Training::show(int64_t step, OpId op) {
    if (interrupted()) return false;
    if (Clock::now() - last_said_ > std::chrono::seconds(1)) {
        last_said_ = Clock::now();
        say_({{"event", "progress"},
              {"step", step},
              {"op", op},
              {"share", static_cast<double>(op) / static_cast<double>(program_->size())}});
    }
    return true;
}

// Of one step that took so long.
void Training::add_speed(Json& line, int64_t step_ns) {
    line["tokens_per_second"] = tokens_per_second(*plan_, step_ns);
    if (!device_.is_cuda()) return;
    line["mfu"] = mfu(*plan_, step_ns);
    most_used_bytes_ = std::max(most_used_bytes_, device_used_bytes());
    line["device_used_bytes"] = most_used_bytes_;
}

void Training::say_end(double loss, double gradient_norm) {
    Json line{{"event", "end"},
              {"steps", options_.steps},
              {"loss", loss},
              {"gradient_norm", gradient_norm},
              {"device_arena_bytes", program_->arena[static_cast<size_t>(Tier::device)]},
              {"host_arena_bytes", program_->arena[static_cast<size_t>(Tier::host)]}};
    add_speed(line, total_ns_ / options_.steps);
    say_(line);
}

Result<void> Training::step(int64_t index) {
    HEADROOM_TRY(const at::Tensor ids, tokens_->of_step(index));
    const double rate = learning_rate(schedule_, index);
    executor_->set_learning_rate(rate);
    const auto begin = Clock::now();
    HEADROOM_TRY(result_, executor_->step(ids, [&](OpId op) { return show(index, op); }));
    const auto step_ns = static_cast<int64_t>(seconds_since(begin) * 1e9);
    total_ns_ += step_ns;
    Json line{{"event", "step"},       {"step", index},
              {"loss", result_.loss},  {"gradient_norm", result_.gradient_norm},
              {"learning_rate", rate}, {"seconds", static_cast<double>(step_ns) * 1e-9}};
    add_speed(line, step_ns);
    say_(line);
    return {};
}

Result<void> Training::checkpoint() {
    HEADROOM_CHECK(write_checkpoint(options_.checkpoint, *plan_, *executor_, settings_of(options_)));
    say_({{"event", "checkpoint"}, {"step", executor_->steps_done()}, {"folder", options_.checkpoint}});
    return {};
}

Result<void> Training::finish() {
    const cli::RunOptions& o = options_;
    const double loss = result_.loss, gradient_norm = result_.gradient_norm;
    if (!o.checkpoint.empty()) HEADROOM_CHECK(checkpoint());
    if (!o.save_weights.empty()) {
        HEADROOM_TRY(const bool config, executor_->adapters().defined()
                                            ? save_adapters(*plan_, executor_->adapters(), o.save_weights)
                                            : save_weights(*plan_, executor_->weights(), o.save_weights));
        say_({{"event", "saved"}, {"weights", o.save_weights}, {"config", config}});
    }
    if (!o.save_gradients.empty()) {
        HEADROOM_CHECK(save_gradients(*plan_, executor_->weight_gradients(), o.save_gradients));
        say_({{"event", "saved"}, {"gradients", o.save_gradients}});
    }
    const bool sparse = plan_->decisions.attention.sparse && plan_->chunks() > 1;
    Plan seen = *plan_;  // with the selection that was made
    if (sparse) {
        RecordedSelection made = executor_->selection();
        made.source = "this run, " + machine_of(device_) + ", " + utc_now();
        seen.selection.recorded = std::make_shared<RecordedSelection>(std::move(made));
    }
    if (!o.record_selection.empty()) {
        const std::string text = write_selection(*seen.selection.recorded);
        HEADROOM_CHECK(
            write_file(o.record_selection, o.record_selection.ends_with(".gz") ? gzip(text) : text));
        say_({{"event", "written"}, {"selection", o.record_selection}});
    }
    if (!o.output.empty()) {
        // The same operations, with the pages that moved and the memory that they took.
        std::optional<Program> moved;
        if (sparse) {
            HEADROOM_TRY(moved, lower(*plan_, headroom::select_pages(seen)));
        }
        HEADROOM_TRY(Timeline t, measured_timeline(*plan_, moved ? *moved : *program_, std::move(result_),
                                                   machine_of(device_), utc_now()));
        if (sparse) t.selection_source = seen.selection.recorded->source;
        HEADROOM_CHECK(write_timeline(t, o.output));
        say_({{"event", "written"}, {"timeline", o.output}});
    }
    say_end(loss, gradient_norm);
    return {};
}

Result<void> Training::run() {
    HEADROOM_CHECK(read_input());
    HEADROOM_CHECK(begin());
    const int64_t first = steps_before(), last = first + options_.steps, every = options_.checkpoint_every;
    for (int64_t s = first; s < last; ++s) {
        HEADROOM_CHECK(step(s));
        if (every > 0 && (s + 1) % every == 0 && s + 1 < last) HEADROOM_CHECK(checkpoint());
    }
    return finish();
}

}  // namespace

Result<void> train(const cli::RunOptions& options, const Say& say) {
    return Training(options, say).run();
}

}  // namespace headroom::engine
