#include "gui/paint/compare_list.h"

#include <gtest/gtest.h>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

CompareTracks tracks(const StepPtr& p, const StepPtr& m) {
    return make_tracks(std::shared_ptr<const Timeline>(p, &p->timeline), p->index.streams,
                       std::shared_ptr<const Timeline>(m, &m->timeline), m->index.streams);
}

TEST(CompareList, LanesAreThoseOfEitherStep) {
    TimelineMaker a, b;
    a.add(Stream::compute, OpKind::qkv, 0, 100);
    a.add(Stream::to_device, OpKind::load_pages, 0, 50);
    b.add(Stream::compute, OpKind::qkv, 0, 200);
    b.add(Stream::disk, OpKind::read_pages, 0, 50);
    const StepPtr p = a.step(), m = b.step();
    const CompareTracks t = tracks(p, m);
    EXPECT_EQ(t.streams(), (std::vector<Stream>{Stream::compute, Stream::to_device, Stream::disk}));
    const CompareList list = list_of(t, Category::count_, {0, 200, 0, 200});
    ASSERT_EQ(list.predicted.lanes.size(), 2u);
    ASSERT_EQ(list.measured.lanes.size(), 2u);
    ASSERT_EQ(list.predicted.lanes[0].slices.size(), 1u);
    EXPECT_EQ(list.predicted.lanes[0].slices[0].extent.width, 100);
    EXPECT_EQ(list.measured.lanes[0].slices[0].extent.width, 200);
    EXPECT_TRUE(list.predicted_memory.empty());
}

TEST(CompareList, CurvesAreLinesOfStepsAllTogetherOrOfOneCategory) {
    TimelineMaker a, b;
    for (TimelineMaker* maker : {&a, &b}) {
        const int64_t more = maker == &b ? 5 : 0;
        maker->memory(0, Tier::device, Category::weights, 100);
        maker->memory(50, Tier::device, Category::kv, 40 + more);
        maker->memory(80, Tier::device, Category::kv, 0);
        maker->add(Stream::compute, OpKind::qkv, 0, 100);
    }
    b.memory(90, Tier::host, Category::kv, 7);
    const StepPtr p = a.step(), m = b.step();
    const CompareTracks t = tracks(p, m);
    const TimeAxis axis{0, 100, 10, 100};
    const auto points = [](const std::vector<StepPoint>& steps) {
        std::vector<std::pair<double, int64_t>> found;
        for (const StepPoint& s : steps) found.emplace_back(s.x, s.bytes);
        return found;
    };
    using Points = std::vector<std::pair<double, int64_t>>;
    const CompareList all = list_of(t, Category::count_, axis);
    ASSERT_EQ(all.predicted_memory.size(), 2u) << "a tier that either uses";
    EXPECT_EQ(points(all.predicted_memory[0]), (Points{{10, 100}, {60, 140}, {90, 100}}));
    EXPECT_EQ(points(all.measured_memory[0]), (Points{{10, 100}, {60, 145}, {90, 100}}));
    EXPECT_EQ(points(all.predicted_memory[1]), (Points{{10, 0}}));
    EXPECT_EQ(points(all.measured_memory[1]), (Points{{10, 0}, {100, 7}}));
    EXPECT_EQ(all.most_bytes, (std::vector<int64_t>{145, 7}));
    EXPECT_EQ(all.least_bytes, (std::vector<int64_t>{100 - 45 / 4, 0})) << "all in view is in the upper half";
    const CompareList kv = list_of(t, Category::kv, axis);
    EXPECT_EQ(points(kv.predicted_memory[0]), (Points{{10, 0}, {60, 40}, {90, 0}}));
    EXPECT_EQ(kv.most_bytes, (std::vector<int64_t>{45, 7}));
    EXPECT_EQ(kv.least_bytes, (std::vector<int64_t>{0, 0}));
    const CompareList none = list_of(t, Category::logits, axis);
    EXPECT_EQ(points(none.measured_memory[0]), (Points{{10, 0}}));
    EXPECT_EQ(none.most_bytes, (std::vector<int64_t>{1, 1}));
    // Nearer: the scale of the whole is kept.
    EXPECT_EQ(list_of(t, Category::count_, {0, 40, 10, 100}).most_bytes, (std::vector<int64_t>{145, 7}));
}

}  // namespace
}  // namespace headroom::gui::test
