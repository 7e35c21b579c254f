// headroom-engine: runs plans. `headroom run` starts it; its progress and result are JSON lines on stdout.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/cuda/CUDAContext.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "memory/arena.h"
#include "run/executor.h"
#include "run/initial.h"
#include "run/measured.h"
#include "run/supported.h"
#include "strategy/strategy.h"

namespace headroom::engine {
namespace {

struct Options {
    std::string plan, device = "cuda", output;
    int64_t steps = 1, seed = 0;
    double learning_rate = 1e-4;
};

void say(const nlohmann::ordered_json& line) {
    std::printf("%s\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
    std::fflush(stdout);
}

std::string now() {
    const std::time_t t = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
    return text;
}

std::string machine_of(const at::Device& device) {
    if (device.is_cpu()) return "CPU, " + std::to_string(at::get_num_threads()) + " threads";
    const cudaDeviceProp& p = *at::cuda::getDeviceProperties(device.index());
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    return std::string(p.name) + ", CUDA driver " + std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10);
}

Result<int> run(const Options& o) {
    HEADROOM_TRY(const Plan plan, read_plan(o.plan));
    HEADROOM_CHECK(check_plan(plan, o.plan));
    if (Result<void> ok = check_supported(plan); !ok) {
        Error e = ok.error();
        e.where = o.plan + ", " + e.where;
        return tl::unexpected<Error>(std::move(e));
    }
    if (o.device == "cuda" && !at::cuda::is_available())
        return fail("--device", "cuda, and this machine has no usable GPU", "cpu");
    const at::Device device(o.device == "cuda" ? "cuda:0" : "cpu");
    HEADROOM_TRY(const Program program, lower(plan));
    say({{"event", "start"},
         {"device", machine_of(device)},
         {"ops", program.size()},
         {"device_arena_bytes", program.arena[0]},
         {"steps", o.steps}});
    HEADROOM_TRY(const Arena arena, Arena::allocate(Tier::device, Bytes(program.arena[0]), device));
    HEADROOM_TRY(const at::Tensor memory, arena.view(0, {program.arena[0]}, at::kByte));
    OptimizerSettings settings;
    settings.learning_rate = o.learning_rate;
    settings.seed = static_cast<uint64_t>(o.seed);
    Executor executor(plan, program, memory, settings);
    const uint64_t seed = settings.seed;
    HEADROOM_CHECK(fill_initial_weights(plan, seed, executor.weights()));
    if (executor.optimizer_states().defined()) executor.optimizer_states().zero_();
    const at::Tensor tokens = initial_tokens(plan, seed).to(device);

    auto last_said = std::chrono::steady_clock::now();
    StepResult result;
    for (int64_t s = 0; s < o.steps; ++s) {
        const auto begin = std::chrono::steady_clock::now();
        HEADROOM_TRY(result, executor.step(tokens, [&](OpId op) {
            if (interrupted()) return false;
            const auto t = std::chrono::steady_clock::now();
            if (t - last_said > std::chrono::seconds(1)) {
                last_said = t;
                say({{"event", "progress"},
                     {"step", s},
                     {"op", op},
                     {"share", static_cast<double>(op) / static_cast<double>(program.size())}});
            }
            return true;
        }));
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        nlohmann::ordered_json line{
            {"event", "step"},
            {"step", s},
            {"loss", result.loss},
            {"gradient_norm", result.gradient_norm},
            {"seconds", seconds},
            {"tokens_per_second", static_cast<double>(plan.context.count()) / seconds}};
        if (device.is_cuda()) {
            size_t free = 0, total = 0;
            (void)cudaMemGetInfo(&free, &total);
            line["device_used_bytes"] = total - free;
        }
        say(line);
    }
    if (!o.output.empty()) {
        HEADROOM_TRY(const Timeline t,
                     measured_timeline(plan, program, std::move(result), machine_of(device), now()));
        HEADROOM_CHECK(write_timeline(t, o.output));
        say({{"event", "written"}, {"timeline", o.output}});
    }
    return 0;
}

int main(int argc, char** argv) {
    CLI::App app("Runs a plan of headroom: the same operations, buffers and addresses that it predicted.");
    app.require_subcommand(1);
    Options o;
    CLI::App* sub =
        app.add_subcommand("run", "Runs training steps of a plan and writes the measured timeline");
    sub->add_option("plan", o.plan, "A plan file, as `headroom plan -o` writes it")
        ->required()
        ->type_name("PLAN");
    sub->add_option("--device", o.device, "Where: cuda or cpu")->check(CLI::IsMember({"cuda", "cpu"}));
    sub->add_option("--steps", o.steps, "Training steps; the last one is written")
        ->check(CLI::Range(1, 1'000'000));
    sub->add_option("--seed", o.seed, "Of weights, tokens and stochastic rounding")
        ->check(CLI::NonNegativeNumber);
    sub->add_option("--learning-rate", o.learning_rate, "Of the optimizer")->check(CLI::NonNegativeNumber);
    sub->add_option("-o,--output", o.output, "The measured timeline, *.trace.json.gz")->type_name("FILE");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : exit_code(Fault::bad_input);
    }
    handle_interrupts();
    try {
        const Result<int> code = run(o);
        if (code) return *code;
        std::fprintf(stderr, "headroom-engine: %s\n", code.error().text().c_str());
        return exit_code(code.error().fault);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "headroom-engine: %s\n", e.what());
        return exit_code(Fault::run_failed);
    }
}

}  // namespace
}  // namespace headroom::engine

int main(int argc, char** argv) {
    return headroom::engine::main(argc, argv);
}
