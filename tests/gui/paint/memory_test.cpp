#include <gtest/gtest.h>

#include <map>

#include "gui/make_timeline.h"
#include "gui/paint/memory_curve.h"
#include "gui/paint/memory_list.h"

namespace headroom::gui::test {
namespace {

// Bytes of each category at an instant, read from all samples.
std::map<Category, int64_t> live_at(const Timeline& t, Tier tier, int64_t ns) {
    std::map<Category, int64_t> live;
    for (const MemorySample& s : t.memory) {
        if (s.tier == tier && s.time_ns <= ns) live[s.category] = s.bytes;
    }
    return live;
}
int64_t sum(const std::map<Category, int64_t>& live) {
    int64_t total = 0;
    for (const auto& [category, bytes] : live) total += bytes;
    return total;
}

TEST(MemoryCurve, SamplesOfOneInstantCountTogether) {
    TimelineMaker maker;
    maker.memory(0, Tier::device, Category::weights, 100);
    maker.memory(10, Tier::device, Category::activations, 50);
    maker.memory(20, Tier::device, Category::activations, 0);
    maker.memory(20, Tier::device, Category::logits, 40);
    maker.memory(20, Tier::host, Category::kv, 7);
    maker.capacity(Tier::device, 1000);
    const Timeline t = maker.take();
    const MemoryCurve device(t, Tier::device);
    EXPECT_EQ(device.capacity_bytes(), 1000);
    EXPECT_EQ(device.categories(),
              (std::vector<Category>{Category::weights, Category::activations, Category::logits}));
    ASSERT_EQ(device.size(), 3U);
    EXPECT_EQ(device.total_bytes(device.peak()), 150);
    EXPECT_EQ(device.time_ns(device.peak()), 10);
    EXPECT_EQ(device.bytes_at(2), (std::vector<int64_t>{100, 0, 40}));
    EXPECT_EQ(device.instant_at(-1), MemoryCurve::kBefore);
    EXPECT_EQ(device.instant_at(19), 1U);
    EXPECT_EQ(device.bytes_at(MemoryCurve::kBefore), (std::vector<int64_t>{0, 0, 0}));
    EXPECT_EQ(MemoryCurve(t, Tier::host).size(), 1U);
    EXPECT_TRUE(MemoryCurve(t, Tier::disk).empty());
    EXPECT_EQ(MemoryCurve(t, Tier::disk).peak(), MemoryCurve::kBefore);
}

class RandomMemory : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomMemory, EveryInstantIsAsTheSamplesSay) {
    const Timeline t = random_memory(GetParam(), 1500);
    for (const Tier tier : {Tier::device, Tier::host}) {
        const MemoryCurve curve(t, tier);
        for (size_t i = 0; i < curve.size(); i += 7) {
            const std::map<Category, int64_t> live = live_at(t, tier, curve.time_ns(i));
            const std::vector<int64_t> bytes = curve.bytes_at(i);
            for (size_t c = 0; c < bytes.size(); ++c) {
                const auto at = live.find(curve.categories()[c]);
                EXPECT_EQ(bytes[c], at == live.end() ? 0 : at->second);
            }
            EXPECT_EQ(curve.total_bytes(i), sum(live));
        }
    }
}

TEST_P(RandomMemory, TheFullestOfAnyRange) {
    const Timeline t = random_memory(GetParam(), 6000);
    const MemoryCurve curve(t, Tier::device);
    std::mt19937 random(GetParam());
    std::uniform_int_distribution<size_t> any(0, curve.size() - 1);
    for (int i = 0; i < 400; ++i) {
        size_t first = any(random),
               last = i % 3 == 0 ? std::min(first + any(random) % 90, curve.size() - 1) : any(random);
        if (last < first) std::swap(first, last);
        size_t most = first;
        for (size_t k = first; k <= last; ++k) {
            if (curve.total_bytes(k) > curve.total_bytes(most)) most = k;
        }
        EXPECT_EQ(curve.fullest(first, last), most) << first << " to " << last;
    }
    EXPECT_EQ(curve.fullest(MemoryCurve::kBefore, MemoryCurve::kBefore), MemoryCurve::kBefore);
    EXPECT_EQ(curve.fullest(MemoryCurve::kBefore, 0), 0U);
}

// Each column is as high as the fullest of all that happens in it, at every zoom.
TEST_P(RandomMemory, NoPeakIsLost) {
    const Timeline t = random_memory(GetParam(), 3000);
    const MemoryCurve curve(t, Tier::device);
    const int64_t end = t.ops[0].end_ns;
    for (const auto& [begin, length] :
         {std::pair{int64_t{0}, end}, {end / 3, end / 10}, {end / 2, int64_t{500}}, {end / 5, int64_t{40}}}) {
        const TimeAxis axis{begin, begin + length, 20, 150};
        const MemoryList list = list_of(curve, axis, 1);
        EXPECT_DOUBLE_EQ(list.columns.front().x, 20);
        double x = 20;
        for (size_t i = 0; i < list.columns.size(); ++i) {
            const MemoryColumn& column = list.columns[i];
            EXPECT_NEAR(column.x, x, 1e-9);
            x = column.x + column.width;
            int64_t total = 0;
            for (const int64_t bytes : list.bytes_of(i)) total += bytes;
            EXPECT_EQ(total, column.total_bytes);
            for (double px = column.x; px < x - 0.5; ++px) {
                const int64_t from = axis.ns_at(px), to = std::min(axis.end_ns, axis.ns_at(px + 1));
                int64_t most = sum(live_at(t, Tier::device, from));
                for (size_t k = 0; k < curve.size(); ++k) {
                    if (curve.time_ns(k) > from && curve.time_ns(k) < to)
                        most = std::max(most, sum(live_at(t, Tier::device, curve.time_ns(k))));
                }
                EXPECT_EQ(column.total_bytes, most) << px;
            }
        }
        EXPECT_NEAR(x, 170, 1e-9);
    }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomMemory, testing::Range(1U, 4U));

TEST(MemoryList, AWholeStepHasItsPeak) {
    const Timeline t = random_memory(11, 5000);
    const MemoryCurve curve(t, Tier::host);
    for (const double width : {3.0, 50.0, 1600.0}) {
        const MemoryList list = list_of(curve, {0, t.ops[0].end_ns, 0, width}, 2);
        int64_t most = 0;
        for (const MemoryColumn& column : list.columns) most = std::max(most, column.total_bytes);
        EXPECT_EQ(most, statistics_of(t).peaks[static_cast<size_t>(Tier::host)].bytes);
    }
}

}  // namespace
}  // namespace headroom::gui::test
