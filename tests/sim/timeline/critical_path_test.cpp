#include "timeline/step_statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "sim/timeline/hand_made.h"

namespace headroom {
namespace {

int64_t critical_of(const Statistics& s, OpKind kind) {
    return s.critical_ns[static_cast<size_t>(kind)];
}

TEST(CriticalPath, GoesThroughTheTransferThatComputeWaitedFor) {
    HandMade made;
    made.op(Stream::compute, OpKind::embed, 0, 10);
    made.op(Stream::to_device, OpKind::load_pages, 0, 25);
    made.op(Stream::compute, OpKind::norm, 10, 15);
    made.op(Stream::compute, OpKind::attention_past, 25, 40, {1});
    made.op(Stream::to_host, OpKind::store_pages, 15, 39, {2});
    const Statistics s = statistics_of(made.t);
    EXPECT_EQ(s.critical_path, (std::vector<OpId>{1, 3}));
    EXPECT_EQ(critical_of(s, OpKind::load_pages), 25);
    EXPECT_EQ(critical_of(s, OpKind::attention_past), 15);
    EXPECT_EQ(critical_of(s, OpKind::embed), 0);
    EXPECT_EQ(s.critical_gap_ns, 0);
}

TEST(CriticalPath, CountsGapsOfAMeasuredRun) {
    HandMade made;
    made.op(Stream::compute, OpKind::embed, 3, 10);
    made.op(Stream::compute, OpKind::norm, 14, 20);
    const Statistics s = statistics_of(made.t);
    EXPECT_EQ(s.critical_path, (std::vector<OpId>{0, 1}));
    EXPECT_EQ(s.critical_gap_ns, 3 + 4);
    EXPECT_EQ(critical_of(s, OpKind::embed) + critical_of(s, OpKind::norm), 7 + 6);
}

TEST(CriticalPath, TiesGoToTheLowerId) {
    HandMade made;
    made.op(Stream::to_device, OpKind::load_pages, 0, 10);
    made.op(Stream::compute, OpKind::embed, 0, 10);
    made.op(Stream::compute, OpKind::norm, 10, 20, {0});
    made.op(Stream::to_host, OpKind::store_pages, 10, 20, {1});
    EXPECT_EQ(statistics_of(made.t).critical_path, (std::vector<OpId>{0, 2}));
}

// A clock that lets op 1 start 2 ns before op 0 has ended: those 2 ns are counted once.
TEST(CriticalPath, CountsNoTimeTwice) {
    HandMade made;
    made.op(Stream::to_device, OpKind::load_pages, 0, 12);
    made.op(Stream::compute, OpKind::norm, 10, 20, {0});
    const Statistics s = statistics_of(made.t);
    EXPECT_EQ(critical_of(s, OpKind::load_pages), 10);
    EXPECT_EQ(critical_of(s, OpKind::norm), 10);
    EXPECT_EQ(s.critical_gap_ns, 0);
}

TEST(CriticalPath, OfNothingIsNothing) {
    const Statistics s = statistics_of(HandMade().t);
    EXPECT_TRUE(s.critical_path.empty());
    EXPECT_EQ(s.critical_gap_ns, 0);
}

// Random steps whose ops start when all they wait for have ended: the path is a chain of waits or streams,
// and its times and gaps are the duration.
RC_GTEST_PROP(CriticalPath, AddsUpToTheDuration, ()) {
    HandMade made;
    std::array<OpId, kStreams> last;
    last.fill(kNone);
    const auto count = static_cast<OpId>(*rc::gen::inRange(0, 40));
    for (OpId i = 0; i < count; ++i) {
        const auto stream = static_cast<Stream>(*rc::gen::inRange<int>(0, kStreams));
        OpId& own = last[static_cast<size_t>(stream)];
        int64_t start = own == kNone ? 0 : made.t.ops[own].end_ns;
        std::vector<OpId> waits;
        if (i > 0) waits = *rc::gen::container<std::vector<OpId>>(rc::gen::inRange<OpId>(0, i));
        for (const OpId w : waits) start = std::max(start, made.t.ops[w].end_ns);
        start += *rc::gen::inRange(0, 3);
        made.op(stream, static_cast<OpKind>(*rc::gen::inRange<int>(0, kOpKinds)), start,
                start + *rc::gen::inRange(0, 20));
        made.t.waits.insert(made.t.waits.end(), waits.begin(), waits.end());
        made.t.waits_begin.back() = static_cast<uint32_t>(made.t.waits.size());
        own = i;
    }
    const Statistics s = statistics_of(made.t);
    RC_ASSERT(std::accumulate(s.critical_ns.begin(), s.critical_ns.end(), s.critical_gap_ns) ==
              s.duration_ns);
    for (size_t i = 1; i < s.critical_path.size(); ++i) {
        const OpId before = s.critical_path[i - 1], op = s.critical_path[i];
        const auto begin = made.t.waits.begin();
        const bool waited = std::find(begin + made.t.waits_begin[op], begin + made.t.waits_begin[op + 1],
                                      before) != begin + made.t.waits_begin[op + 1];
        RC_ASSERT(waited || made.t.ops[before].stream == made.t.ops[op].stream);
        RC_ASSERT(made.t.ops[before].end_ns <= made.t.ops[op].start_ns);
    }
}

}  // namespace
}  // namespace headroom
