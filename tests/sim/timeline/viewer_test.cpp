// The rules by which trace viewers take a file, on steps simulated from shipped scenarios. Perfetto's were
// read in its source code (google/perfetto, src/trace_processor: util/trace_type.cc, importers/json/,
// importers/common/slice_tracker.cc, as of 2025), chrome://tracing's seen on the screen;
// docs/timeline-format.md has them in a table.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file.h"
#include "search/answer.h"
#include "search/evaluate.h"
#include "sim/base/scratch_folder.h"

namespace headroom {
namespace {

using nlohmann::json;

// Pages that travel and gradient pages all at once, dense and sparse: ops that have nothing to do on the
// device; all on the device; several GPUs.
const char* const kScenarios[] = {"qwen2.5-7b-8k-oomb-dense-offload-h200",
                                  "qwen2.5-7b-8k-oomb-sparse-offload-h200", "qwen2.5-7b-64k-oomb-sparse-h200",
                                  "qwen2.5-7b-256k-8xh100-ring"};

class Viewer : public ScratchFolder, public ::testing::WithParamInterface<const char*> {
protected:
    void SetUp() override {
        ScratchFolder::SetUp();
        const std::filesystem::path source = HEADROOM_SOURCE_DIR;
        const Result<Scenario> scenario =
            read_scenario(source / "scenarios" / (std::string(GetParam()) + ".toml"), source);
        ASSERT_TRUE(scenario) << scenario.error().text();
        AnswerOptions options;
        options.gains = options.remedies = false;
        const Result<Answer> a = answer(*scenario, options);
        ASSERT_TRUE(a) << a.error().text();
        Result<Timeline> predicted = predict(a->plan);
        ASSERT_TRUE(predicted) << predicted.error().text();
        step_ = std::move(*predicted);
        ASSERT_TRUE(write_timeline(step_, at("step.trace.json.gz")));
        const Result<std::string> file = read_file(at("step.trace.json.gz"), kGiB);
        ASSERT_TRUE(file);
        packed_ = *file;
        text_ = format_timeline(step_);
        trace_ = json::parse(text_);
    }

    // Events of one type, by process and thread; what names no thread counts as thread 0.
    std::map<std::pair<int64_t, int64_t>, std::vector<const json*>> tracks(const char* type) const {
        std::map<std::pair<int64_t, int64_t>, std::vector<const json*>> found;
        for (const json& e : trace_["traceEvents"])
            if (e["ph"] == type) found[{e["pid"], e.value("tid", int64_t{0})}].push_back(&e);
        return found;
    }

