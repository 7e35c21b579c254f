#include "gui/model/stalls.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

// Compute: 0-100, waits for a load until 300, 300-400, nothing to wait for until 430, 430-500; the step ends
// at 800 with a store.
StepPtr a_step() {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 100, {}, 12, 3);
    maker.add(Stream::to_device, OpKind::load_pages, 50, 300, {}, 12, 3);
    maker.add(Stream::to_host, OpKind::store_pages, 0, 200, {}, 11, 3);
    maker.add(Stream::compute, OpKind::attention_past, 300, 400, {1, 2}, 12, 3);
    maker.add(Stream::compute, OpKind::norm, 430, 500, {1});
    maker.add(Stream::to_host, OpKind::store_pages, 500, 800, {4}, 12, 3);
    return maker.step();
}

TEST(Stalls, AreFoundAndExplained) {
    const StepPtr step = a_step();
    const Stalls stalls = stalls_of(*step);
    ASSERT_EQ(stalls.largest.size(), 3U);
    EXPECT_EQ(stalls.count, 3);
    EXPECT_EQ(stalls.total_ns, 530);
    const auto expect = [&](size_t i, Stall want) {
        EXPECT_EQ(stalls.largest[i].begin_ns, want.begin_ns);
        EXPECT_EQ(stalls.largest[i].end_ns, want.end_ns);
        EXPECT_EQ(stalls.largest[i].after, want.after);
        EXPECT_EQ(stalls.largest[i].waited_for, want.waited_for);
    };
    expect(0, {500, 800, kNone, 5});
    expect(1, {100, 300, 3, 1});
    expect(2, {400, 430, 4, kNone});
    EXPECT_EQ(explanation(*step, stalls.largest[1]),
              "attention past (chunk 12, layer 3) waits for load pages (chunk 12, layer 3) on to device");
    EXPECT_EQ(explanation(*step, stalls.largest[0]),
              "the step ends with store pages (chunk 12, layer 3) on to host");
    EXPECT_EQ(explanation(*step, stalls.largest[2]), "norm starts late: all that it waits for had ended");
    EXPECT_EQ(stalls.by_kind_ns[static_cast<size_t>(OpKind::load_pages)], 200);
    EXPECT_EQ(stalls.by_kind_ns[static_cast<size_t>(OpKind::store_pages)], 300);
    EXPECT_EQ(stalls.unexplained_ns, 30);
    EXPECT_EQ(summary(*step, stalls),
              "3 stalls, 530 ns (66.3 % of the step), waiting for store pages 300 ns, load pages 200 ns, "
              "nothing (late starts) 30 ns");
    EXPECT_EQ(stall_before(*step, 3).waited_for, 1U);
    EXPECT_EQ(stall_before(*step, 0).length_ns(), 0);
}

TEST(Stalls, TheirSumIsWhatComputeIsIdle) {
    const StepPtr step = make_step("random", random_timeline(8, 20'000));
    const Stalls few = stalls_of(*step, 10), all = stalls_of(*step, 1'000'000);
    EXPECT_EQ(all.total_ns, step->duration_ns() - step->statistics.streams[0].busy_ns);
    EXPECT_EQ(few.total_ns, all.total_ns);
    EXPECT_EQ(few.count, all.count);
    EXPECT_EQ(all.largest.size(), static_cast<size_t>(all.count));
    ASSERT_EQ(few.largest.size(), 10U);
    for (size_t i = 0; i < few.largest.size(); ++i)
        EXPECT_EQ(few.largest[i].begin_ns, all.largest[i].begin_ns);
}

TEST(Stalls, ComputeThatNeverStops) {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 100);
    const StepPtr step = maker.step();
    EXPECT_EQ(stalls_of(*step).count, 0);
    EXPECT_EQ(summary(*step, stalls_of(*step)), "Compute never stands still.");
}

TEST(StallsModel, ShowsTheLargest) {
    StallsModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const StepPtr step = a_step();
    model.set(step, stalls_of(*step));
    ASSERT_EQ(model.rowCount(), 3);
    const auto text = [&](int row, int column) { return model.index(row, column).data().toString(); };
    EXPECT_EQ(text(1, StallsModel::kLength), "200 ns");
    EXPECT_EQ(text(1, StallsModel::kShare), "25.0 %");
    EXPECT_EQ(text(1, StallsModel::kOp), "attention past (chunk 12, layer 3)");
    EXPECT_EQ(text(1, StallsModel::kWaitsFor), "load pages (chunk 12, layer 3)");
    EXPECT_EQ(text(1, StallsModel::kStream), "to device");
    EXPECT_EQ(text(0, StallsModel::kOp), "end of the step");
    EXPECT_EQ(text(2, StallsModel::kWaitsFor), "nothing: it starts late");
    EXPECT_EQ(model.index(1, 0).data(Qt::ToolTipRole).toString(), explanation(*step, model.at(1)));
    model.set(nullptr, {});
    EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace headroom::gui::test
