#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "base/interrupt.h"
#include "sim/timeline/hand_made.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, gone afterwards.
class ReadTrace : public testing::Test {
protected:
    ReadTrace() : folder_(fs::path(testing::TempDir()) / ("trace_" + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~ReadTrace() override { fs::remove_all(folder_); }
    fs::path at(const char* name) const { return folder_ / name; }

    fs::path folder_;
};

TEST_F(ReadTrace, GivesWhatWasWritten) {
    const Timeline t = small_step();
    ASSERT_TRUE(write_timeline(t, at("a.trace.json.gz")));
    const auto back = read_timeline(at("a.trace.json.gz"));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, t);
    EXPECT_EQ(back->plan, t.plan);
    EXPECT_EQ(back->results.at("loss"), 2.0794415416798357);
}

TEST_F(ReadTrace, EqualTimelinesGiveEqualBytes) {
    ASSERT_TRUE(write_timeline(small_step(), at("a.gz")));
    ASSERT_TRUE(write_timeline(small_step(), at("b.gz")));
    const auto a = read_file(at("a.gz"), kMiB), b = read_file(at("b.gz"), kMiB);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(*a, *b);
    ASSERT_GT(a->size(), 10u);
    EXPECT_EQ(a->substr(0, 3), "\x1f\x8b\x08");
    EXPECT_EQ(a->substr(4, 4), std::string(4, '\0'));  // no time stamp
    EXPECT_EQ((*a)[9], '\xff');                        // no system
    const auto text = gunzip(*a, "a.gz", kMiB);
    ASSERT_TRUE(text) << text.error().text();
    EXPECT_EQ(*text, format_timeline(small_step()));
}

TEST_F(ReadTrace, TakesPlainTextToo) {
    ASSERT_TRUE(write_file(at("a.json"), format_timeline(small_step())));
    const auto back = read_timeline(at("a.json"));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, small_step());
}

// More text than one part of the writer, and more ops than any table.
TEST_F(ReadTrace, LongStepsComeBackWhole) {
    HandMade made;
    for (OpId i = 0; i < 20000; ++i) {
        TimelineOp& op = i < 2 ? made.op(Stream::to_host, OpKind::store_pages, i * 10, i * 10 + 7)
                               : made.op(Stream::compute, OpKind::qkv, i * 10, i * 10 + 7, {i - 1, i / 2});
        op.chunk = i / 28;
        made.memory(i * 10, Tier::device, static_cast<Category>(i % kCategories), int64_t{i} << 20);
        made.t.traffic.push_back({});
        made.t.traffic.back().chunk = i;
    }
    ASSERT_TRUE(write_timeline(made.t, at("long.gz")));
    const auto back = read_timeline(at("long.gz"));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_TRUE(*back == made.t);
}

TEST_F(ReadTrace, TheOrderOfPartsIsFree) {
    std::string text = format_timeline(small_step());
    const size_t other = text.find("\"otherData\""), events = text.find(",\n\"traceEvents\"");
    const std::string turned = text.substr(0, other) + text.substr(events + 2, text.rfind('}') - events - 2) +
                               "," + text.substr(other, events - other) + "}";
    const auto back = parse_timeline(turned, "turned");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, small_step());
}

TEST_F(ReadTrace, ThePlanComesBackToTheByte) {
    for (const char* plan : {"{}", " {} ", "\n{\"a\": [1, {\"b\": \"}\"}]}\n\n", ""}) {
        Timeline t = small_step();
        t.plan = plan;
        const auto back = parse_timeline(format_timeline(t), "t");
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(back->plan, plan);
    }
}

TEST_F(ReadTrace, WhatBreaksTheContractIsNotWritten) {
    Timeline t = small_step();
    t.results["loss"] = std::numeric_limits<double>::quiet_NaN();
    const auto written = write_timeline(t, at("nan.gz"));
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().text().find("results.loss"), std::string::npos) << written.error().text();
    EXPECT_FALSE(fs::exists(at("nan.gz")));
    EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ReadTrace, CtrlCLeavesNoFile) {
    handle_interrupts();
    std::raise(SIGINT);
    const auto written = write_timeline(small_step(), at("a.gz"));
    clear_interrupt();
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().fault, Fault::interrupted);
    EXPECT_TRUE(fs::is_empty(folder_));
    EXPECT_TRUE(write_timeline(small_step(), at("a.gz")));
}

TEST_F(ReadTrace, FilesThatCannotBe) {
    EXPECT_FALSE(write_timeline(small_step(), folder_ / "none" / "a.gz"));
    EXPECT_FALSE(read_timeline(at("missing.gz")));
    EXPECT_FALSE(read_timeline(folder_));
    ASSERT_TRUE(write_timeline(small_step(), at("a.gz")));
    const auto packed = read_file(at("a.gz"), kMiB);
    ASSERT_TRUE(packed);
    for (size_t size = 0; size < packed->size(); size += 7) {  // cut off anywhere
        ASSERT_TRUE(write_file(at("cut.gz"), std::string_view(*packed).substr(0, size)));
        const auto back = read_timeline(at("cut.gz"));
        ASSERT_FALSE(back) << size;
        EXPECT_NE(back.error().text().find("cut.gz"), std::string::npos) << back.error().text();
    }
}

}  // namespace
}  // namespace headroom