    Timeline step_;
    std::string packed_, text_;
    json trace_;
};

// json_trace_tokenizer.cc, CoerceToTs.
int64_t nanoseconds(const json& micros) {
    const double value = micros.get<double>();
    return value == std::trunc(value) ? static_cast<int64_t>(value) * 1000
                                      : static_cast<int64_t>(std::llround(value * 1000));
}

// trace_type.cc, GuessTraceType: gzip by its magic, JSON by its first two characters.
TEST_P(Viewer, KnowsTheFormat) {
    EXPECT_EQ(packed_.substr(0, 2), "\x1f\x8b");
    EXPECT_EQ(text_.substr(0, 2), "{\"");
    EXPECT_NE(text_.substr(0, 7), "{\"meta\"");
    EXPECT_NE(text_.substr(0, 7), "{\"libs\"");
}

// json_trace_tokenizer.cc, ParseTraceEventContents: what lacks a field or has one of another type is dropped
// and counted (json_tokenizer_failure). A negative pid or tid, or one of more than 32 bits, becomes 0.
TEST_P(Viewer, DropsNoEvent) {
    ASSERT_TRUE(trace_["traceEvents"].is_array());
    for (const json& e : trace_["traceEvents"]) {
        ASSERT_TRUE(e["ph"].is_string() && e["name"].is_string()) << e;
        const std::string type = e["ph"];
        ASSERT_TRUE(type == "X" || type == "C" || type == "M") << e;
        ASSERT_TRUE(type == "M" || e["ts"].is_number()) << e;
        ASSERT_TRUE(type != "X" || e["dur"].is_number()) << e;
        for (const char* key : {"pid", "tid"}) {
            if (!e.contains(key)) continue;
            ASSERT_TRUE(e[key].is_number_unsigned()) << e;
            ASSERT_GT(e[key].get<uint64_t>(), 0u) << e;
            ASSERT_LE(e[key].get<uint64_t>(), UINT32_MAX) << e;
        }
        ASSERT_TRUE(e["args"].is_object() && !e["args"].empty()) << e;
    }
}

// Times pass through a double there; they are ours all the same.
TEST_P(Viewer, SeesExactTimes) {
    size_t op = 0, sample = 0;
    for (const json& e : trace_["traceEvents"]) {
        if (e["ph"] == "X") {
            ASSERT_EQ(nanoseconds(e["ts"]), step_.ops[op].start_ns);
            ASSERT_EQ(nanoseconds(e["dur"]), step_.ops[op].end_ns - step_.ops[op].start_ns);
            ++op;
        } else if (e["ph"] == "C") {
            ASSERT_EQ(nanoseconds(e["ts"]), step_.memory[sample++].time_ns);
        }
    }
    EXPECT_EQ(op, step_.ops.size());
    EXPECT_EQ(sample, step_.memory.size());
}

// slice_tracker.cc, MaybeCloseStack: slices of a thread nest or lie apart; one that overlaps another in part
// is dropped, and one of no length at the start of another is drawn inside it.
TEST_P(Viewer, DrawsAStreamOnOneLine) {
    for (auto& [thread, slices] : tracks("X")) {
        int64_t free = 0;
        for (const json* e : slices) {
            ASSERT_GE(nanoseconds((*e)["ts"]), free) << *e;
            ASSERT_GT(nanoseconds((*e)["dur"]), 0) << *e;
            free = nanoseconds((*e)["ts"]) + nanoseconds((*e)["dur"]);
        }
    }
}

// json_trace_parser.cc, case 'M': names are texts that are not empty, sort indices whole numbers.
TEST_P(Viewer, NamesEveryTrack) {
    std::map<std::pair<int64_t, int64_t>, std::string> names;
    for (const auto& [track, events] : tracks("M")) {
        for (const json* e : events) {
            const std::string what = (*e)["name"];
            if (what == "process_name" || what == "thread_name") {
                ASSERT_FALSE((*e)["args"]["name"].get<std::string>().empty()) << *e;
                names[track] = (*e)["args"]["name"];
            } else {
                ASSERT_TRUE(what == "process_sort_index" || what == "thread_sort_index") << *e;
                ASSERT_TRUE((*e)["args"]["sort_index"].is_number_integer()) << *e;
            }
        }
    }
    for (const char* type : {"X", "C"}) {
        for (const auto& [track, events] : tracks(type)) {
            EXPECT_TRUE(names.contains(track)) << track.first << " " << track.second;
            EXPECT_TRUE(names.contains({track.first, 0})) << track.first;
        }
    }
}

// json_trace_parser.cc, case 'C': each number among the args is a counter of the process, named event and
// key. chrome://tracing draws a counter from sample to sample, so one that lives to the end has its last
// sample there.
TEST_P(Viewer, DrawsEveryCategoryToItsEnd) {
    int64_t end = 0;
    for (const TimelineOp& op : step_.ops) end = std::max(end, op.end_ns);
    std::map<std::pair<int64_t, std::string>, std::pair<int64_t, int64_t>> last;
    for (const json& e : trace_["traceEvents"]) {
        if (e["ph"] != "C") continue;
        ASSERT_EQ(e["args"].size(), 1u) << e;
        ASSERT_TRUE(e["args"]["bytes"].is_number_unsigned()) << e;
        last[{e["pid"], e["name"]}] = {nanoseconds(e["ts"]), e["args"]["bytes"]};
    }
    EXPECT_TRUE(last.contains({2, "weights"}));
    for (const auto& [counter, sample] : last)
        EXPECT_TRUE(sample.first == end || sample.second == 0) << counter.first << " " << counter.second;
}

INSTANTIATE_TEST_SUITE_P(Shipped, Viewer, ::testing::ValuesIn(kScenarios), [](const auto& test) {
    std::string name = test.param;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
    return name;
});

}  // namespace
}  // namespace headroom
