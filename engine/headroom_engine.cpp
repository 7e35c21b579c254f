// headroom-engine: runs plans and measures machines. `headroom run` and `headroom calibrate` start it; its
// progress and results are JSON lines on stdout.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "calibrate/calibrate.h"
#include "cli/run_options.h"
#include "run/training.h"

namespace headroom::engine {
namespace {

void say(const nlohmann::ordered_json& line) {
    std::printf("%s\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    CLI::App app("Runs a plan of headroom: the same operations, buffers and addresses that it predicted.");
    app.require_subcommand(1);
    cli::RunOptions options;
    cli::add_run_options(
        *app.add_subcommand("run", "Runs training steps of a plan and writes the measured timeline"),
        options);
    cli::CalibrateOptions calibration;
    CLI::App* const measures =
        app.add_subcommand("calibrate", "Measures the machine; rows are JSON lines on stdout");
    cli::add_calibrate_options(*measures, calibration);
    measures->add_flag("--only-check", calibration.only_check, "Three fixed points alone");
    measures->add_flag("--only-machine", calibration.only_machine, "What machine it is, and nothing timed");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : exit_code(Fault::bad_input);
    }
    handle_interrupts();
    try {
        const Result<void> done = measures->parsed() ? calibrate(calibration, say) : train(options, say);
        if (done) return 0;
        std::fprintf(stderr, "headroom-engine: %s\n", done.error().text().c_str());
        return exit_code(done.error().fault);
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "headroom-engine: host memory: exhausted beside the arenas\n");
        return exit_code(Fault::run_failed);
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
