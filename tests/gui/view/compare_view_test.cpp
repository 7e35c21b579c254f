#include "gui/view/compare_view.h"

#include <gtest/gtest.h>

#include <QBarSet>
#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <cmath>

#include "base/file.h"
#include "gui/becomes.h"
#include "gui/model/comparison_model.h"
#include "gui/model/open_file.h"
#include "gui/view/compare_canvas.h"
#include "gui/view/error_chart.h"
#include "gui/view/recorded_pages.h"

namespace headroom::gui::test {
namespace {

// A run of the tiny plan in which each op of down takes twice as long, and op kSlow ten times as long.
constexpr size_t kSlowFrom = 100;

Timeline slower(Timeline t, OpId& slow) {
    slow = kNone;
    std::array<int64_t, kStreams> late{};
    for (OpId op = 0; op < t.ops.size(); ++op) {
        TimelineOp& o = t.ops[op];
        const int64_t length = o.end_ns - o.start_ns;
        int64_t& behind = late[static_cast<size_t>(o.stream)];
        o.start_ns += behind;
        if (o.kind == OpKind::down) {
            int64_t more = length;
            if (slow == kNone && op >= kSlowFrom) {
                slow = op;
                more = 9 * length;
            }
            behind += more;
        }
        o.end_ns = o.start_ns + length + (o.kind == OpKind::down ? (op == slow ? 9 : 1) * length : 0);
    }
    t.source = "measured";
    return t;
}

class CompareViewTest : public testing::Test {
protected:
    void SetUp() override {
        QObject::connect(&document, &Document::steps_changed, [this] { focus.reset(document.span_ns()); });
        view.resize(1400, 900);
        view.show();
    }
    void open_tiny() {
        document.open(std::filesystem::path(HEADROOM_SOURCE_DIR) / "scenarios" / "tiny-cpu.toml");
        ASSERT_TRUE(becomes([&] { return document.answer_final() && document.predicted(); }));
    }
    void measure() {
        open_tiny();
        document.set_measured(make_step("run", slower(document.predicted()->timeline, slow)));
        ASSERT_TRUE(becomes([&] { return view.comparison() != nullptr; }));
        ASSERT_TRUE(becomes([&] { return !view.busy() && view.canvas().list() != nullptr; }));
    }
    template <class Control>
    Control& control(const char* name) {
        auto* found = view.findChild<Control*>(name);
        EXPECT_NE(found, nullptr) << name;
        return *found;
    }
    QString text(const char* name) { return control<QLabel>(name).text(); }
    bool visible(const char* name) { return control<QPushButton>(name).isVisible(); }

