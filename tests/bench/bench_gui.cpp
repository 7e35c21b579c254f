// The app's goals: a timeline of a million ops opened in 2 s, a frame in 16 ms at any zoom at 1600 x 900, ten
// million ops usable. Frames are painted by QPainter into a raster image, without a screen.
//
// Timelines: the simulated step of scenarios/qwen2.5-7b-4m-h200.toml, and that step cut or repeated to a
// million and to ten million ops.
#include <benchmark/benchmark.h>

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <filesystem>
#include <map>

#include "gui/model/range_statistics.h"
#include "gui/model/stalls.h"
#include "gui/view/memory_canvas.h"
#include "gui/view/streams_canvas.h"
#include "search/answer.h"
#include "search/evaluate.h"

namespace headroom::gui {
namespace {

constexpr size_t kMillion = 1'000'000;

const Timeline& real_step() {
    static const Timeline step = [] {
        const std::filesystem::path root = HEADROOM_SOURCE_DIR;
        const std::filesystem::path file = root / "scenarios" / "qwen2.5-7b-4m-h200.toml";
        const Result<Scenario> scenario = read_scenario(file, root);
        AnswerOptions options;
        options.gains = options.remedies = false;
        const Result<Answer> answer =
            scenario ? headroom::answer(*scenario, options) : tl::unexpected(scenario.error());
        Result<Timeline> timeline = answer ? predict(answer->plan) : tl::unexpected(answer.error());
        if (!timeline) {
            fprintf(stderr, "%s\n", timeline.error().text().c_str());
            std::exit(2);
        }
        return std::move(*timeline);
    }();
    return step;
}

// The first `ops` ops of the step said over and over, one after the other.
Timeline of_size(const Timeline& step, size_t ops) {
    int64_t length = 0;
    for (const TimelineOp& op : step.ops) length = std::max(length, op.end_ns);
    Timeline t = step;
    t.ops.clear();
    t.waits_begin = {0};
    t.waits.clear();
    t.memory.clear();
    int64_t end = 0;
    for (size_t i = 0; i < ops; ++i) {
        const size_t from = i % step.ops.size(), repeat = i / step.ops.size();
        TimelineOp op = step.ops[from];
        const int64_t shift = static_cast<int64_t>(repeat) * length;
        op.start_ns += shift;
        op.end_ns += shift;
        end = std::max(end, op.end_ns);
        for (uint32_t w = step.waits_begin[from]; w < step.waits_begin[from + 1]; ++w)
            t.waits.push_back(step.waits[w] + static_cast<OpId>(repeat * step.ops.size()));
        t.ops.push_back(op);
        t.waits_begin.push_back(static_cast<uint32_t>(t.waits.size()));
    }
    for (int64_t shift = 0; shift <= end; shift += length) {
        for (MemorySample sample : step.memory) {
            sample.time_ns += shift;
            if (sample.time_ns <= end) t.memory.push_back(sample);
        }
    }
    return t;
}

// 0: the real step as it is.
Timeline timeline_of(size_t ops) {
    return ops == 0 ? real_step() : of_size(real_step(), ops);
}

struct Opened {
    StepPtr step;
    std::shared_ptr<const Lanes> lanes;
    std::shared_ptr<const MemoryCurves> curves;
    Stalls stalls;
};
Opened open(Timeline timeline) {
    Opened opened;
    opened.step = make_step("bench", std::move(timeline));
    const std::shared_ptr<const Timeline> t(opened.step, &opened.step->timeline);
    opened.lanes = std::make_shared<const Lanes>(
        make_lanes(t, opened.step->index.streams, opened.step->statistics.critical_path));
    auto curves = std::make_shared<MemoryCurves>();
    for (size_t tier = 0; tier < kTiers; ++tier) {
        MemoryCurve curve(*t, static_cast<Tier>(tier));
        if (!curve.empty()) curves->push_back(std::move(curve));
    }
    opened.curves = std::move(curves);
    opened.stalls = stalls_of(*opened.step);
    return opened;
}
const Opened& opened_of(size_t ops) {
    static std::map<size_t, Opened> all;
    // One at a time: ten million ops take gigabytes.
    if (!all.contains(ops)) {
        all.clear();
        all[ops] = open(timeline_of(ops));
    }
    return all[ops];
}

// The packed file, as a person opens it.
void read_file(benchmark::State& state) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / "headroom_bench_gui.trace.json.gz";
    const Timeline t = timeline_of(static_cast<size_t>(state.range(0)));
    if (const auto written = write_timeline(t, file); !written)
        return state.SkipWithError(written.error().text().c_str());
    for (auto _ : state) benchmark::DoNotOptimize(read_timeline(file));
    std::filesystem::remove(file);
    state.counters["ops"] = static_cast<double>(t.ops.size());
    state.counters["samples"] = static_cast<double>(t.memory.size());
}
// Statistics, indices, lanes, memory curves and stalls: everything that both views need, on one thread.
void prepare(benchmark::State& state) {
    const Timeline t = timeline_of(static_cast<size_t>(state.range(0)));
    for (auto _ : state) {
        state.PauseTiming();
        Timeline copy = t;
        state.ResumeTiming();
        benchmark::DoNotOptimize(open(std::move(copy)));
    }
    state.counters["ops"] = static_cast<double>(t.ops.size());
    state.counters["samples"] = static_cast<double>(t.memory.size());
}

void range_statistics(benchmark::State& state) {
    const Opened& opened = opened_of(static_cast<size_t>(state.range(0)));
    for (auto _ : state)
        benchmark::DoNotOptimize(statistics_of(*opened.step, {0, opened.step->duration_ns()}));
}

// range(1): length of the range in view in us; 0: all. In its middle, and 3/10 into the step.
TimeRange range_of(const benchmark::State& state, int64_t duration_ns) {
    if (state.range(1) == 0) return {0, duration_ns};
    const int64_t begin = duration_ns * 3 / 10;
    return {begin, begin + state.range(1) * 1000};
}

template <class MakeList>
void frame(benchmark::State& state, TimeCanvas& canvas, Focus& focus, const Opened& opened,
           MakeList&& make_list) {
    canvas.resize(1600, 900);
    focus.reset(opened.step->duration_ns());
    focus.set_range(range_of(state, opened.step->duration_ns()));
    focus.set_cursor(focus.range().begin_ns + focus.range().length_ns() / 3);
    QImage image(1600, 900, QImage::Format_RGB32);
    for (auto _ : state) {
        make_list();
        QPainter painter(&image);
        canvas.render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
    }
    state.counters["frames/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
void frame_streams(benchmark::State& state) {
    const Opened& opened = opened_of(static_cast<size_t>(state.range(0)));
    Focus focus;
    StreamsCanvas canvas(focus);
    canvas.set_lanes(opened.step, opened.lanes);
    frame(state, canvas, focus, opened, [&] { canvas.make_list_now(); });
}
void frame_memory(benchmark::State& state) {
    const Opened& opened = opened_of(static_cast<size_t>(state.range(0)));
    Focus focus;
    MemoryCanvas canvas(focus);
    canvas.set_curves(opened.step, opened.curves);
    frame(state, canvas, focus, opened, [&] { canvas.make_strips_now(); });
}

// One step after the other, each at every zoom.
void all_zooms(benchmark::internal::Benchmark* b) {
    b->Unit(benchmark::kMillisecond)->ArgNames({"ops", "view_us"});
    for (const int64_t ops : {int64_t{0}, int64_t{kMillion}, int64_t{10 * kMillion}}) {
        for (const int64_t us : {0, 10'000'000, 1'000'000, 100'000, 10'000, 1'000, 100, 10, 1})
            b->Args({ops, us});
    }
}
void all_sizes(benchmark::internal::Benchmark* b) {
    b->Unit(benchmark::kMillisecond)->ArgName("ops")->Arg(0)->Arg(kMillion)->Arg(10 * kMillion);
}
BENCHMARK(read_file)->Unit(benchmark::kMillisecond)->ArgName("ops")->Arg(0)->Arg(kMillion);
BENCHMARK(prepare)->Apply(all_sizes);
BENCHMARK(range_statistics)->Apply(all_sizes);
BENCHMARK(frame_streams)->Apply(all_zooms);
BENCHMARK(frame_memory)->Apply(all_zooms);

}  // namespace
}  // namespace headroom::gui

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    const QApplication app(argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
