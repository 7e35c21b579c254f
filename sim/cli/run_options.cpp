#include "cli/run_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

#include "cli/checks.h"

namespace headroom::cli {
namespace {

void add_optimizer_options(CLI::App& app, RunOptions& o) {
    const auto rate = [&](const char* name, double& value, const char* help) {
        app.add_option(name, value, help)->check(within(0, 1e6));
    };
    const auto share = [&](const char* name, double& value, const char* help) {
        app.add_option(name, value, help)
            ->check(CLI::Validator(
                [](const std::string& text) {
                    double v = -1;
                    return CLI::detail::lexical_cast(text, v) && v >= 0 && v < 1 ? "" : "not in [0, 1)";
                },
                "in [0, 1)"));
    };
    rate("--learning-rate", o.learning_rate, "Of the optimizer: the highest of the schedule");
    app.add_option("--schedule", o.schedule,
                   "Of the learning rate after the warm-up: constant, or down to the least by a line or half "
                   "a cosine")
        ->check(CLI::IsMember({"constant", "linear", "cosine"}));
    app.add_option("--warmup-steps", o.warmup_steps, "Steps in which the learning rate rises in a line")
        ->check(CLI::Range(0, 1'000'000'000));
    app.add_option("--total-steps", o.total_steps,
                   "Step at which the schedule reaches the least rate (default: --steps)")
        ->check(CLI::Range(1, 1'000'000'000));
    rate("--min-learning-rate", o.min_learning_rate, "The least of the schedule");
    share("--beta1", o.beta1, "Of AdamW: what stays of the first moment in a step");
    share("--beta2", o.beta2, "Of AdamW: what stays of the second moment in a step");
    app.add_option("--epsilon", o.epsilon, "Of AdamW")->check(within(1e-30, 1));
    rate("--weight-decay", o.weight_decay, "Of AdamW, times the learning rate");
    rate("--clip-norm", o.clip_norm, "Gradients are scaled so that their norm is at most this; 0: never");
}

}  // namespace

void add_run_options(CLI::App& app, RunOptions& o) {
    app.add_option("plan", o.plan, "A plan file, as `headroom plan -o` writes it")
        ->required()
        ->type_name("PLAN");
    app.add_option("--device", o.device, "Where: cuda or cpu")->check(CLI::IsMember({"cuda", "cpu"}));
    app.add_option("--steps", o.steps, "Training steps; the last one is written")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--seed", o.seed, "Of rounding, and of weights and tokens that no file gives")
        ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
    app.add_option(
           "--weights", o.weights,
           "Begin with these weights: a .safetensors file, a model.safetensors.index.json, or a folder "
           "that holds either (default: seeded)")
        ->type_name("PATH");
    app.add_option(
           "--tokens", o.tokens,
           "Train on these token ids: .npy (one dimension), else raw uint32; each step takes the next "
           "context of them, from the start again at their end (default: seeded, every step the same)")
        ->type_name("FILE");
    app.add_option(
           "--save-weights", o.save_weights,
           "Write the trained weights there as transformers loads them: model.safetensors, config.json")
        ->type_name("FOLDER");
    app.add_option("--save-gradients", o.save_gradients,
                   "Write the last step's gradients there, before clipping, under the names of the weights: "
                   "model.safetensors")
        ->type_name("FOLDER");
    app.add_option(
           "--record-selection", o.record_selection,
           "Write the pages that the last step selected, for [selection] of a scenario (sparse attention); "
           "gzipped where its name ends in .gz")
        ->type_name("FILE");
    add_optimizer_options(app, o);
    app.add_option("--checkpoint", o.checkpoint,
                   "Keep all that a run needs to go on there: at the end, and every so many steps")
        ->type_name("FOLDER");
    app.add_option("--checkpoint-every", o.checkpoint_every, "Steps between checkpoints")
        ->check(CLI::Range(1, 1'000'000'000))
        ->needs("--checkpoint");
    app.add_option(
           "--resume", o.resume,
           "Go on from a checkpoint, with the settings that it has: for --steps more steps, the same bits "
           "as if the run had not stopped")
        ->type_name("FOLDER")
        ->excludes("--weights");
    app.add_option(
           "--disk", o.disk,
           "Where pages go that the plan keeps on disk: a file without a name, gone when the run ends "
           "(default: the folder of --output, else the current one)")
        ->type_name("FOLDER");
    app.add_option("--attention", o.attention,
                   "How a GPU attends: graph (which auto means), by cuDNN's graph API in planned buffers, or "
                   "aten, by "
                   "libtorch's call of cuDNN, which allocates beside them")
        ->check(CLI::IsMember({"auto", "graph", "aten"}));
    app.add_flag("--no-device-check", o.no_device_check,
                 "Do not ask whether the device's memory is enough: the first allocation that fails says so");
    app.add_option("-o,--output", o.output, "The measured timeline, *.trace.json.gz")
        ->check(named())
        ->type_name("FILE");
    app.add_flag("--json", o.json, "Progress and results as JSON lines on stdout, not as text");
    app.parse_complete_callback([&app, &o] {
        for (const CLI::Option* option : app.get_options())
            if (option->count() > 0 && !option->get_lnames().empty())
                o.given.insert(option->get_lnames().front());
    });
}

Result<void> check_outputs(const RunOptions& o) {
    const std::vector<std::string> read{o.plan, o.weights, o.tokens};
    HEADROOM_CHECK(check_output(o.output, read));
    return check_output(o.record_selection, read);
}

std::vector<std::string> words_of(const CLI::App& app) {
    std::vector<std::string> words, positional;
    for (const CLI::Option* option : app.get_options()) {
        if (option->count() == 0) continue;
        const bool flag = option->get_expected_min() == 0;
        if (option->get_positional()) {
            positional.insert(positional.end(), option->results().begin(), option->results().end());
        } else if (flag) {
            words.push_back(option->get_name());
        } else {
            // With '=': a value may begin with a dash.
            for (const std::string& value : option->results())
                words.push_back(option->get_name() + "=" + value);
        }
    }
    words.push_back("--");
    words.insert(words.end(), positional.begin(), positional.end());
    return words;
}

}  // namespace headroom::cli