    Document document;
    Focus focus;
    CompareView view{document, focus};
    OpId slow = kNone;
};

TEST_F(CompareViewTest, SaysInWordsWhatItLacks) {
    EXPECT_TRUE(text("compare_empty").startsWith("Open a scenario, a plan or a timeline"));
    EXPECT_FALSE(visible("compare_open"));
    EXPECT_FALSE(view.has_content());
    EXPECT_EQ(view.csv(), "");
    open_tiny();
    ASSERT_TRUE(becomes([&] { return !document.busy(); }));
    EXPECT_TRUE(text("compare_empty").startsWith("There is a prediction and no measured run of it yet."));
    EXPECT_TRUE(visible("compare_open"));
    EXPECT_TRUE(control<QPushButton>("compare_open").isEnabled());
}

TEST_F(CompareViewTest, TheVerdictIsThatOfCompare) {
    measure();
    const Result<Comparison> expected =
        compare(document.predicted()->timeline, document.measured()->timeline);
    ASSERT_TRUE(expected);
    EXPECT_EQ(view.model().rowCount(), static_cast<int>(expected->differences.size()));
    EXPECT_TRUE(text("compare_summary").contains("✕ 1 figure is outside: worst judged error "))
        << text("compare_summary").toStdString();
    EXPECT_EQ(view.model().count_outside(), 1);
    EXPECT_TRUE(view.csv().contains("kind,\"down\",ns,"));
    auto& tolerance = control<QDoubleSpinBox>("compare_tolerance");
    EXPECT_EQ(tolerance.value(), 5);
    tolerance.selectAll();
    QTest::keyClicks(&tolerance, "100");
    QTest::keyClick(&tolerance, Qt::Key_Return);
    EXPECT_EQ(view.model().tolerance(), 1);
    EXPECT_TRUE(text("compare_summary").contains("✓ Within the tolerance: worst judged error"))
        << text("compare_summary").toStdString();
    EXPECT_EQ(view.chart().outside().sum(), 0);
}

TEST_F(CompareViewTest, TheWorstIsSelectedByButtonKeyAndRow) {
    measure();
    ASSERT_NE(slow, kNone);
    const TimelineOp &p = document.predicted()->timeline.ops[slow],
                     &m = document.measured()->timeline.ops[slow];
    focus.set_range({0, 1000});
    QTest::mouseClick(&control<QPushButton>("compare_worst"), Qt::LeftButton);
    EXPECT_EQ(focus.selected(), slow);
    EXPECT_LE(focus.range().begin_ns, p.start_ns);
    EXPECT_GE(focus.range().end_ns, m.end_ns);
    EXPECT_EQ(text("compare_op"), op_difference_text(*view.comparison(), slow));
    focus.select(kNone);
    EXPECT_TRUE(text("compare_op").startsWith("No operation is selected"));
    view.canvas().setFocus();
    QTest::keyClick(&view.canvas(), Qt::Key_J);
    EXPECT_EQ(focus.selected(), slow);

    // A row: Enter goes where that row differs most; the button then stays with it.
    auto& table = control<QTableView>("compare_table");
    int row = -1;
    for (int r = 0; r < table.model()->rowCount(); ++r) {
        if (table.model()->index(r, ComparisonModel::what).data() == "qkv") row = r;
    }
    ASSERT_GE(row, 0);
    table.setFocus();
    table.setCurrentIndex(table.model()->index(row, 0));
    QTest::keyClick(&table, Qt::Key_Return);
    const OpId qkv = view.comparison()->worst_of_kind[static_cast<size_t>(OpKind::qkv)];
    EXPECT_EQ(focus.selected(), qkv);
    focus.select(kNone);
    QTest::keyClick(&control<QPushButton>("compare_worst"), Qt::Key_Space);
    EXPECT_EQ(focus.selected(), qkv);
    // A tier: its peak, under the cursor.
    for (int r = 0; r < table.model()->rowCount(); ++r) {
        if (table.model()->index(r, ComparisonModel::what).data() == "device peak") row = r;
    }
    table.setCurrentIndex(table.model()->index(row, 0));
    QTest::keyClick(&table, Qt::Key_Return);
    EXPECT_EQ(focus.cursor_ns(), document.measured()->statistics.peaks[0].time_ns);
}

TEST_F(CompareViewTest, RowsAreFilteredByGroupAndJudgement) {
    measure();
    auto& table = control<QTableView>("compare_table");
    auto& group = control<QComboBox>("compare_group");
    const int all = table.model()->rowCount();
    group.setFocus();
    QTest::keyClick(&group, Qt::Key_Down);
    QTest::keyClick(&group, Qt::Key_Down);
    EXPECT_EQ(group.currentText(), "tiers");
    EXPECT_EQ(table.model()->rowCount(), 2);
    QTest::keyClick(&group, Qt::Key_Home);
    EXPECT_EQ(table.model()->rowCount(), all);
    QTest::mouseClick(&control<QCheckBox>("compare_judged"), Qt::LeftButton, {},
                      QPoint(8, control<QCheckBox>("compare_judged").height() / 2));
    EXPECT_TRUE(control<QCheckBox>("compare_judged").isChecked());
    int judged = 0;
    for (const Difference& d : view.comparison()->figures.differences) judged += d.judged ? 1 : 0;
    EXPECT_EQ(table.model()->rowCount(), judged);
    EXPECT_LT(judged, all);
    // Sorted by a click on a header: the largest error, whatever its sign, is first.
    table.sortByColumn(ComparisonModel::error, Qt::DescendingOrder);
    EXPECT_EQ(table.model()->index(0, ComparisonModel::what).data().toString(), "down");
}

TEST_F(CompareViewTest, TheChartShowsWhatDiffersMostInTime) {
    measure();
    ErrorChart& chart = view.chart();
    ASSERT_FALSE(chart.bars().empty());
    EXPECT_EQ(chart.bars()[0].kind, OpKind::down);
    EXPECT_TRUE(chart.bars()[0].outside);
    const Difference& down = *worst_kind(*view.comparison());
    EXPECT_EQ(down.what, "down");
    EXPECT_EQ(chart.bars()[0].difference_ns, down.predicted - down.measured);
    // The uppermost bar is the last of the axis.
    const int last = chart.outside().count() - 1;
    EXPECT_EQ(chart.outside().count(), static_cast<int>(chart.bars().size()));
    EXPECT_DOUBLE_EQ(chart.outside().at(last), 100 * down.error);
    EXPECT_EQ(chart.within().at(last), 0);
    auto& unit = control<QComboBox>("compare_unit");
    QTest::keyClick(&unit, Qt::Key_Down);
    EXPECT_DOUBLE_EQ(chart.outside().at(last), static_cast<double>(down.predicted - down.measured) * 1e-6);
    Q_EMIT chart.kind_clicked(OpKind::down);
    EXPECT_EQ(focus.selected(), slow);
}

TEST_F(CompareViewTest, OpsAreHitInBothLanes) {
    measure();
    const TimelineOp &p = document.predicted()->timeline.ops[slow],
                     &m = document.measured()->timeline.ops[slow];
    focus.set_range({std::min(p.start_ns, m.start_ns), std::max(p.end_ns, m.end_ns)});
    ASSERT_TRUE(becomes([&] { return !view.busy(); }));
    const CompareCanvas& canvas = view.canvas();
    for (const bool measured : {false, true}) {
        const TimelineOp& op = measured ? m : p;
        const QRect row = canvas.lane_rect(op.stream, measured);
        const QPoint at(static_cast<int>(canvas.axis().x_of((op.start_ns + op.end_ns) / 2)),
                        row.center().y());
        EXPECT_EQ(canvas.op_at(at), slow) << measured;
        focus.select(kNone);
        QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, at);
        EXPECT_EQ(focus.selected(), slow) << measured;
    }
    QTest::keyClick(&view.canvas(), Qt::Key_Right);
    const OpId next = neighbour(document.measured()->timeline, document.measured()->index, slow, 1);
    EXPECT_EQ(focus.selected(), next);
    EXPECT_EQ(canvas.op_at(QPoint(4, 4)), kNone);
    EXPECT_EQ(canvas.lane_rect(Stream::disk, true), QRect());
}

TEST_F(CompareViewTest, TheAxisCoversTheLongerStep) {
    measure();
    EXPECT_GT(document.measured()->duration_ns(), document.predicted()->duration_ns());
    EXPECT_EQ(focus.whole().end_ns, document.measured()->duration_ns());
}

TEST_F(CompareViewTest, MemoryIsThatOfACategoryWhenAsked) {
    measure();
    const int64_t all = view.canvas().list()->most_bytes[0];
    EXPECT_EQ(all, document.measured()->statistics.peaks[0].bytes);
    auto& category = control<QComboBox>("compare_category");
    category.setCurrentIndex(category.findText("weights"));
    ASSERT_TRUE(becomes([&] { return !view.busy() && view.canvas().list()->most_bytes[0] != all; }));
    EXPECT_EQ(view.canvas().list()->most_bytes[0], 4'002'048 * 4);
}

TEST_F(CompareViewTest, ATurnedKnobTakesTheRunAway) {
    measure();
    document.knobs().turn("context", "1Ki");
    ASSERT_TRUE(becomes([&] { return document.answer_final() && document.plan()->context.count() == 1024; }));
    EXPECT_EQ(view.comparison(), nullptr);
    ASSERT_TRUE(becomes([&] { return !document.busy(); }));
    EXPECT_TRUE(text("compare_empty").startsWith("There is a prediction and no measured run"));
}

TEST_F(CompareViewTest, StepsThatCannotBeLaidSideBySideAreToldApart) {
    open_tiny();
    Timeline t = document.predicted()->timeline;
    t.ops.back().kind = OpKind::embed;
    document.set_measured(make_step("other", t));
    ASSERT_TRUE(
        becomes([&] { return text("compare_empty").startsWith("The two cannot be laid side by side"); }));
    EXPECT_TRUE(text("compare_empty").contains("'embed'")) << text("compare_empty").toStdString();
}

TEST_F(CompareViewTest, ARecordedRunIsComparedAndDrawnLightAndDark) {
    document.open(std::string(HEADROOM_SOURCE_DIR) +
                  "/traces/h200-2026-11-30/qwen2.5-7b-64k-exact-offload.trace.json.gz");
    ASSERT_TRUE(becomes([&] { return view.comparison() != nullptr && !view.busy() && !document.busy(); }));
    focus.select(view.comparison()->worst);
    std::array<QImage, 2> pictures;
    for (const bool dark : {false, true}) {
        view.set_palette(dark ? Palette::dark_one() : Palette::light());
        QImage image(view.picture_size(), QImage::Format_RGB32);
        image.fill(Qt::magenta);
        QPainter painter(&image);
        view.draw(painter);
        painter.end();
        const QRect row = view.canvas().lane_rect(Stream::compute, true);
        const QPoint at = view.canvas().mapTo(&view, row.center());
        EXPECT_NE(image.pixelColor(at), QColor(Qt::magenta));
        pictures[dark ? 1 : 0] = image;
    }
    EXPECT_NE(pictures[0], pictures[1]);
    EXPECT_TRUE(view.csv().contains("step,\"step time\",ns,"));
}

// A run that did just what its plan says with the pages that it selected: with those nothing is left of the
// error, and with those that the plan draws there is one.
TEST_F(CompareViewTest, WithThePagesThatTheRunSelectedNoErrorOfTrafficIsLeft) {
    const Plan plan = small_sparse_plan();
    const RecordedSelection record = recorded_for(plan);
    const Timeline run = run_with(plan, record);
    const QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString(), file = root / "run.trace.json.gz";
    ASSERT_TRUE(write_timeline(run, file));
    ASSERT_TRUE(write_timeline(run, root / "alone.trace.json.gz"));
    ASSERT_TRUE(write_file(selection_beside(file), write_selection(record)));

    auto& box = control<QCheckBox>("compare_with_selection");
    const auto compared = [&](const std::filesystem::path& of) {
        document.open(of);
        return becomes([&] {
            return document.measured() && document.measured()->name == of.filename().string().c_str() &&
                   document.answer_final() && view.comparison() && !view.busy();
        });
    };
    ASSERT_TRUE(compared(root / "alone.trace.json.gz"));
    EXPECT_FALSE(box.isVisible());
    EXPECT_FALSE(view.set_with_selection(false));
    ASSERT_TRUE(compared(file));
    EXPECT_TRUE(box.isVisible());
    const ComparisonPtr drawn = view.comparison();
    EXPECT_GT(drawn->figures.worst, 0);
    EXPECT_FALSE(text("compare_summary").contains("the run selected"));

    QTest::mouseClick(&box, Qt::LeftButton, {}, {8, box.height() / 2});
    ASSERT_TRUE(box.isChecked());
    ASSERT_TRUE(becomes([&] { return view.comparison() && view.comparison() != drawn && !view.busy(); }));
    EXPECT_TRUE(text("compare_summary").contains("With the pages that the run selected."));
    EXPECT_FALSE(text("compare_summary").contains("different plans"));
    for (const Difference& d : view.comparison()->figures.differences) EXPECT_EQ(d.error, 0) << d.what;
    // The prediction that the other views show is that of the plan.
    EXPECT_EQ(document.predicted()->timeline.plan_hash, plan_hash(plan));
    QTest::keyClick(&box, Qt::Key_Space);
    ASSERT_TRUE(becomes([&] { return view.comparison() && !view.busy() && !box.isChecked(); }));
    EXPECT_EQ(view.comparison()->figures.worst, drawn->figures.worst);
}

}  // namespace
}  // namespace headroom::gui::test
