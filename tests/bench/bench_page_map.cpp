// The page map of a 4Mi step (1,024 chunks, 32,768 pages): made once, and a tile of it for each zoom and pan.
#include <benchmark/benchmark.h>

#include "gui/paint/page_tile.h"
#include "search/answer.h"

namespace headroom::gui {
namespace {

constexpr int kWidth = 1486, kHeight = 478;  // of the map in a window of 1600 x 900

struct Step {
    Plan plan;
    Timeline timeline;
};

const Step& step(bool sparse) {
    static const auto make = [](bool selects) {
        const std::filesystem::path data = HEADROOM_SOURCE_DIR;
        std::vector<std::string> set{"plan.chunk=4Ki"};
        if (!selects) set.push_back("plan.attention=dense");
        const Result<Scenario> scenario =
            read_scenario(data / "scenarios" / "qwen2.5-7b-4m-h200.toml", data, set);
        if (!scenario) throw std::runtime_error(scenario.error().text());
        Plan plan = scenario->plan;
        plan.decisions.strategy = "chunked";
        Step made{plan, {}};
        // What the map reads of a step: which chunks attend anything.
        const int64_t chunks = plan.chunks(), layers = plan.model.layer_count();
        for (const Pass pass : {Pass::fill, Pass::gradient}) {
            for (int64_t c = 1; c < chunks; ++c) {
                for (int64_t l = 0; l < layers; ++l) {
                    Traffic row{static_cast<uint32_t>(c), static_cast<uint16_t>(l), pass};
                    row.selected = 1;
                    made.timeline.traffic.push_back(row);
                }
            }
        }
        return made;
    };
    static const Step sparse_step = make(true), dense_step = make(false);
    return sparse ? sparse_step : dense_step;
}

void make_map(benchmark::State& state) {
    const Step& s = step(state.range(0) != 0);
    for (auto _ : state) benchmark::DoNotOptimize(make_page_map(s.plan, s.timeline));
}
BENCHMARK(make_map)->ArgName("sparse")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

void make_tile(benchmark::State& state) {
    const Step& s = step(state.range(0) != 0);
    const Pass pass = state.range(1) != 0 ? Pass::gradient : Pass::fill;
    const PageMap map = make_page_map(s.plan, s.timeline);
    MapWindow window = whole_window(map);
    if (state.range(2) != 0) window = clamped({400, 440, 10'000, 14'000}, map);
    const Palette palette = Palette::light();
    for (auto _ : state) {
        const auto values = fuse(map, pass, kAllLayers, window, kWidth, kHeight);
        benchmark::DoNotOptimize(tile_image(values, kWidth, kHeight, palette));
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(make_tile)
    ->ArgNames({"sparse", "gradient", "zoomed"})
    ->ArgsProduct({{1, 0}, {0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom::gui
