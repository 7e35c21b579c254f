// What people read of a run.
#include "cli/report_run.h"

#include <gtest/gtest.h>

namespace headroom::cli {
namespace {

TEST(ReportRun, EventsBecomeLines) {
    RunReport report;
    const auto said = [&](const char* line) { return report.take(line).value_or("(nothing)"); };
    EXPECT_EQ(said(R"({"event":"start","device":"a GPU","ops":12345,"device_arena_bytes":1610612736,)"
                   R"("first_step":4,"steps":2})"),
              "a GPU: 12,345 operations a step, 1.50 GiB in the device's arena; goes on after step 4");
    EXPECT_EQ(said(R"({"event":"start","device":"a GPU","ops":5,"device_arena_bytes":1073741824,)"
                   R"("disk_bytes":2147483648,"disk_direct":false,"steps":2})"),
              "a GPU: 5 operations a step, 1.00 GiB in the device's arena, 2.00 GiB on disk through the "
              "system's cache");
    EXPECT_EQ(said(R"({"event":"start","device":"a GPU","ops":5,"device_arena_bytes":1073741824,)"
                   R"("disk_bytes":2147483648,"disk_direct":true,"first_step":4,"steps":2})"),
              "a GPU: 5 operations a step, 1.00 GiB in the device's arena, 2.00 GiB on disk; goes on after "
              "step 4");
    EXPECT_EQ(said(R"({"event":"progress","step":4,"op":3,"share":0.5})"), "(nothing)");
    EXPECT_EQ(
        said(R"({"event":"step","step":4,"loss":2.5,"gradient_norm":0.125,"learning_rate":1e-4,)"
             R"("seconds":2,"tokens_per_second":4096.4,"mfu":0.4051,"device_used_bytes":3221225472})"),
        "step 5: loss 2.5, gradient norm 0.125, 2 s, 4,096 tokens/s, MFU 40.5 %, device memory in use 3.00 "
        "GiB");
    EXPECT_EQ(said(R"({"event":"checkpoint","step":6,"folder":"kept"})"),
              "wrote the checkpoint kept after step 6");
    EXPECT_EQ(said(R"({"event":"saved","weights":"w","config":true})"), "wrote the weights to w");
    EXPECT_EQ(said(R"({"event":"saved","weights":"w","config":false})"),
              "wrote the weights to w (without a config.json)");
    EXPECT_EQ(said(R"({"event":"saved","gradients":"g"})"), "wrote the gradients to g");
    EXPECT_EQ(said(R"({"event":"written","timeline":"t"})"), "wrote t");
    EXPECT_EQ(said(R"({"event":"written","selection":"s"})"), "wrote s");
    EXPECT_EQ(said(R"({"event":"end","steps":2,"loss":2.25,"gradient_norm":1,"tokens_per_second":10})"),
              "2 steps: loss 2.25, gradient norm 1, 10 tokens/s");
}

TEST(ReportRun, ALossThatIsNoNumberIsSaid) {
    RunReport report;
    EXPECT_EQ(report.take(R"({"event":"end","steps":1,"loss":null,"gradient_norm":null})"),
              "1 step: loss not a number, gradient norm not a number, 0 tokens/s");
}

TEST(ReportRun, WhatIsNoEventIsPassedOn) {
    RunReport report;
    for (const char* line : {"a warning of a library", "", "[1]", "{\"event\": 7}", "{\"event\": \"new\"}"})
        EXPECT_EQ(report.take(line), line);
}

}  // namespace
}  // namespace headroom::cli
