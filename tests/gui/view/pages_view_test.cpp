#include "gui/view/pages_view.h"

#include <QComboBox>
#include <QLabel>
#include <QSlider>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QToolButton>
#include <QWheelEvent>
#include <cmath>

#include "base/file.h"
#include "gui/model/open_file.h"
#include "gui/model/text.h"
#include "gui/view/legend_bar.h"
#include "gui/view/page_cell_text.h"
#include "gui/view/page_table.h"
#include "gui/view/recorded_pages.h"
#include "gui/view/small_step.h"
#include "gui/view/traffic_chart.h"

namespace headroom::gui::test {
namespace {

using headroom::test::tiny_plan;

// 10 chunks of 4 pages, all pages on the host but those of the first two chunks.
Plan offloaded() {
    Plan plan = tiny_plan(10, 32, 24);
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = {0, 2, 0};
    return plan;
}

class PagesViewTest : public testing::Test {
protected:
    void open(const Plan& plan, QSize size = {900, 640}) {
        opened.document.set_measured(step_of(plan));
        view.resize(size);
        view.show();
        view.activateWindow();
        ASSERT_TRUE(becomes([&] { return view.has_content() && !view.busy(); }));
        map().setFocus();
    }
    PageMapWidget& map() { return view.map(); }
    template <class W>
    W* control(const char* name) {
        return view.findChild<W*>(name);
    }
    QPoint pixel_of(double chunk, double page) {
        const MapAxes a = map().axes();
        return {static_cast<int>(std::lround(a.x_of(chunk))), static_cast<int>(std::lround(a.y_of(page)))};
    }
    QString words() {
        QStringList all;
        for (const QLabel* label : view.findChildren<QLabel*>()) {
            if (label->isVisible()) all << label->text();
        }
        return all.join('\n');
    }

