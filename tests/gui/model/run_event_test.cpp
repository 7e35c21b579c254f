#include "gui/model/run_event.h"

#include <gtest/gtest.h>

namespace headroom::gui::test {
namespace {

using Kind = RunEvent::Kind;

TEST(RunEvent, AStartTellsTheMachineAndItsArenas) {
    const RunEvent e = parse_run_event(
        R"({"event":"start","device":"CPU, 2 threads","ops":639,"device_arena_bytes":108268032,)"
        R"("host_arena_bytes":12681216,"deterministic":false,"first_step":5,"steps":3})");
    EXPECT_EQ(e.kind, Kind::start);
    EXPECT_EQ(e.device, "CPU, 2 threads");
    EXPECT_EQ(e.ops, 639);
    EXPECT_EQ(e.device_arena_bytes, 108268032);
    EXPECT_EQ(e.host_arena_bytes, 12681216);
    EXPECT_EQ(e.first_step, 5);
    EXPECT_EQ(e.steps, 3);
}

TEST(RunEvent, ProgressIsAShareOfAStep) {
    const RunEvent e = parse_run_event(R"({"event":"progress","step":2,"op":294,"share":0.46})");
    EXPECT_EQ(e.kind, Kind::progress);
    EXPECT_EQ(e.step, 2);
    EXPECT_EQ(e.share, 0.46);
    EXPECT_EQ(parse_run_event(R"({"event":"progress","step":0,"share":7})").share, 1);
    EXPECT_EQ(parse_run_event(R"({"event":"progress","step":-4,"share":-7})").share, 0);
    EXPECT_EQ(parse_run_event(R"({"event":"progress","step":-4,"share":-7})").step, 0);
}

TEST(RunEvent, AStepHasItsFiguresAndThoseOfAGpuWhereThereIsOne) {
    const RunEvent cpu =
        parse_run_event(R"({"event":"step","step":0,"loss":8.25,"gradient_norm":1.5,"learning_rate":0.0001,)"
                        R"("seconds":1.25,"tokens_per_second":1638.4})");
    EXPECT_EQ(cpu.kind, Kind::step);
    EXPECT_EQ(cpu.loss, 8.25);
    EXPECT_EQ(cpu.gradient_norm, 1.5);
    EXPECT_EQ(cpu.learning_rate, 0.0001);
    EXPECT_EQ(cpu.seconds, 1.25);
    EXPECT_EQ(cpu.tokens_per_second, 1638.4);
    EXPECT_FALSE(cpu.mfu);
    EXPECT_FALSE(cpu.device_used_bytes);
    const RunEvent gpu = parse_run_event(
        R"({"event":"step","step":1,"loss":null,"gradient_norm":2,"mfu":0.41,"device_used_bytes":80530636800})");
    EXPECT_FALSE(gpu.loss) << "what is no number is null in JSON";
    EXPECT_EQ(gpu.mfu, 0.41);
    EXPECT_EQ(gpu.device_used_bytes, 80530636800);
}

TEST(RunEvent, FilesAreNamed) {
    EXPECT_EQ(parse_run_event(R"({"event":"written","timeline":"a.trace.json.gz"})").text, "a.trace.json.gz");
    EXPECT_EQ(parse_run_event(R"({"event":"written","selection":"s.json"})").text, "s.json");
    EXPECT_EQ(parse_run_event(R"({"event":"checkpoint","step":4,"folder":"kept"})").text, "kept");
    EXPECT_EQ(parse_run_event(R"({"event":"saved","weights":"w","config":true})").text, "w");
    EXPECT_EQ(parse_run_event(R"({"event":"end","steps":3,"loss":8.2})").kind, Kind::end);
}

TEST(RunEvent, AnythingElseIsKeptAsItCame) {
    for (const char* line : {"Loading libraries", "{\"event\":\"dance\"}", "{\"event\":", "[1,2]", "null",
                             "7", "{\"event\":5}", "\"start\""}) {
        const RunEvent e = parse_run_event(line);
        EXPECT_EQ(e.kind, Kind::other) << line;
        EXPECT_EQ(e.text, line);
    }
    EXPECT_EQ(parse_run_event("  padded \r\n").text, "padded");
    EXPECT_EQ(parse_run_event("").text, "");
    // A field of another type than it should be is as if it were absent.
    const RunEvent odd = parse_run_event(R"({"event":"step","step":"one","loss":"high","seconds":[]})");
    EXPECT_EQ(odd.kind, Kind::step);
    EXPECT_EQ(odd.step, 0);
    EXPECT_FALSE(odd.loss);
}

}  // namespace
}  // namespace headroom::gui::test
