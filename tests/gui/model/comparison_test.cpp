#include "gui/model/comparison.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "gui/make_timeline.h"
#include "gui/model/comparison_model.h"
#include "timeline/excerpt.h"

namespace headroom::gui::test {
namespace {

// Compute: qkv 100, qkv 100, down 100, a page load beside it; the host's peak at 50. `later`: what the second
// qkv and the load take longer.
StepPtr step(int64_t later, bool measured) {
    TimelineMaker m;
    m.memory(0, Tier::device, Category::weights, 1000);
    m.memory(50, Tier::host, Category::kv, measured ? 110 : 100);
    m.memory(60, Tier::host, Category::kv, 10);
    m.add(Stream::compute, OpKind::qkv, 0, 100, {}, 0, 0);
    m.add(Stream::to_device, OpKind::load_pages, 0, 40 + later, {}, 1, 2);
    m.add(Stream::compute, OpKind::qkv, 100, 200 + 2 * later, {}, 1, 0);
    m.add(Stream::compute, OpKind::down, 200 + 2 * later, 300 + 2 * later);
    Timeline t = m.take();
    t.source = measured ? "measured" : "simulated";
    t.plan_hash = "0123456789abcdef";
    return make_step("by hand", std::move(t));
}

ComparisonPtr compared(int64_t later = 50) {
    Result<ComparisonPtr> c = compare_steps(step(0, false), step(later, true));
    EXPECT_TRUE(c);
    return *c;
}

const Difference& row(const StepComparison& c, const char* what) {
    for (const Difference& d : c.figures.differences) {
        if (d.what == what) return d;
    }
    throw std::out_of_range(what);
}

TEST(Comparison, FindsTheOpThatDiffersMostOfEveryKindAndStream) {
    const ComparisonPtr c = compared();
    EXPECT_EQ(c->worst, 2u);
    EXPECT_EQ(c->difference_ns(2), -100);
    EXPECT_EQ(c->worst_of_kind[static_cast<size_t>(OpKind::qkv)], 2u);
    EXPECT_EQ(c->worst_of_kind[static_cast<size_t>(OpKind::load_pages)], 1u);
    EXPECT_EQ(c->worst_of_kind[static_cast<size_t>(OpKind::down)], 3u);
    EXPECT_EQ(c->worst_of_kind[static_cast<size_t>(OpKind::head)], kNone);
    EXPECT_EQ(c->worst_of_stream[static_cast<size_t>(Stream::to_device)], 1u);
    EXPECT_EQ(c->worst_of_stream[static_cast<size_t>(Stream::disk)], kNone);
    EXPECT_EQ(compared(0)->worst, 0u) << "of equals the first";
}

// What was kept of a run beside the whole prediction: the prediction is cut like it, either way round.
TEST(Comparison, AnExcerptIsComparedWithItsPartOfTheOther) {
    const StepPtr whole = step(0, false);
    Result<Timeline> kept = excerpt(step(50, true)->timeline, {{1}, 100}, "");
    ASSERT_TRUE(kept) << kept.error().text();
    const StepPtr part = make_step("kept", std::move(*kept));
    ASSERT_LT(part->timeline.ops.size(), whole->timeline.ops.size());
    for (const bool first : {false, true}) {
        const Result<ComparisonPtr> c = first ? compare_steps(part, whole) : compare_steps(whole, part);
        ASSERT_TRUE(c) << c.error().text();
        EXPECT_EQ((*c)->predicted->timeline.ops.size(), (*c)->measured->timeline.ops.size());
        EXPECT_EQ((*c)->figures.unmatched_ops, 0);
        EXPECT_EQ((*c)->figures.excerpt, "3 of 4 operations: those of chunks 1");
        EXPECT_EQ((*c)->predicted->timeline.memory.size(), whole->timeline.memory.size());
    }
}

TEST(Comparison, RowsHaveAPlaceInTheStep) {
    const ComparisonPtr c = compared();
    EXPECT_EQ(place_of(*c, row(*c, "step time")).op, 2u);
    EXPECT_EQ(place_of(*c, row(*c, "load_pages")).op, 1u);
    EXPECT_EQ(place_of(*c, row(*c, "to_device busy")).op, 1u);
    EXPECT_EQ(place_of(*c, row(*c, "host peak")).instant_ns, 50);
    EXPECT_TRUE(place_of(*c, row(*c, "host kv at its peak")).empty());
    EXPECT_EQ(worst_kind(*c)->what, "load_pages");
}

TEST(Comparison, AnOpIsToldInWords) {
    const ComparisonPtr c = compared();
    EXPECT_EQ(op_difference_text(*c, 2),
              "op 2, qkv (layer 0, chunk 1, fill pass): predicted 100 ns, measured 200 ns (-50.0 %)");
    EXPECT_EQ(op_difference_text(*c, 3),
              "op 3, down (fill pass): predicted 100 ns, measured 100 ns (+0.0 %); predicted to start 100 ns "
              "earlier");
    EXPECT_EQ(error_text(0.1234), "+12.3 %");
    EXPECT_EQ(error_text(INFINITY), "new");
    EXPECT_EQ(error_text(-INFINITY), "gone");
}

TEST(Comparison, StepsOfOtherOpsAreAnError) {
    TimelineMaker other;
    other.add(Stream::compute, OpKind::qkv, 0, 100);
    const Result<ComparisonPtr> c = compare_steps(step(0, false), other.step());
    ASSERT_FALSE(c);
    EXPECT_NE(c.error().found.find("4 ops predicted, 1 measured"), std::string::npos) << c.error().text();
}

TEST(ComparisonModel, RowsAreThoseOfTheComparisonJudgedByTheTolerance) {
    ComparisonModel m;
    const QAbstractItemModelTester tester(&m, QAbstractItemModelTester::FailureReportingMode::Warning);
    EXPECT_EQ(m.rowCount(), 0);
    EXPECT_EQ(m.csv(), "");
    const ComparisonPtr c = compared();
    m.set(c);
    ASSERT_EQ(m.rowCount(), static_cast<int>(c->figures.differences.size()));
    const auto cells = [&](int r) {
        QStringList texts;
        for (int i = 0; i < m.columnCount(); ++i) texts << m.index(r, i).data().toString();
        return texts.join('|');
    };
    EXPECT_EQ(cells(0), "step|step time|300 ns|400 ns|-25.0 %|100.0 %|✕ outside");
    int down = -1;
    for (int r = 0; r < m.rowCount(); ++r) {
        if (m.row(r).what == "down") down = r;
    }
    EXPECT_EQ(cells(down), "op kind|down|100 ns|100 ns|+0.0 %|29.4 %|✓ within");
    EXPECT_TRUE(m.index(0, 0).data(Qt::FontRole).value<QFont>().bold()) << "not by colour alone";
    EXPECT_FALSE(m.index(down, 0).data(Qt::FontRole).value<QFont>().bold());
    EXPECT_EQ(m.index(0, ComparisonModel::error).data(Qt::ToolTipRole).toString(),
              "100 ns less than measured");
    const int before = m.count_outside();
    m.set_tolerance(0.26);
    EXPECT_LT(m.count_outside(), before);
    EXPECT_FALSE(m.index(0, 0).data(ComparisonModel::outside_role).toBool());
    EXPECT_TRUE(
        m.csv().startsWith("group,what,unit,predicted,measured,error,share,judged,outside_tolerance\n"
                           "step,\"step time\",ns,300,400,-0.25,1,true,false\n"))
        << m.csv().toStdString();
    EXPECT_EQ(m.csv().count('\n'), m.rowCount() + 1);
    m.set(nullptr);
    EXPECT_EQ(m.rowCount(), 0);
}

TEST(ComparisonModel, IsSortedByFiguresAndFiltered) {
    ComparisonModel m;
    m.set(compared());
    ComparisonFilter f(m);
    const QAbstractItemModelTester tester(&f, QAbstractItemModelTester::FailureReportingMode::Warning);
    const int all = f.rowCount();
    f.set_group("kind");
    ASSERT_EQ(f.rowCount(), 3);
    f.sort(ComparisonModel::error, Qt::DescendingOrder);
    EXPECT_EQ(f.row(f.index(0, 0)).what, "load_pages");  // -55.6 %
    EXPECT_EQ(f.row(f.index(1, 0)).what, "qkv");         // -33.3 %
    EXPECT_EQ(f.row(f.index(2, 0)).what, "down");
    f.sort(ComparisonModel::predicted, Qt::DescendingOrder);
    EXPECT_EQ(f.row(f.index(0, 0)).what, "qkv");
    f.set_group("");
    EXPECT_EQ(f.rowCount(), all);
    f.set_judged_only(true);
    for (int r = 0; r < f.rowCount(); ++r) EXPECT_TRUE(f.row(f.index(r, 0)).judged);
}

TEST(ComparisonModel, WhatIsTooSmallIsNotJudged) {
    TimelineMaker p, q;
    p.add(Stream::compute, OpKind::qkv, 0, 100'000);
    p.add(Stream::compute, OpKind::embed, 100'000, 100'001);
    q.add(Stream::compute, OpKind::qkv, 0, 100'000);
    q.add(Stream::compute, OpKind::embed, 100'000, 100'003);
    const Result<ComparisonPtr> c = compare_steps(p.step(), q.step());
    ASSERT_TRUE(c);
    ComparisonModel m;
    m.set(*c);
    ComparisonFilter f(m);
    f.set_group("kind");
    EXPECT_EQ(f.rowCount(), 2);
    EXPECT_EQ(f.index(1, ComparisonModel::verdict).data().toString() +
                  f.index(0, ComparisonModel::verdict).data().toString(),
              "✓ withintoo small to judge");
    f.set_judged_only(true);
    EXPECT_EQ(f.rowCount(), 1);
    EXPECT_EQ(m.count_outside(), 0);
}

}  // namespace
}  // namespace headroom::gui::test
