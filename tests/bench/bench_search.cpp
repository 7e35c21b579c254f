// Candidates in closed form, the whole search at 4Mi tokens, and lowering.
#include <benchmark/benchmark.h>

#include <string>

#include "search/search.h"
#include "strategy/strategy.h"

namespace headroom {
namespace {

Scenario scenario(benchmark::State& state, const std::string& attention) {
    const std::string text =
        "model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = \"4Mi\"\n[budget]\nhost = "
        "\"1TiB\"\n"
        "[plan]\nstrategy = \"chunked\"\nattention = " +
        attention + "\n";
    const Result<Scenario> s = parse_scenario(text, "bench.toml", HEADROOM_SOURCE_DIR, HEADROOM_SOURCE_DIR);
    if (!s) state.SkipWithError(s.error().text().c_str());
    return s.value_or(Scenario{});
}

constexpr const char* kDense = "\"dense\"";
constexpr const char* kSparse = "{ kind = \"sparse\", budget = 64, block = 4096 }";

// Items: scores of known groups and homes, which differ in residency.
void score(benchmark::State& state, const std::string& attention) {
    Plan plan = scenario(state, attention).plan;
    Estimator estimator;
    int64_t scores = 0;
    for (auto _ : state) {
        plan.decisions.kv_residency.device_layers = scores % 29;
        plan.decisions.kv_gradient_residency.device_layers = scores / 29 % 29;
        benchmark::DoNotOptimize(estimator.score(plan));
        ++scores;
    }
    state.SetItemsProcessed(scores);
}
BENCHMARK_CAPTURE(score, dense, kDense);
BENCHMARK_CAPTURE(score, sparse, kSparse);

// Items: candidates scored; nothing simulated whole.
void search(benchmark::State& state, const std::string& attention) {
    const Scenario s = scenario(state, attention);
    SearchOptions options;
    options.exact = false;
    int64_t scored = 0;
    for (auto _ : state) {
        Searcher searcher(s);
        const Result<Found> found = searcher.best(s.plan.budget, options);
        if (!found) return state.SkipWithError(found.error().text().c_str());
        scored += found->scored;
    }
    state.SetItemsProcessed(scored);
}
BENCHMARK_CAPTURE(search, dense, kDense)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, sparse, kSparse)->Unit(benchmark::kMillisecond);

// What the app says first after a knob was turned: the file read again, and the exact bytes of the plan that
// leaves most room.
void verdict(benchmark::State& state, const std::string& name) {
    const std::string root = HEADROOM_SOURCE_DIR;
    for (auto _ : state) {
        const Result<Scenario> s = read_scenario(root + "/scenarios/" + name + ".toml", root);
        if (!s) return state.SkipWithError(s.error().text().c_str());
        const Result<Found> found = Searcher(*s).roomiest(s->plan.budget);
        if (!found) return state.SkipWithError(found.error().text().c_str());
        benchmark::DoNotOptimize(found->evaluation.tiers);
    }
}
BENCHMARK_CAPTURE(verdict, sparse_1m, "qwen2.5-7b-1m-h200")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verdict, sparse_4m, "qwen2.5-7b-4m-h200")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verdict, dense_64k, "qwen2.5-7b-64k-exact-h200")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verdict, does_not_fit, "qwen2.5-72b-128k-h200")->Unit(benchmark::kMillisecond);

// Items: ops.
void lowering(benchmark::State& state, const std::string& attention) {
    const Plan plan = scenario(state, attention).plan;
    const SelectionSet selections = select_pages(plan);
    int64_t ops = 0;
    for (auto _ : state) {
        const Result<Program> program = lower(plan, selections);
        if (!program) return state.SkipWithError(program.error().text().c_str());
        ops += static_cast<int64_t>(program->size());
    }
    state.SetItemsProcessed(ops);
}
BENCHMARK_CAPTURE(lowering, dense, kDense)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lowering, sparse, kSparse)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom
