#include "timeline/excerpt.h"

#include <gtest/gtest.h>

#include "sim/timeline/hand_made.h"
#include "timeline/check.h"
#include "timeline/peaks.h"

namespace headroom {
namespace {

// Twelve chunks of two ops each, an op of no chunk at the end; host memory rises to 40 and device to 90 at
// instants that no part of the step begins or ends with.
Timeline long_step() {
    HandMade made;
    for (uint32_t c = 0; c < 12; ++c) {
        const auto at = static_cast<int64_t>(c) * 1000;
        made.op(Stream::to_device, OpKind::load_pages, at, at + 400).chunk = c;
        const OpId load = static_cast<OpId>(made.t.ops.size() - 1);
        TimelineOp& op = c == 0 ? made.op(Stream::compute, OpKind::qkv, at + 400, at + 900, {load})
                                : made.op(Stream::compute, OpKind::qkv, at + 400, at + 900, {load - 2, load});
        op.chunk = c;
        op.layer = 5;
        made.memory(at, Tier::device, Category::kv, 10 + c);
        made.memory(at + 100, Tier::device, Category::staging, c == 7 ? 70 : 5);
        made.memory(at + 100, Tier::host, Category::kv, c == 3 ? 40 : 20);
        made.memory(at + 200, Tier::device, Category::staging, 0);
        made.memory(at + 200, Tier::host, Category::kv, c);
    }
    made.op(Stream::compute, OpKind::update, 12000, 13000);
    made.t.plan_hash = "0123456789abcdef";
    made.t.selection_source = "a test";
    made.t.results["loss"] = 2.5;
    made.t.capacity_bytes = {100, 50, 0};
    made.t.traffic.push_back({4, 5, Pass::fill, 64});
    return made.t;
}

TEST(Excerpt, KeepsOpsOfChunksAndTheWaitsBetweenThem) {
    const Timeline whole = long_step();
    const Result<Timeline> part = excerpt(whole, {{2, 7, 8}, 1000}, "");
    ASSERT_TRUE(part) << part.error().text();
    EXPECT_TRUE(check_timeline(*part, ""));
    ASSERT_EQ(part->ops.size(), 7u);  // two of each chunk, and the update
    const OpId kept[] = {4, 5, 14, 15, 16, 17, 24};
    for (size_t i = 0; i < 7; ++i) EXPECT_EQ(part->ops[i], whole.ops[kept[i]]);
    // Chunk 8 waits for chunk 7's load, chunk 7 for one of chunk 6, which is gone.
    EXPECT_EQ(part->waits, (std::vector<OpId>{0, 2, 2, 4}));
    EXPECT_EQ(part->waits_begin, (std::vector<uint32_t>{0, 0, 1, 1, 2, 2, 4, 4}));
    EXPECT_EQ(part->excerpt, "7 of 25 operations: those of chunks 2, 7, 8");
    EXPECT_EQ(part->plan_hash, whole.plan_hash);
    EXPECT_EQ(part->selection_source, whole.selection_source);
    EXPECT_EQ(part->results, whole.results);
    EXPECT_EQ(part->capacity_bytes, whole.capacity_bytes);
    EXPECT_EQ(part->traffic.size(), whole.traffic.size());
}

TEST(Excerpt, MemoryKeepsItsPeaksInFewerSamples) {
    const Timeline whole = long_step();
    for (const int64_t instants : {1, 2, 3, 5, 1000}) {
        const Result<Timeline> part = excerpt(whole, {{0}, instants}, "");
        ASSERT_TRUE(part) << part.error().text();
        EXPECT_TRUE(check_timeline(*part, ""));
        const auto a = peaks_of(whole), b = peaks_of(*part);
        for (size_t tier = 0; tier < kTiers; ++tier) {
            EXPECT_EQ(a[tier].bytes, b[tier].bytes);
            EXPECT_EQ(a[tier].time_ns, b[tier].time_ns);
            EXPECT_EQ(a[tier].by_category, b[tier].by_category) << instants;
        }
        EXPECT_EQ(part->memory.back().bytes, whole.memory.back().bytes);
        if (instants < 5) {
            EXPECT_LT(part->memory.size(), whole.memory.size() / 2);
        }
    }
}

TEST(Excerpt, RefusesWhatItCannotKeep) {
    const Timeline whole = long_step();
    const auto error = [](const Timeline& t, const ExcerptRule& rule) {
        const Result<Timeline> part = excerpt(t, rule, "a.trace.json.gz");
        return part ? std::string() : part.error().text();
    };
    EXPECT_EQ(error(whole, {{0, 12}, 5}), "a.trace.json.gz: chunk 12; allowed: 0 to 11, which it has");
    EXPECT_EQ(error(whole, {{}, 5}), "a.trace.json.gz: no chunks; allowed: one or more");
    EXPECT_EQ(error(whole, {{0}, 0}), "a.trace.json.gz: 0 instants; allowed: 1 or more");
    const Result<Timeline> part = excerpt(whole, {{0}, 5}, "");
    EXPECT_NE(error(*part, {{0}, 5}).find("an excerpt already (3 of 25"), std::string::npos);
}

TEST(Excerpt, IsWrittenAndReadBack) {
    const Result<Timeline> part = excerpt(long_step(), {{2, 7}, 3}, "");
    ASSERT_TRUE(part);
    const Result<Timeline> back = parse_timeline(format_timeline(*part), "");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, *part);
    EXPECT_NE(*back, long_step());
}

}  // namespace
}  // namespace headroom
