#include "gui/view/sweep_view.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "base/text.h"
#include "cli/report.h"

namespace headroom::gui::test {
namespace {

testing::AssertionResult becomes(const std::function<bool()>& holds) {
    return QTest::qWaitFor(holds, 120'000) ? testing::AssertionSuccess()
                                           : testing::AssertionFailure() << "not within two minutes";
}

class SweepViewTest : public testing::Test {
protected:
    // From 8Ki to 64Ki, which does not fit.
    void sweep_small() {
        field("from")->setText("8Ki");
        field("to")->setText("64Ki");
        document.knobs().turn_all({{"budget.host", "1GiB"},
                                   {"budget.disk", "0"},
                                   {"budget.device", "104GiB"},
                                   {"plan.chunk", "4Ki"}},
                                  "small");
        view.resize(1200, 760);
        view.show();
        view.activateWindow();
        ASSERT_TRUE(becomes(
            [&] { return document.scenario() && document.scenario()->plan.budget.host.count() == kGiB; }));
        ASSERT_TRUE(becomes([&] {
            return view.has_content() && !view.busy() && view.table().points()[0].budget_bytes[1] == kGiB;
        }));
    }
    void open_scenario() {
        document.open(std::string(HEADROOM_SOURCE_DIR) + "/scenarios/qwen2.5-7b-1m-h200.toml");
        ASSERT_TRUE(becomes([&] { return document.scenario() != nullptr; }));
    }
    QLineEdit* field(const char* name) { return view.findChild<QLineEdit*>(name); }
    QString words() {
        QStringList all;
        for (const QLabel* label : view.findChildren<QLabel*>()) {
            if (label->isVisible()) all << label->text();
        }
        return all.join('\n');
    }
    size_t point(const std::string& strategy, int64_t context) {
        return static_cast<size_t>(view.table().row_of(strategy, Tokens(context)));
    }
    SweepPanel& panel(SweepPanel::Quantity q) { return view.panel(q); }

    Document document;
    Focus focus;
    SweepView view{document, focus};
};

TEST_F(SweepViewTest, SaysWhatItLacks) {
    view.show();
    EXPECT_TRUE(words().contains("Open a scenario"));
    EXPECT_FALSE(view.has_content());
    EXPECT_TRUE(view.csv().isEmpty());
    EXPECT_FALSE(view.busy());
    document.open(std::string(HEADROOM_SOURCE_DIR) +
                  "/traces/h200-2026-11-29/qwen2.5-7b-8k-exact.trace.json.gz");
    ASSERT_TRUE(becomes([&] { return document.kind() == Document::Kind::timeline; }));
    EXPECT_TRUE(words().contains("A sweep needs a scenario"));
}

TEST_F(SweepViewTest, ShowsThePointsThatTheLibraryFinds) {
    open_scenario();
    sweep_small();
    const std::vector<Tokens> contexts = doubling(Tokens(8192), Tokens(65536));
    const Result<std::vector<SweepPoint>> expected = sweep(*document.scenario(), contexts, {});
    ASSERT_TRUE(expected);
    const QString csv = view.csv();
    EXPECT_TRUE(csv.startsWith(QString::fromStdString(cli::sweep_csv({}))));
    for (const SweepPoint& p : *expected) {
        const QString row = QString::fromStdString(cli::sweep_csv({p})).section('\n', 1, 1);
        EXPECT_TRUE(csv.contains(row + "\n")) << row.toStdString();
    }
    // Where it stops fitting is narrowed down, said and drawn.
    const SweepLimit limit = sweep_limits(view.table().points()).front();
    ASSERT_TRUE(limit.fits_to && limit.stops_at);
    EXPECT_EQ(halving(limit), std::nullopt);
    EXPECT_TRUE(words().contains("chunked fits up to " +
                                 QString::fromStdString(format_tokens(*limit.fits_to)) + ", not at " +
                                 QString::fromStdString(format_tokens(*limit.stops_at))))
        << words().toStdString();
    EXPECT_TRUE(words().contains("ring cannot run"));
    // A point stands where its figures say.
    SweepPanel& device = panel(SweepPanel::Quantity::device);
    const size_t first = point("chunked", 8192), last = point("chunked", 65536);
    const SweepPoint& low = view.table().points()[first];
    const auto a = device.pixel_of(first), b = device.pixel_of(last);
    ASSERT_TRUE(a && b);
    EXPECT_LT(a->x(), b->x());
    const double height = device.chart()->plotArea().height(), bottom = device.chart()->plotArea().bottom();
    EXPECT_NEAR((bottom - a->y()) / height, static_cast<double>(low.need_bytes[0]) / device.most(), 1e-9);
    EXPECT_EQ(device.point_at(*a), first);
    EXPECT_EQ(device.point_at({5, 5}), std::nullopt);
    EXPECT_EQ(device.pixel_of(point("ring", 8192)), std::nullopt);
}

// ... while points still come, too.
TEST_F(SweepViewTest, NoFigureOfTheTableIsCutOff) {
    open_scenario();
    field("from")->setText("8Ki");
    field("to")->setText("256Ki");
    view.resize(1440, 810);
    view.show();
    const auto* rows = view.findChild<QTableView*>("points");
    const QAbstractItemView* items = rows;
    QStringList cut;
    int looks = 0, most_rows = 0;
    ASSERT_TRUE(becomes([&] {
        if (!view.has_content()) return false;
        (void)view.grab();  // lays out what waits for a paint
        for (int c = 0; c + 1 < view.table().columnCount({}); ++c) {
            if (rows->columnWidth(c) < items->sizeHintForColumn(c))
                cut << QString("column %1 of %2 rows: %3 < %4")
                           .arg(c)
                           .arg(view.table().rowCount({}))
                           .arg(rows->columnWidth(c))
                           .arg(items->sizeHintForColumn(c));
        }
        ++looks;
        most_rows = std::max(most_rows, view.table().rowCount({}));
        return !view.busy();
    }));
    EXPECT_TRUE(cut.isEmpty()) << cut.join('\n').toStdString();
    EXPECT_GT(looks, 3);
    EXPECT_GT(most_rows, 10);
}

TEST_F(SweepViewTest, TheChartsMarkTheRowAndTheRowThePoint) {
    open_scenario();
    sweep_small();
    auto* rows = view.findChild<QTableView*>("points");
    SweepPanel& step = panel(SweepPanel::Quantity::step);
    const size_t wanted = point("chunked", 16384);
    QTest::mouseClick(step.viewport(), Qt::LeftButton, {}, step.pixel_of(wanted)->toPoint());
    EXPECT_EQ(rows->currentIndex().row(), static_cast<int>(wanted));
    rows->setFocus();
    QTest::keyClick(rows, Qt::Key_Up);
    EXPECT_EQ(rows->currentIndex().row(), static_cast<int>(wanted) - 1);
    // The mark is a ring about the point.
    const QPointF at = *step.pixel_of(wanted - 1);
    const QImage image = step.grab().toImage();
    const QPointF edge = (at + QPointF(9, 0)) * image.devicePixelRatio();
    bool ringed = false;
    for (int dx = -2; dx <= 2; ++dx)
        ringed = ringed ||
                 image.pixelColor(edge.toPoint() + QPoint(dx, 0)).rgb() == view.colours().selection.rgb();
    EXPECT_TRUE(ringed);
}

TEST_F(SweepViewTest, EnterOpensThePlanAndTheSweepStays) {
    open_scenario();
    sweep_small();
    auto* rows = view.findChild<QTableView*>("points");
    QSignalSpy chosen(&view, &SweepView::plan_chosen);
    rows->selectRow(static_cast<int>(point("chunked", 16384)));
    rows->setFocus();
    QTest::keyClick(rows, Qt::Key_Return);
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(document.kind(), Document::Kind::plan);
    EXPECT_EQ(document.title(), "chunked at 16Ki tokens");
    EXPECT_TRUE(words().contains("Open in the other views: chunked at 16Ki tokens."));
    ASSERT_TRUE(becomes([&] { return document.answer() != nullptr; }));
    EXPECT_EQ(document.answer()->plan.context, Tokens(16384));
    EXPECT_TRUE(view.has_content());
    // Another of its points can be opened by the mouse; one that cannot run has no plan.
    SweepPanel& device = panel(SweepPanel::Quantity::device);
    QTest::mouseDClick(device.viewport(), Qt::LeftButton, {},
                       device.pixel_of(point("chunked", 8192))->toPoint());
    EXPECT_EQ(document.title(), "chunked at 8Ki tokens");
    rows->selectRow(static_cast<int>(point("ring", 8192)));
    QTest::keyClick(rows, Qt::Key_Return);
    EXPECT_EQ(document.title(), "chunked at 8Ki tokens");
    document.close();
    EXPECT_FALSE(view.has_content());
}

TEST_F(SweepViewTest, StrategiesAreChosenByTheirBoxes) {
    open_scenario();
    sweep_small();
    auto* box = view.findChild<QCheckBox*>("chunked");
    EXPECT_FALSE(box->toolTip().isEmpty());
    EXPECT_FALSE(box->icon().isNull());
    SweepPanel& device = panel(SweepPanel::Quantity::device);
    EXPECT_EQ(device.chart()->series().size(), 1);
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Space);
    EXPECT_FALSE(box->isChecked());
    EXPECT_EQ(device.chart()->series().size(), 0);
    ASSERT_TRUE(becomes([&] { return !view.busy(); }));
    EXPECT_EQ(view.table().row_of("chunked", Tokens(8192)), -1);
    EXPECT_GE(view.table().row_of("ring", Tokens(8192)), 0);
    for (QCheckBox* other : view.findChildren<QCheckBox*>()) other->setChecked(false);
    ASSERT_TRUE(becomes([&] { return !view.busy(); }));
    EXPECT_TRUE(words().contains("No strategy is chosen"));
}

TEST_F(SweepViewTest, ContextsAreCheckedAndSweptByEnter) {
    open_scenario();
    sweep_small();
    QTest::keyClick(field("to"), Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(field("to"), "16Ki");
    QTest::keyClick(field("to"), Qt::Key_Return);
    EXPECT_TRUE(view.busy());
    ASSERT_TRUE(becomes([&] { return !view.busy(); }));
    EXPECT_EQ(view.table().row_of("chunked", Tokens(65536)), -1);
    EXPECT_GE(view.table().row_of("chunked", Tokens(16384)), 0);
    field("to")->setText("many");
    QTest::keyClick(field("to"), Qt::Key_Return);
    EXPECT_FALSE(view.busy());
    EXPECT_TRUE(words().contains("many")) << words().toStdString();
    field("to")->setText("4Ki");
    QTest::keyClick(field("to"), Qt::Key_Return);
    EXPECT_TRUE(words().contains("end before they begin"));
    field("to")->setText("8Ki");
    QTest::mouseClick(view.findChild<QPushButton*>("go"), Qt::LeftButton);
    EXPECT_FALSE(words().contains("end before they begin"));
    ASSERT_TRUE(becomes([&] { return !view.busy(); }));
    EXPECT_GE(view.table().row_of("chunked", Tokens(8192)), 0);
}

TEST_F(SweepViewTest, ASweepIsCancelledByItsButton) {
    open_scenario();
    sweep_small();
    auto* go = view.findChild<QPushButton*>("go");
    EXPECT_EQ(go->text(), "Sweep");
    field("to")->setText("4Mi");
    QTest::mouseClick(go, Qt::LeftButton);
    EXPECT_EQ(go->text(), "Cancel");
    ASSERT_TRUE(becomes([&] { return view.has_content(); }));
    QTest::mouseClick(go, Qt::LeftButton);
    EXPECT_FALSE(view.busy());
    EXPECT_EQ(go->text(), "Sweep");
    EXPECT_TRUE(view.has_content());  // what is there stays
    view.set_palette(Palette::dark_one());
    EXPECT_EQ(panel(SweepPanel::Quantity::host).grab().toImage().pixelColor(3, 3).name(),
              Palette::dark_one().background.name());
}

}  // namespace
}  // namespace headroom::gui::test