    OpenedStep opened;
    PagesView view{opened.document, opened.focus};
};

TEST_F(PagesViewTest, SaysWhatItLacks) {
    view.show();
    EXPECT_FALSE(view.has_content());
    EXPECT_TRUE(view.csv().isEmpty());
    EXPECT_TRUE(words().contains("Open a scenario"));
    opened.document.set_measured(step_of(tiny_plan(1, 32, 32)));
    EXPECT_TRUE(words().contains("one chunk"));
    EXPECT_FALSE(view.has_content());
}

TEST_F(PagesViewTest, ShowsTheMapOfTheStep) {
    open(offloaded());
    EXPECT_EQ(map().window(), (MapWindow{0, 10, 0, 39}));
    EXPECT_EQ(view.pass(), Pass::fill);
    EXPECT_EQ(view.layer(), kAllLayers);
    const PageMap expected = make_page_map(offloaded(), opened.document.step()->timeline);
    const QImage shown = map().grab().toImage();
    const double ratio = shown.devicePixelRatio();
    for (int64_t c = 0; c < 10; ++c) {
        for (int64_t p = 0; p < 39; ++p) {
            const QPoint at = pixel_of(static_cast<double>(c) + 0.5, static_cast<double>(p) + 0.5);
            const QColor cell =
                cell_colour(value_of(expected.cell(Pass::fill, kAllLayers, c, p), 3), view.colours());
            EXPECT_EQ(shown.pixelColor((QPointF(at) * ratio).toPoint()).name(), cell.name()) << c << " " << p;
        }
    }
}

TEST_F(PagesViewTest, TheBarsAreTheTrafficOfTheTimeline) {
    open(offloaded());
    std::array<int64_t, 10> loaded{}, written{}, bytes{};
    for (const Traffic& t : opened.document.step()->timeline.traffic) {
        if (t.pass != Pass::gradient || t.layer != 1) continue;
        loaded[t.chunk] += t.loaded;
        written[t.chunk] += t.written_back;
        bytes[t.chunk] += t.loaded_bytes;
    }
    control<QSpinBox>("layer")->setValue(1);
    control<QComboBox>("pass")->setCurrentIndex(1);
    ASSERT_EQ(view.chart().columns().bars.size(), 10U);
    EXPECT_GT(loaded[7], 0);
    for (size_t c = 0; c < 10; ++c) {
        EXPECT_EQ(view.chart().columns().bars[c][0], static_cast<double>(loaded[c]));
        EXPECT_EQ(view.chart().columns().bars[c][3], static_cast<double>(written[c]));
    }
    EXPECT_TRUE(view.chart().text_of_chunk(7).contains(count_text(loaded[7]) + " K, V pages loaded"));
    control<QComboBox>("unit")->setCurrentIndex(1);
    for (size_t c = 0; c < 10; ++c)
        EXPECT_EQ(view.chart().columns().bars[c][0], static_cast<double>(bytes[c]));
    EXPECT_TRUE(view.chart().text_of_chunk(7).contains(bytes_text(bytes[7]) + " loaded to the device"));
    EXPECT_EQ(view.chart().text_of_chunk(99), "");
}

TEST_F(PagesViewTest, WherePagesStayOnTheDeviceNothingTravels) {
    open(tiny_plan(10, 32, 24));
    EXPECT_EQ(view.chart().columns().most(), 0);
    EXPECT_EQ(view.chart().nothing_text(), "Nothing travels for these chunks in the fill pass.");
    opened.document.set_measured(step_of(offloaded()));
    ASSERT_TRUE(becomes([&] { return view.chart().columns().most() > 0; }));
    EXPECT_EQ(view.chart().nothing_text(), "");
}

TEST_F(PagesViewTest, TheTableHasOneRowAChunk) {
    open(offloaded());
    const QList<QByteArray> rows = view.csv().trimmed().split('\n');
    ASSERT_EQ(rows.size(), 11);
    EXPECT_TRUE(rows[0].startsWith("pass,layer,chunk,begin_ns,selected_pages,"));
    const QList<QByteArray> third = rows[3].split(',');
    EXPECT_EQ(third[0], "fill");
    EXPECT_EQ(third[1], "all");
    EXPECT_EQ(third[2], "2");
    EXPECT_EQ(third[rows[0].split(',').indexOf("pages_read")], "0-7");
    EXPECT_EQ(rows[0].split(',').size(), third.size());
    // The last chunk has no fill pass.
    EXPECT_TRUE(rows[10].startsWith("fill,all,9,,0,0,"));
    control<QSpinBox>("layer")->setValue(2);
    EXPECT_TRUE(view.csv().split('\n')[3].startsWith("fill,2,2,"));
}

TEST_F(PagesViewTest, PointingAtAPageTellsItsStory) {
    open(offloaded());
    QTest::mouseMove(&map(), pixel_of(5.5, 3.5));
    ASSERT_EQ(map().cell(), (PageMapWidget::Cell{5, 3}));
    EXPECT_TRUE(
        words().contains("Page 3 (tokens 24 to 31; K, V on the device): chunk 5 reads it in 2 of 3 layers. "
                         "Read by 8 chunks of this pass, 1 to 8."))
        << words().toStdString();
    QTest::mouseMove(&map(), pixel_of(5.5, 21.5));
    EXPECT_TRUE(words().contains("K, V on the host): chunk 5 makes it. Read by 3 chunks"));
    QTest::mouseMove(&map(), pixel_of(5.5, 30.5));
    EXPECT_TRUE(words().contains("chunk 5 comes before it is made"));
    control<QComboBox>("pass")->setCurrentIndex(1);
    EXPECT_TRUE(words().contains("chunk 5 no longer needs it"));
    QTest::mouseMove(&map(), pixel_of(9.5, 20.5));
    EXPECT_TRUE(
        words().contains("chunk 9 reads it and is the first to touch its dK and dV in 3 of 3 layers"));
}

TEST_F(PagesViewTest, AClickGoesToTheChunk) {
    open(offloaded());
    control<QSpinBox>("layer")->setValue(1);
    QTest::mouseClick(&map(), Qt::LeftButton, {}, pixel_of(6.5, 10.5));
    ASSERT_TRUE(opened.focus.cursor_ns());
    const Timeline& t = opened.document.step()->timeline;
    const OpId op = opened.focus.selected();
    ASSERT_LT(op, t.ops.size());
    EXPECT_EQ(t.ops[op].kind, OpKind::attention_past);
    EXPECT_EQ(t.ops[op].chunk, 6U);
    EXPECT_EQ(t.ops[op].layer, 1);
    EXPECT_EQ(t.ops[op].pass, Pass::fill);
    EXPECT_LE(*opened.focus.cursor_ns(), t.ops[op].start_ns);
}

TEST_F(PagesViewTest, WheelDragAndKeysMoveTheWindow) {
    Plan plan = offloaded();
    plan.context = Tokens(64 * 32);
    open(plan);
    const auto wheel = [&](Qt::KeyboardModifiers modifiers, int turn) {
        const QPointF at = pixel_of(32, 128);
        QWheelEvent event(at, map().mapToGlobal(at), {}, {0, turn}, Qt::NoButton, modifiers,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&map(), &event);
    };
    wheel({}, 120);
    EXPECT_NEAR(map().window().chunk_span(), 64 / 1.25, 1e-9);
    EXPECT_NEAR(map().window().page_span(), 256 / 1.25, 1e-9);
    wheel(Qt::ShiftModifier, 120);
    EXPECT_NEAR(map().window().chunk_span(), 64 / 1.25, 1e-9);
    EXPECT_NEAR(map().window().page_span(), 256 / 1.25 / 1.25, 1e-9);
    wheel(Qt::ControlModifier, 120);
    EXPECT_NEAR(map().window().chunk_span(), 64 / 1.25 / 1.25, 1e-9);
    // The bars show the same chunks.
    EXPECT_EQ(view.chart().columns().first, static_cast<int64_t>(map().window().chunk0));

    const MapWindow before = map().window();
    QTest::mousePress(&map(), Qt::LeftButton, {}, pixel_of(32, 128));
    QTest::mouseMove(&map(), pixel_of(32, 128) + QPoint(50, 20));
    QTest::mouseRelease(&map(), Qt::LeftButton, {}, pixel_of(32, 128) + QPoint(50, 20));
    EXPECT_LT(map().window().chunk0, before.chunk0);
    EXPECT_GT(map().window().page0, before.page0);
    EXPECT_EQ(opened.focus.cursor_ns(), std::nullopt);  // a drag is no click

    QTest::keyClick(&map(), Qt::Key_F);
    EXPECT_EQ(map().window(), (MapWindow{0, 64, 0, 256}));
    for (int i = 0; i < 3; ++i) QTest::keyClick(&map(), Qt::Key_Plus);
    const double span = 64 / 1.25 / 1.25 / 1.25;
    EXPECT_NEAR(map().window().chunk_span(), span, 1e-9);
    const double begin = map().window().chunk0, bottom = map().window().page0;
    QTest::keyClick(&map(), Qt::Key_D);
    EXPECT_NEAR(map().window().chunk0, begin + 0.15 * span, 1e-9);
    QTest::keyClick(&map(), Qt::Key_A);
    EXPECT_NEAR(map().window().chunk0, begin, 1e-9);
    QTest::keyClick(&map(), Qt::Key_S);
    EXPECT_NEAR(map().window().page0, bottom - 0.15 * 4 * span, 1e-9);
    QTest::keyClick(&map(), Qt::Key_W);
    EXPECT_NEAR(map().window().page0, bottom, 1e-9);
    for (int i = 0; i < 4; ++i) QTest::keyClick(&map(), Qt::Key_Minus);
    EXPECT_EQ(map().window(), (MapWindow{0, 64, 0, 256}));
    QTest::mouseDClick(&map(), Qt::LeftButton, {}, pixel_of(32, 128));
    EXPECT_NEAR(map().window().chunk_span(), 32, 1e-9);
    QTest::mouseClick(control<QToolButton>("show_all"), Qt::LeftButton);
    EXPECT_EQ(map().window(), (MapWindow{0, 64, 0, 256}));
}

TEST_F(PagesViewTest, ArrowKeysMoveTheMarkAndEnterGoesThere) {
    open(offloaded());
    QTest::keyClick(&map(), Qt::Key_Right);
    EXPECT_EQ(map().cell(), (PageMapWidget::Cell{0, 0}));
    QTest::keyClick(&map(), Qt::Key_Right);
    QTest::keyClick(&map(), Qt::Key_Up, Qt::ShiftModifier);
    EXPECT_EQ(map().cell(), (PageMapWidget::Cell{1, 16}));
    QTest::keyClick(&map(), Qt::Key_Left);
    QTest::keyClick(&map(), Qt::Key_Left);
    QTest::keyClick(&map(), Qt::Key_Down);
    EXPECT_EQ(map().cell(), (PageMapWidget::Cell{0, 15}));
    QTest::keyClick(&map(), Qt::Key_Right, Qt::ShiftModifier);
    EXPECT_EQ(map().cell(), (PageMapWidget::Cell{9, 15}));
    QTest::keyClick(&map(), Qt::Key_Left);
    QTest::keyClick(&map(), Qt::Key_Return);
    const ChunkTimes times = chunk_times(opened.document.step()->timeline, 10, 3);
    EXPECT_EQ(opened.focus.cursor_ns(), times.begin(Pass::fill, kAllLayers, 8));
    // A mark outside of the window is brought into view.
    map().set_window({0, 4, 0, 8});
    QTest::keyClick(&map(), Qt::Key_Left);
    EXPECT_EQ(map().window(), (MapWindow{4, 8, 8, 16}));
}

TEST_F(PagesViewTest, ControlsByKeyboard) {
    open(offloaded());
    auto* layer = control<QSpinBox>("layer");
    QTest::keyClick(&map(), Qt::Key_BracketRight);
    EXPECT_EQ(view.layer(), 0);
    QTest::keyClick(&map(), Qt::Key_BracketLeft);
    EXPECT_EQ(view.layer(), kAllLayers);
    QTest::keyClick(layer, Qt::Key_Up);
    EXPECT_EQ(view.layer(), 0);
    QTest::keyClick(&map(), Qt::Key_P);
    EXPECT_EQ(view.pass(), Pass::gradient);
    QTest::keyClick(control<QComboBox>("pass"), Qt::Key_Up);
    EXPECT_EQ(view.pass(), Pass::fill);
    QTest::keyClick(control<QComboBox>("unit"), Qt::Key_Down);
    EXPECT_EQ(view.chart().legend().size(), 2U);
    EXPECT_FALSE(view.keys().isEmpty());
    for (const char* name : {"layer", "pass", "unit", "time", "speed"}) {
        EXPECT_FALSE(control<QWidget>(name)->accessibleName().isEmpty()) << name;
        EXPECT_FALSE(control<QWidget>(name)->toolTip().isEmpty()) << name;
    }
}

TEST_F(PagesViewTest, TheReplayFollowsTheCursor) {
    open(offloaded());
    const ChunkTimes times = chunk_times(opened.document.step()->timeline, 10, 3);
    const int64_t at = times.begin(Pass::fill, 2, 4);
    opened.focus.set_cursor(at);
    EXPECT_TRUE(words().contains("layer 2, chunk 4, fill pass")) << words().toStdString();
    // Chunks up to the fourth are in full colour, later ones behind a veil.
    QImage shown = map().grab().toImage();
    const auto colour = [&](int64_t c, int64_t p) {
        const QPoint pixel = pixel_of(static_cast<double>(c) + 0.5, static_cast<double>(p) + 0.5);
        return shown.pixelColor((QPointF(pixel) * shown.devicePixelRatio()).toPoint()).name();
    };
    const QString full =
        cell_colour(value_of({CellState::read, PastPlace::host, 2}, 3), view.colours()).name();
    EXPECT_EQ(colour(3, 9), full);
    EXPECT_EQ(colour(4, 9), full);
    EXPECT_NE(colour(5, 9), full);
    QTest::keyClick(&map(), Qt::Key_Period);
    EXPECT_EQ(opened.focus.cursor_ns(), times.begin(Pass::fill, kAllLayers, 5));
    QTest::keyClick(&map(), Qt::Key_Comma);
    EXPECT_EQ(opened.focus.cursor_ns(), times.begin(Pass::fill, kAllLayers, 4));
    opened.focus.set_cursor(times.begin(Pass::fill, 0, 8));
    QTest::keyClick(&map(), Qt::Key_Period);
    EXPECT_EQ(opened.focus.cursor_ns(), times.begin(Pass::gradient, kAllLayers, 9));
    EXPECT_EQ(view.pass(), Pass::gradient);
    auto* slider = control<QSlider>("time");
    slider->setValue(slider->maximum() / 2);
    EXPECT_EQ(opened.focus.cursor_ns(), opened.focus.whole().end_ns / 2);
    QTest::keyClick(slider, Qt::Key_Home);
    EXPECT_EQ(opened.focus.cursor_ns(), 0);
}

TEST_F(PagesViewTest, SpacePlaysAndPauses) {
    open(offloaded());
    control<QComboBox>("speed")->setCurrentIndex(0);
    QTest::keyClick(&map(), Qt::Key_Space);
    EXPECT_TRUE(view.playing());
    EXPECT_EQ(control<QToolButton>("play")->text(), "Pause");
    ASSERT_TRUE(becomes([&] { return opened.focus.cursor_ns().value_or(0) > 0; }));
    QTest::mouseClick(control<QToolButton>("play"), Qt::LeftButton);
    EXPECT_FALSE(view.playing());
    const auto stopped = opened.focus.cursor_ns();
    QTest::qWait(120);
    EXPECT_EQ(opened.focus.cursor_ns(), stopped);
    // At the end it stops by itself, and begins anew when played again. A small step takes no time.
    opened.focus.set_cursor(opened.focus.whole().end_ns - 1);
    control<QComboBox>("speed")->setCurrentIndex(4);
    QTest::keyClick(&map(), Qt::Key_Space);
    ASSERT_TRUE(becomes([&] { return !view.playing(); }));
    EXPECT_EQ(opened.focus.cursor_ns(), opened.focus.whole().end_ns);
    control<QComboBox>("speed")->setCurrentIndex(3);
    QTest::keyClick(&map(), Qt::Key_Space);
    EXPECT_LT(opened.focus.cursor_ns(), opened.focus.whole().end_ns / 2);
    QTest::keyClick(&map(), Qt::Key_Space);
    EXPECT_FALSE(view.playing());
}

// Sparse, all pages on the host, with a cache that holds some.
TEST_F(PagesViewTest, PagesFoundInTheCacheAreShownNamedAndListed) {
    const auto legend = [&] {
        QString all;
        for (const LegendBar* bar : view.findChildren<LegendBar*>()) {
            for (const LegendEntry& entry : bar->entries()) all += entry.text + "\n";
        }
        return all;
    };
    Plan plan = tiny_plan(10, 32, 24);
    plan.decisions.attention.sparse = true;
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = Residency{};
    plan.decisions.page_cache = Bytes(0);
    open(plan);
    EXPECT_FALSE(legend().contains("found in the page cache, by"));
    plan.decisions.page_cache = Bytes(64 * kMiB);
    opened.document.set_measured(step_of(plan));
    ASSERT_TRUE(becomes([&] { return legend().contains("found in the page cache, by few to all layers"); }));
    const PageMap expected = make_page_map(plan, opened.document.step()->timeline);
    const PageMap& m = expected;
    int64_t page = 0;
    while (m.cell(Pass::fill, 1, 5, page).state != CellState::cached) ASSERT_LT(++page, m.pages);
    EXPECT_TRUE(
        page_cell_text(m, Pass::fill, 1, 5, page).contains("chunk 5 finds it in the page cache in layer 1"))
        << page_cell_text(m, Pass::fill, 1, 5, page).toStdString();
    // The list of each chunk has as many pages as the timeline counts, in a single layer.
    control<QSpinBox>("layer")->setValue(1);
    const QList<QByteArray> rows = view.csv().trimmed().split('\n');
    const QList<QByteArray> names = rows[0].split(',');
    const auto column = [&](const char* name) { return static_cast<qsizetype>(names.indexOf(name)); };
    int64_t hits = 0;
    for (qsizetype c = 0; c < 10; ++c) {
        const QList<QByteArray> row = rows[c + 1].split(',');
        int64_t listed = 0;
        for (const QByteArray& run : row[column("pages_found_in_cache")].split(' ')) {
            if (run.isEmpty()) continue;
            const QList<QByteArray> ends = run.split('-');
            listed += ends.back().toLongLong() - ends.front().toLongLong() + 1;
        }
        EXPECT_EQ(listed, row[column("cache_hit_pages")].toLongLong()) << c;
        hits += listed;
    }
    EXPECT_GT(hits, 0);
}

// A measured timeline is drawn with what its run selected, where that was recorded; its prediction is not
// made of it.
TEST_F(PagesViewTest, PagesOfARunAreThoseThatItSelected) {
    const Plan plan = small_sparse_plan();
    const RecordedSelection record = recorded_for(plan);
    QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    Timeline run = step_of(plan)->timeline;
    run.source = "measured";
    ASSERT_TRUE(write_timeline(run, root / "alone.trace.json.gz"));
    ASSERT_TRUE(write_timeline(run, root / "both.trace.json.gz"));
    ASSERT_TRUE(write_timeline(run, root / "other.trace.json.gz"));
    ASSERT_TRUE(write_file(selection_beside(root / "both.trace.json.gz"), write_selection(record)));
    RecordedSelection wrong = record;
    ++wrong.budget;
    ASSERT_TRUE(write_file(selection_beside(root / "other.trace.json.gz"), write_selection(wrong)));

    view.show();
    const auto shows = [&](const char* file, const QString& words) {
        opened.document.open(root / file);
        return becomes([&] {
            return opened.document.measured() && opened.document.measured()->name == file && !view.busy() &&
                   view.has_content() && opened.document.answer_final() &&
                   control<QLabel>("selection_source")->text().contains(words);
        });
    };
    ASSERT_TRUE(shows("alone.trace.json.gz", "were not recorded beside its timeline"));
    const QByteArray drawn = view.csv();
    ASSERT_TRUE(shows("both.trace.json.gz", "as this run selected them (a test)"));
    const QByteArray selected = view.csv();
    EXPECT_NE(selected, drawn);
    EXPECT_FALSE(opened.document.plan()->selection.recorded);
    EXPECT_EQ(opened.document.predicted()->timeline.selection_source, plan.selection.source);
    EXPECT_EQ(opened.document.predicted()->duration_ns(), step_of(plan)->duration_ns());
    Plan with = plan;
    with.selection.recorded = std::make_shared<const RecordedSelection>(record);
    const auto csv_of = [&](const Plan& as) {
        return page_table_csv(make_page_map(as, run), traffic_table(run, 10, 3), chunk_times(run, 10, 3),
                              Pass::fill, kAllLayers);
    };
    EXPECT_EQ(drawn, csv_of(plan));
    EXPECT_EQ(selected, csv_of(with));
    ASSERT_TRUE(shows("other.trace.json.gz", "the budget of the recorded selection"));
}

TEST_F(PagesViewTest, TheLegendNamesTheHomesThatThereAre) {
    open(offloaded());
    const auto said = [&] {
        QStringList all;
        for (const LegendBar* bar : view.findChildren<LegendBar*>()) {
            for (const LegendEntry& e : bar->entries()) all << e.text;
        }
        return all.join('\n');
    };
    EXPECT_TRUE(said().contains("K, V on the device"));
    EXPECT_TRUE(said().contains("K, V on the host"));
    EXPECT_FALSE(said().contains("disk; "));
    EXPECT_FALSE(said().contains("first touched"));
    QTest::keyClick(&map(), Qt::Key_P);
    EXPECT_TRUE(said().contains("first touched"));
    view.set_palette(Palette::dark_one());
    ASSERT_TRUE(becomes([&] { return !view.busy(); }));
    EXPECT_EQ(map().grab().toImage().pixelColor(2, 2).name(), Palette::dark_one().background.name());
}

TEST_F(PagesViewTest, AnotherStepIsShownAndNoneIsSaid) {
    open(offloaded());
    Plan other = tiny_plan(4, 32, 32);
    opened.document.set_measured(step_of(other));
    ASSERT_TRUE(becomes([&] { return map().window().chunk1 == 4 && !view.busy(); }));
    EXPECT_EQ(view.csv().trimmed().split('\n').size(), 5);
    opened.document.close();
    EXPECT_FALSE(view.has_content());
    EXPECT_TRUE(words().contains("Open a scenario"));
}

TEST(LegendBar, BreaksIntoRowsWhereItIsNarrow) {
    LegendBar bar(10);
    bar.set_entries({{{Qt::red}, "one"}, {{Qt::green, Qt::blue}, "two"}, {{Qt::yellow}, "three"}});
    EXPECT_EQ(bar.heightForWidth(2000) * 3, bar.heightForWidth(30));
    EXPECT_EQ(bar.accessibleDescription(), "one, two, three");
}

}  // namespace
}  // namespace headroom::gui::test
