#include "gui/model/range_statistics.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSortFilterProxyModel>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

StepPtr a_step() {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 100);
    maker.add(Stream::compute, OpKind::qkv, 100, 400);
    maker.add(Stream::compute, OpKind::norm, 400, 500);
    maker.add(Stream::to_device, OpKind::load_pages, 200, 1200);
    maker.op(1).flops = 3'000'000;
    maker.op(3).bytes = 50'000;
    return maker.step();
}
const RangeFigures& of(const RangeStatistics& s, OpKind kind) {
    return s.kinds[static_cast<size_t>(kind)];
}

TEST(RangeStatistics, SumsArePartsInsideAndLengthsAreWhole) {
    const RangeStatistics s = statistics_of(*a_step(), {50, 450});
    EXPECT_EQ(of(s, OpKind::qkv).count, 2);
    EXPECT_EQ(of(s, OpKind::qkv).sum_ns, 350);
    EXPECT_EQ(of(s, OpKind::qkv).min_ns, 100);
    EXPECT_EQ(of(s, OpKind::qkv).max_ns, 300);
    EXPECT_DOUBLE_EQ(of(s, OpKind::qkv).mean_ns(), 200);
    EXPECT_DOUBLE_EQ(of(s, OpKind::qkv).flops, 3'000'000);
    EXPECT_EQ(of(s, OpKind::load_pages).sum_ns, 250);
    EXPECT_DOUBLE_EQ(of(s, OpKind::load_pages).bytes, 12'500);
    EXPECT_EQ(s.streams[0].count, 3);
    EXPECT_EQ(s.streams[0].sum_ns, 400);
    EXPECT_EQ(s.streams[1].sum_ns, 250);
}

TEST(RangeStatistics, OfTheWholeStepAreTheSteps) {
    const StepPtr step = make_step("random", random_timeline(2, 5000));
    const RangeStatistics s = statistics_of(*step, {0, step->duration_ns()});
    for (size_t k = 0; k < kOpKinds; ++k) {
        // An op of no length at the very end lies at no time of the range.
        EXPECT_EQ(s.kinds[k].sum_ns, step->statistics.kinds[k].total_ns);
        EXPECT_EQ(s.kinds[k].max_ns, step->statistics.kinds[k].max_ns);
    }
    for (size_t i = 0; i < kStreams; ++i) EXPECT_EQ(s.streams[i].sum_ns, step->statistics.streams[i].busy_ns);
}

TEST(RangeStatistics, CanBeStopped) {
    const StepPtr step = make_step("random", random_timeline(2, 400'000));
    const RangeStatistics s = statistics_of(*step, {0, step->duration_ns()}, [] { return false; });
    int64_t count = 0;
    for (const RangeFigures& f : s.streams) count += f.count;
    EXPECT_LT(count, 400'000);
}

TEST(RangeStatisticsModel, ShowsFiguresWithUnits) {
    const StepPtr step = a_step();
    RangeStatisticsModel kinds(RangeStatisticsModel::By::kind), streams(RangeStatisticsModel::By::stream);
    const QAbstractItemModelTester first(&kinds, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const QAbstractItemModelTester second(&streams, QAbstractItemModelTester::FailureReportingMode::Fatal);
    kinds.set(statistics_of(*step, {0, 1000}));
    streams.set(statistics_of(*step, {0, 1000}));
    using M = RangeStatisticsModel;
    const auto text = [](const M& m, int row, int column) { return m.index(row, column).data().toString(); };
    ASSERT_EQ(kinds.rowCount(), 3);
    EXPECT_EQ(text(kinds, 0, M::kName), "load pages");  // most time first
    EXPECT_EQ(text(kinds, 0, M::kSum), "800 ns");
    EXPECT_EQ(text(kinds, 0, M::kBusy), "80.0 %");
    EXPECT_EQ(text(kinds, 0, M::kBytes), "39.06 KiB");
    EXPECT_EQ(text(kinds, 0, M::kRate), "50.0");
    EXPECT_EQ(text(kinds, 0, M::kFlopRate), "-");
    EXPECT_EQ(text(kinds, 1, M::kName), "qkv");
    EXPECT_EQ(text(kinds, 1, M::kCount), "2");
    EXPECT_EQ(text(kinds, 1, M::kMean), "200 ns");
    EXPECT_EQ(text(kinds, 1, M::kFlopRate), "7.5");
    EXPECT_EQ(text(kinds, 1, M::kBytes), "-");
    ASSERT_EQ(streams.rowCount(), 2);
    EXPECT_EQ(text(streams, 0, M::kName), "compute");
    EXPECT_EQ(text(streams, 1, M::kName), "to device");
    EXPECT_TRUE(kinds.headerData(M::kRate, Qt::Horizontal, Qt::ToolTipRole).toString().contains("second"));
    EXPECT_EQ(streams.csv().split('\n').first(),
              "stream,count,sum_ns,busy_share,min_ns,mean_ns,max_ns,bytes,gb_per_s,tflop_per_s");
    EXPECT_EQ(streams.csv().split('\n').at(2),
              "to_device,1,800,0.800000,1000,1000.0,1000,40000,50.000,0.000");
    kinds.clear();
    EXPECT_EQ(kinds.rowCount(), 0);
}

TEST(RangeStatisticsModel, SortsByFigures) {
    RangeStatisticsModel model(RangeStatisticsModel::By::kind);
    model.set(statistics_of(*a_step(), {0, 1000}));
    QSortFilterProxyModel sorted;
    sorted.setSourceModel(&model);
    sorted.setSortRole(Qt::UserRole);
    sorted.sort(RangeStatisticsModel::kMax, Qt::AscendingOrder);
    EXPECT_EQ(sorted.index(0, 0).data().toString(), "norm");
    EXPECT_EQ(sorted.index(1, 0).data().toString(), "qkv");
    EXPECT_EQ(sorted.index(2, 0).data().toString(), "load pages");
}

}  // namespace
}  // namespace headroom::gui::test
