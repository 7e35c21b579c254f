#include "timeline/peaks.h"

#include <gtest/gtest.h>

#include "sim/timeline/hand_made.h"

namespace headroom {
namespace {

constexpr auto kDevice = static_cast<size_t>(Tier::device);
constexpr auto kHost = static_cast<size_t>(Tier::host);
constexpr auto kKv = static_cast<size_t>(Category::kv);
constexpr auto kWeights = static_cast<size_t>(Category::weights);
constexpr auto kLogits = static_cast<size_t>(Category::logits);

TEST(Peaks, NameTheFirstWorstInstantAndItsOwners) {
    HandMade made;
    made.op(Stream::compute, OpKind::embed, 0, 10);
    made.op(Stream::compute, OpKind::qkv, 10, 30);
    made.op(Stream::compute, OpKind::head, 30, 40);
    made.memory(0, Tier::device, Category::weights, 100);
    made.memory(10, Tier::device, Category::kv, 50);
    made.memory(20, Tier::device, Category::kv, 20);
    made.memory(30, Tier::device, Category::logits, 30);
    made.memory(30, Tier::host, Category::kv, 7);
    const auto peaks = peaks_of(made.t);
    EXPECT_EQ(peaks[kDevice].bytes, 150);
    EXPECT_EQ(peaks[kDevice].time_ns, 10);  // 150 again at 30: the first counts
    EXPECT_EQ(peaks[kDevice].op, 1u);
    EXPECT_EQ(peaks[kDevice].by_category[kWeights], 100);
    EXPECT_EQ(peaks[kDevice].by_category[kKv], 50);
    EXPECT_EQ(peaks[kDevice].by_category[kLogits], 0);
    EXPECT_EQ(peaks[kHost].bytes, 7);
    EXPECT_EQ(peaks[kHost].op, 2u);
    EXPECT_EQ(peaks[static_cast<size_t>(Tier::disk)].op, kNone);
}

// What is freed and taken at the same instant never stands side by side, in whatever order it is written
// down.
TEST(Peaks, SamplesOfOneInstantTakeEffectTogether) {
    HandMade made;
    made.memory(0, Tier::device, Category::kv, 100);
    made.memory(5, Tier::device, Category::logits, 80);
    made.memory(5, Tier::device, Category::kv, 10);
    const auto peaks = peaks_of(made.t);
    EXPECT_EQ(peaks[kDevice].bytes, 100);
    EXPECT_EQ(peaks[kDevice].time_ns, 0);
    made.memory(5, Tier::device, Category::kv, 21);  // the last of one instant holds
    EXPECT_EQ(peaks_of(made.t)[kDevice].bytes, 101);
    EXPECT_EQ(peaks_of(made.t)[kDevice].time_ns, 5);
}

TEST(Peaks, TheOpIsTheLastThatHadStarted) {
    HandMade made;
    made.op(Stream::compute, OpKind::embed, 5, 90);
    made.op(Stream::to_device, OpKind::load_pages, 2, 9);
    made.op(Stream::to_host, OpKind::store_pages, 5, 6);
    made.op(Stream::peer, OpKind::send_pages, 11, 12);
    made.memory(10, Tier::device, Category::kv, 1);
    EXPECT_EQ(peaks_of(made.t)[kDevice].op, 2u);  // starts at 5 as op 0 does, and has the higher id
    made.t.memory[0].time_ns = 1;
    EXPECT_EQ(peaks_of(made.t)[kDevice].op, kNone);
}

TEST(Peaks, ACategoryPeaksAtAnInstantOfItsOwn) {
    HandMade made;
    made.memory(0, Tier::device, Category::weights, 100);
    made.memory(1, Tier::device, Category::kv, 60);
    made.memory(2, Tier::device, Category::kv, 10);
    made.memory(2, Tier::device, Category::logits, 90);
    const auto peaks = category_peaks_of(made.t);
    EXPECT_EQ(peaks[kDevice][kKv], 60);
    EXPECT_EQ(peaks[kDevice][kLogits], 90);
    EXPECT_EQ(peaks[kHost][kKv], 0);
    EXPECT_EQ(peaks_of(made.t)[kDevice].by_category[kKv], 10);
}

}  // namespace
}  // namespace headroom
