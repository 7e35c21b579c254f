// Every control of the window, used by mouse and by keyboard. A control that no case speaks of fails.
#include <gtest/gtest.h>

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QSpinBox>
#include <QStatusBar>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QToolButton>

#include <filesystem>

#include "base/file.h"
#include "gui/app/main_window.h"
#include "gui/app/message_bar.h"
#include "gui/app/settings.h"
#include "gui/app/use.h"
#include "gui/becomes.h"
#include "gui/make_timeline.h"
#include "gui/model/comparison_model.h"
#include "gui/model/open_file.h"
#include "gui/view/compare_canvas.h"
#include "gui/view/compare_view.h"
#include "gui/view/error_chart.h"
#include "gui/view/memory_view.h"
#include "gui/view/pages_view.h"
#include "gui/view/recorded_pages.h"
#include "gui/view/run_form.h"
#include "gui/view/run_view.h"
#include "gui/view/streams_canvas.h"
#include "gui/view/streams_view.h"
#include "gui/view/sweep_view.h"
#include "gui/view/traffic_chart.h"
#include "timeline/timeline.h"

namespace headroom::gui::test {
namespace {

QString text_of(const TimeRange& range) {
    return QString("%1-%2").arg(range.begin_ns).arg(range.end_ns);
}

// The same step, a fifth slower in all.
Timeline slower(Timeline t) {
    const auto late = [](int64_t ns) { return ns * 6 / 5; };
    for (TimelineOp& op : t.ops) {
        op.start_ns = late(op.start_ns);
        op.end_ns = late(op.end_ns);
    }
    for (MemorySample& sample : t.memory) sample.time_ns = late(sample.time_ns);
    t.source = "measured";
    return t;
}

class Controls : public testing::Test {
protected:
    Controls() {
        QApplication::setDoubleClickInterval(50);
        window.resize(1200, 700);
        window.show();
        window.activateWindow();
        EXPECT_TRUE(QTest::qWaitForWindowActive(&window));
    }
    void open(const char* scenario) {
        window.open(shipped(scenario));
        ASSERT_TRUE(becomes([&] { return settled() && document().title().startsWith(scenario); }));
    }
    bool settled() { return document().answer_final() && document().predicted() && !document().busy(); }
    template <class V>
    V& look_at(const char* id) {
        window.show_view(id);
        auto& view = dynamic_cast<V&>(*window.view(id));
        EXPECT_TRUE(becomes([&] { return view.isVisible() && !view.busy(); }));
        return view;
    }
    Document& document() { return window.document(); }
    Focus& focus() { return window.focus(); }
    std::function<QString()> range() {
        return [this] { return text_of(focus().range()); };
    }
    std::function<QString()> selected() {
        return [this] { return QString::number(focus().selected()); };
    }
    // The middle half of the step.
    std::function<void()> nearer() {
        return [this] {
            const int64_t whole = focus().whole().end_ns;
            focus().set_range({whole / 4, whole * 3 / 4});
        };
    }
    template <class W>
    W& named(QWidget& in, const QString& name) {
        for (W* w : in.findChildren<W*>()) {
            if (name_of(*w) == name) return *w;
        }
        ADD_FAILURE() << name.toStdString();
        return *in.findChild<W*>();
    }
    std::function<QString()> row_of(QWidget& in, const QString& name) {
        auto* table = &named<QAbstractItemView>(in, name);
        return [table] { return QString::number(table->currentIndex().row()); };
    }
    std::function<QString()> scrolled(QWidget& in, const QString& name) {
        auto* area = &named<QScrollArea>(in, name);
        return [area] { return QString::number(area->verticalScrollBar()->value()); };
    }
    std::string file_of(const Timeline& timeline, const char* name) {
        const std::string path = folder.filePath(name).toStdString();
        EXPECT_TRUE(write_timeline(timeline, path));
        return path;
    }
    void measure() { document().set_measured(make_step("run", slower(document().predicted()->timeline))); }

    QTemporaryDir folder;
    MainWindow window;
};

TEST_F(Controls, Verdict) {
    open("tiny-cpu");
    View& view = look_at<View>("verdict");
    Walk walk(view);
    Uses uses;
    Knobs& knobs = document().knobs();
    for (const Knob& knob : all_knobs(shipped_hardware())) {
        const auto value = [&knobs, key = knob.key] { return knobs.value(key); };
        const auto untouched = [&knobs] { knobs.turn_all({}, "all"); };
        Use field{value, untouched};
        if (knob.kind != Knob::Kind::choice) {  // typed
            field.keys = [](QWidget& w) {
                use_by_keys(*dynamic_cast<QComboBox&>(w).lineEdit());
                QTest::keyClick(dynamic_cast<QComboBox&>(w).lineEdit(), Qt::Key_Return);
            };
        }
        uses[knob.label] = field;
        uses[QString("%1: back to what the file has").arg(knob.label)] = {
            value, [&knobs, knob] { knobs.turn(knob.key, knob.values.back()); }};
    }
    uses["Context, tokens"] = {[&knobs] { return knobs.value("context"); },
                               [&knobs] { knobs.turn_all({}, "all"); }};
    uses["Knobs"] = {scrolled(view, "Knobs")};
    walk.use_all(uses);
    knobs.turn_all({}, "all");
    ASSERT_TRUE(becomes([&] { return settled(); }));

    open("qwen2.5-7b-64k-exact-h200");
    window.resize(1100, 520);
    QTest::qWait(20);
    for (const char* name : {"Figures of a step", "What more would buy", "Decisions of the plan"})
        uses[name] = {row_of(view, name)};
    uses["Answer"] = {scrolled(view, "Answer")};
    walk.use_all(uses);

    window.resize(1200, 900);
    open("qwen2.5-7b-128k-whole-h200");
    const auto hopeful = [&] {
        knobs.turn_all({}, "all");
        ASSERT_TRUE(becomes([&] { return settled() && !document().answer()->remedies.empty(); }));
    };
    const auto turned = [&knobs] { return QString::number(knobs.values().size()); };
    const auto change_by = [](auto act) {
        return [act](QWidget& w) {
            auto& list = dynamic_cast<QTableView&>(w);
            act(list, list.visualRect(list.model()->index(0, 0)).center());
        };
    };
    uses["What would make it fit"] = {turned, hopeful, change_by([](QTableView& list, QPoint at) {
                                          QTest::mouseClick(list.viewport(), Qt::LeftButton, {}, at);
                                          QTest::mouseDClick(list.viewport(), Qt::LeftButton, {}, at);
                                      }),
                                      change_by([](QTableView& list, QPoint) {
                                          list.setFocus();
                                          QTest::keyClick(&list, Qt::Key_Return);
                                      })};
    uses["Apply the selected change"] = {turned, hopeful};
    walk.use_all(uses);
    walk.end();
}

// The wheel scrolls the column of knobs; it turns the one that has the focus.
TEST_F(Controls, AWheelOverAKnobTurnsItOnlyWhereItHasTheFocus) {
    open("tiny-cpu");
    View& view = look_at<View>("verdict");
    auto& field = *view.findChild<QComboBox*>("training.optimizer");
    auto& slider = *view.findChild<QSlider*>("context_slider");
    named<QToolButton>(view, "Optimizer: back to what the file has").setFocus();
    wheel(field, -1);
    wheel(slider, 1);
    EXPECT_TRUE(document().knobs().values().empty());
    field.setFocus();
    wheel(field, -1);
    EXPECT_EQ(document().knobs().value("training.optimizer"), field.itemData(1).toString());
    slider.setFocus();
    wheel(slider, 1);
    EXPECT_FALSE(document().knobs().value("context").isEmpty());
}

// An answer that comes while someone types or looks at a list takes neither away.
TEST_F(Controls, AnAnswerDoesNotDisturbAKnobThatIsBeingTurned) {
    open("tiny-cpu");
    View& view = look_at<View>("verdict");
    auto& field = *view.findChild<QComboBox*>("budget.host");
    field.setFocus();
    field.lineEdit()->selectAll();
    QTest::keyClicks(field.lineEdit(), "12G");
    document().knobs().turn("context", "1Ki");
    ASSERT_TRUE(becomes([&] { return settled(); }));
    EXPECT_EQ(field.currentText(), "12G");
    QTest::keyClicks(field.lineEdit(), "iB");
    QTest::keyClick(field.lineEdit(), Qt::Key_Return);
    EXPECT_EQ(document().knobs().value("budget.host"), "12GiB");
    auto& choice = *view.findChild<QComboBox*>("training.optimizer");
    choice.showPopup();
    document().knobs().turn("context", "512");
    ASSERT_TRUE(becomes([&] { return settled(); }));
    EXPECT_TRUE(choice.view()->isVisible());
    EXPECT_EQ(choice.currentIndex(), 0);
    choice.hidePopup();
    EXPECT_TRUE(becomes([&] { return field.currentText() == "12GiB"; }));
}

TEST_F(Controls, Memory) {
    constexpr int64_t kGi = int64_t{1} << 30;
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 1'000'000);
    for (const Tier tier : {Tier::device, Tier::host, Tier::disk}) {
        const auto t = static_cast<int64_t>(tier);
        maker.capacity(tier, 10 * kGi);
        maker.memory(100'000 + t, tier, Category::kv, kGi);
        maker.memory(300'000 + 100'000 * t, tier, Category::weights, 4 * kGi);
        maker.memory(350'000 + 100'000 * t, tier, Category::weights, kGi);
    }
    Timeline timeline = maker.take();
    std::stable_sort(timeline.memory.begin(), timeline.memory.end(),
                     [](const MemorySample& a, const MemorySample& b) { return a.time_ns < b.time_ns; });
    open("tiny-cpu");
    document().set_measured(make_step("by hand", std::move(timeline)));
    document().look_at(Document::Side::measured);
    auto& view = look_at<MemoryView>("memory");
    Walk walk(view);
    Uses uses;
    const auto cursor = [this] { return QString::number(focus().cursor_ns().value_or(-1)); };
    for (const char* tier : {"device", "host", "disk"})
        uses[QString("Show the instant at which %1 is fullest").arg(tier)] = {
            cursor, [this] { focus().set_cursor(std::nullopt); }};
    uses["Fit bytes to the view"] = {
        [&view] { return QString::number(view.canvas().scale_of(0).high_bytes, 'g', 17); }};
    uses["Zoom in (W)"] = uses["Zoom out (S)"] = {range(), nearer()};
    uses["Fit the marked range or the selection; again: the whole step (F)"] = {range(), nearer()};
    uses["Live bytes of each tier over the step"] = {range(), nearer(), [](QWidget& w) { wheel(w, 1); },
                                                     [](QWidget& w) {
                                                         w.setFocus();
                                                         QTest::keyClick(&w, Qt::Key_D);
                                                     }};
    uses["Bytes at the instant"] = {row_of(view, "Bytes at the instant")};
    walk.use_all(uses);
    walk.end();
}

TEST_F(Controls, Streams) {
    // Compute stands still from 300 to 500 us for a load that ends then.
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 200'000, {}, 0, 0);
    maker.add(Stream::to_device, OpKind::load_pages, 100'000, 500'000, {0}, 1, 1);
    maker.add(Stream::compute, OpKind::qkv, 200'000, 300'000, {}, 1, 0);
    maker.add(Stream::compute, OpKind::attention_past, 500'000, 700'000, {1}, 1, 1);
    maker.add(Stream::compute, OpKind::down, 720'000, 900'000, {}, 2, 1);
    maker.add(Stream::to_host, OpKind::store_pages, 900'000, 1'000'000, {4}, 2, 1);
    open("tiny-cpu");
    document().set_measured(maker.step());
    document().look_at(Document::Side::measured);
    auto& view = look_at<StreamsView>("streams");
    Walk walk(view);
    Uses uses;
    auto& search = *view.findChild<QLineEdit*>("search");
    const auto hits = [&view] {
        return QString::number(view.hits() ? static_cast<int>(view.hits()->in_time.size()) : -1);
    };
    // Its mouse: the cross that clears it.
    uses["Find ops"] = {hits,
                        [&] {
                            search.setText("qkv");
                            ASSERT_TRUE(becomes([&] { return view.hits() && !view.busy(); }));
                        },
                        [](QWidget& w) { QTest::mouseClick(w.findChild<QToolButton*>(), Qt::LeftButton); },
                        [](QWidget& w) {
                            w.setFocus();
                            QTest::keyClicks(&w, " chunk:1");
                        }};
    const auto found = [&] {
        search.setText("qkv");
        focus().select(kNone);
        ASSERT_TRUE(becomes([&] { return view.hits() && !view.busy(); }));
    };
    uses["Next hit (F3)"] = uses["Previous hit (Shift+F3)"] = {selected(), found};
    const auto picture = [&view] { return picture_of(view.canvas()); };
    uses["Critical path"] = uses["Stalls"] = {picture, [&, this] {
                                                  focus().set_cursor(std::nullopt);
                                                  focus().select(kNone);
                                                  focus().set_range({0, 1'000'000});
                                                  ASSERT_TRUE(becomes([&] { return !view.busy(); }));
                                              }};
    uses["Zoom in (W)"] = uses["Zoom out (S)"] = {range(), nearer()};
    uses["Fit the marked range or the selection; again: the whole step (F)"] = {range(), nearer()};
    auto& canvas = view.canvas();
    uses["Lanes of the step's streams"] = {
        selected(), [this] { focus().select(kNone); },
        [&](QWidget& w) {
            const TimelineOp& op = document().step()->timeline.ops[document().step()->index.streams[0][1]];
            focus().set_range({op.start_ns, op.end_ns});
            QTest::mouseClick(&w, Qt::LeftButton, {},
                              {canvas.body().center().x(), canvas.lane_rect(0).center().y()});
        },
        [](QWidget& w) {
            w.setFocus();
            QTest::keyClick(&w, Qt::Key_Right);
        }};
    const auto tab = [&view] { return QString::number(view.findChild<QTabWidget*>()->currentIndex()); };
    uses["Figures"] = {tab};
    for (const char* name : {"Statistics by stream", "Statistics by kind of op"})
        uses[name] = {row_of(view, name), [&] { ASSERT_TRUE(becomes([&] { return !view.busy(); })); }};
    // Where it is read, an op that waits is shown; a link leads to another.
    OpId waits = kNone;
    const Timeline& timeline = document().step()->timeline;
    for (OpId op = 0; op < timeline.ops.size() && waits == kNone; ++op) {
        if (!waits_of(timeline, op).empty()) waits = op;
    }
    ASSERT_NE(waits, kNone);
    uses["Details of the selected op"] = {
        selected(), [&, waits] { focus().select(waits); },
        [](QWidget& w) {
            auto& details = dynamic_cast<QTextBrowser&>(w);
            QWidget* page = details.viewport();
            for (int y = 0; y < page->height(); y += 4) {
                for (int x = 0; x < page->width(); x += 8) {
                    if (details.anchorAt({x, y}).isEmpty()) continue;
                    QTest::mouseMove(page, {x, y});
                    return QTest::mouseClick(page, Qt::LeftButton, {}, {x, y});
                }
            }
            ADD_FAILURE() << "no link is seen";
        },
        [](QWidget& w) {
            w.setFocus(Qt::TabFocusReason);
            QTest::keyClick(&w, Qt::Key_Tab);
            QTest::keyClick(&w, Qt::Key_Return);
        }};
    window.resize(1200, 900);
    walk.use_all(uses);
    view.findChild<QTabWidget*>()->setCurrentIndex(1);
    uses["The largest stalls"] = {range(),
                                  [this] { focus().show_all(); },
                                  {},
                                  [](QWidget& w) {
                                      w.setFocus();
                                      QTest::keyClick(&w, Qt::Key_Return);
                                  }};
    walk.use_all(uses);
    walk.end();
}

TEST_F(Controls, TablesAreSortedByHeaderAndByKeys) {
    open("tiny-cpu");
    auto& view = look_at<StreamsView>("streams");
    auto& table = named<QTableView>(view, "Statistics by kind of op");
    const auto column = [&] {
        QStringList words;
        for (int r = 0; r < table.model()->rowCount(); ++r)
            words << table.model()->index(r, RangeStatisticsModel::kName).data().toString();
        return words;
    };
    ASSERT_GT(table.model()->rowCount(), 3);
    const QStringList before = column();
    QHeaderView& header = *table.horizontalHeader();
    const QPoint name(header.sectionViewportPosition(RangeStatisticsModel::kName) + 12, header.height() / 2);
    QTest::mouseClick(header.viewport(), Qt::LeftButton, {}, name);
    const QStringList first = column();
    EXPECT_NE(first, before);
    QTest::qWait(QApplication::doubleClickInterval() + 20);
    QTest::mouseClick(header.viewport(), Qt::LeftButton, {}, name);
    EXPECT_EQ(column(), QStringList(first.rbegin(), first.rend()));
    table.setFocus();
    const auto key = static_cast<Qt::Key>(Qt::Key_1 + static_cast<int>(RangeStatisticsModel::kName));
    QTest::keyClick(&table, key, Qt::ControlModifier);
    const QStringList second = column();
    QTest::keyClick(&table, key, Qt::ControlModifier);
    EXPECT_EQ(column(), QStringList(second.rbegin(), second.rend()));
}

TEST_F(Controls, Pages) {
    open("tiny-cpu");
    auto& view = look_at<PagesView>("pages");
    ASSERT_TRUE(becomes([&] { return view.has_content() && !view.busy(); }));
    Walk walk(view);
    Uses uses;
    uses["Layer"] = {[&] { return QString::number(view.layer()); }};
    uses["Pass"] = {[&] { return QString::number(static_cast<int>(view.pass())); }};
    uses["Bars count"] = {[&] { return QString::number(view.chart().columns().most()); }};
    const auto part_of_map = [&] {
        const MapWindow& w = view.map().window();
        return QString("%1 %2 %3 %4").arg(w.chunk0).arg(w.chunk1).arg(w.page0).arg(w.page1);
    };
    uses["Show all"] = {part_of_map, [&] { view.map().set_window({1, 2, 4, 12}); }};
    const auto cell = [&] {
        const auto c = view.map().cell();
        return c ? QString("%1 %2").arg(c->chunk).arg(c->page) : QString();
    };
    uses["Page map: chunks to the right, pages upwards"] = {cell,
                                                            [&] {
                                                                view.map().mark(PageMapWidget::Cell{0, 0});
                                                            },
                                                            {},
                                                            [](QWidget& w) {
                                                                w.setFocus();
                                                                QTest::keyClick(&w, Qt::Key_Right);
                                                            }};
    const auto playing = [&] { return QString::number(view.playing()); };
    uses["Play"] = {playing};
    uses["Instant of the step"] = {[this] { return QString::number(focus().cursor_ns().value_or(-1)); }};
    // How far it gets in a moment.
    const auto pace = [&] {
        auto& play = *view.findChild<QToolButton*>("play");
        play.setChecked(false);
        focus().set_cursor(0);
        play.setChecked(true);
        EXPECT_TRUE(becomes([&] { return focus().cursor_ns().value_or(0) > 0; }));
        play.setChecked(false);
        return view.findChild<QComboBox*>("speed")->currentData().toString();
    };
    uses["Speed of the replay"] = {pace};
    walk.use_all(uses);
    walk.end();
}

TEST_F(Controls, Sweep) {
    open("qwen2.5-7b-64k-exact-h200");
    window.resize(1280, 900);
    window.view("sweep")->findChild<QLineEdit*>("from")->setText("4Ki");
    window.view("sweep")->findChild<QLineEdit*>("to")->setText("8Ki");
    auto& view = look_at<SweepView>("sweep");
    auto &from = *view.findChild<QLineEdit*>("from"), &to = *view.findChild<QLineEdit*>("to");
    const auto sweep = [&](const char* first, const char* last) {
        from.setText(first);
        to.setText(last);
        QTest::keyClick(&to, Qt::Key_Return);
        ASSERT_TRUE(becomes([&] { return view.has_content() && !view.busy(); }));
    };
    sweep("4Ki", "8Ki");
    Walk walk(view);
    Uses uses;
    const auto points = [&] {
        QString all;
        for (const SweepPoint& p : view.table().points())
            all += QString("%1 %2,").arg(p.strategy.c_str()).arg(p.context.count());
        return all;
    };
    const auto rest = [&] { ASSERT_TRUE(becomes([&] { return !view.busy(); })); };
    for (const char* name : {"chunked", "layer-major", "whole-sequence", "ring", "tensor-parallel"})
        uses[name] = {points, rest};
    const auto shown = [&](const QString& key) {
        QTest::keyClick(view.window()->focusWidget(), Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(view.window()->focusWidget(), key);
        QTest::keyClick(view.window()->focusWidget(), Qt::Key_Return);
    };
    // A click brings the cursor, then the keys go there.
    const auto clicked_and_typed = [&, shown](const char* text) {
        return [shown, text](QWidget& w) {
            QTest::mouseClick(&w, Qt::LeftButton, {}, w.rect().center());
            shown(text);
        };
    };
    const auto tabbed_and_typed = [&, shown](const char* text) {
        return [shown, text](QWidget& w) {
            w.setFocus(Qt::TabFocusReason);
            shown(text);
        };
    };
    uses["First context, in tokens"] = {points, rest, clicked_and_typed("8Ki"), tabbed_and_typed("4Ki")};
    uses["Last context, in tokens"] = {points, rest, clicked_and_typed("4Ki"), tabbed_and_typed("8Ki")};
    uses["Sweep"] = {[&] { return QString::number(view.busy()); }, rest};
    walk.use_all(uses);

    for (QCheckBox* box : view.findChildren<QCheckBox*>()) box->setChecked(true);
    sweep("4Ki", "8Ki");
    const auto row = row_of(view, "Points of the sweep");
    for (const auto quantity :
         {SweepPanel::Quantity::device, SweepPanel::Quantity::host, SweepPanel::Quantity::step}) {
        SweepPanel& panel = view.panel(quantity);
        uses[name_of(panel)] = {row, [&] { view.findChild<QTableView*>("points")->selectRow(0); },
                                [&](QWidget&) {
                                    const auto at = panel.pixel_of(1);
                                    ASSERT_TRUE(at);
                                    QTest::mouseClick(panel.viewport(), Qt::LeftButton, {}, at->toPoint());
                                },
                                [](QWidget& w) {
                                    w.setFocus();
                                    QTest::keyClick(&w, Qt::Key_Right);
                                }};
    }
    uses["Points of the sweep"] = {row, [&] {
                                       ASSERT_TRUE(becomes([&] { return !view.busy(); }));
                                       view.findChild<QTableView*>("points")->selectRow(0);
                                   }};
    walk.use_all(uses);
    walk.end();
    // From a chart the keys reach every strategy, and Enter opens the point.
    SweepPanel& step = view.panel(SweepPanel::Quantity::step);
    step.setFocus();
    view.findChild<QTableView*>("points")->selectRow(0);
    const auto at = [&] { return view.table().points()[row().toUInt()]; };
    const SweepPoint start = at();
    QTest::keyClick(&step, Qt::Key_Down);
    EXPECT_NE(at().strategy, start.strategy);
    EXPECT_EQ(at().context, start.context);
    QTest::keyClick(&step, Qt::Key_Up);
    EXPECT_EQ(at().strategy, start.strategy);
    QTest::keyClick(&step, Qt::Key_Return);
    EXPECT_EQ(document().kind(), Document::Kind::plan);
}

TEST_F(Controls, Compare) {
    open("tiny-cpu");
    window.resize(1280, 900);
    auto& view = look_at<CompareView>("compare");
    Walk walk(view);
    const QString file =
        QString::fromStdString(file_of(slower(document().predicted()->timeline), "run.trace.json.gz"));
    const auto measured = [this] {
        return QString::number(reinterpret_cast<quintptr>(document().measured().get()));
    };
    Uses uses;
    uses["Open a measured run"] =
        uses["Open another measured run"] = {measured, [file] { answer_file_dialog(file); }};
    uses["Open a measured run"].before = [this, file] {
        document().set_measured(nullptr);
        answer_file_dialog(file);
    };
    walk.use_all(uses);
    ASSERT_TRUE(becomes([&] { return view.comparison() && !view.busy(); }));
    uses["Tolerance"] = {[&] { return QString::number(view.model().tolerance()); }};
    uses["Memory shown"] = {[&] { return QString::number(static_cast<int>(view.canvas().category())); }};
    uses["Jump to the worst"] = {selected(), [this] { focus().select(kNone); }};
    auto& table = *view.findChild<QTableView*>("compare_table");
    const auto rows = [&] { return QString::number(table.model()->rowCount()); };
    uses["Group"] = uses["Judged only"] = {rows};
    uses["Judged only"].before = [&] { view.findChild<QComboBox*>("compare_group")->setCurrentIndex(0); };
    uses["Errors of the prediction"] = {row_of(view, "Errors of the prediction")};
    uses["Unit of the chart"] = {[&] { return picture_of(view.chart()); }};
    uses["Predicted and measured on one axis of time"] = {range(), nearer(), [](QWidget& w) { wheel(w, 1); },
                                                          [](QWidget& w) {
                                                              w.setFocus();
                                                              QTest::keyClick(&w, Qt::Key_W);
                                                          }};
    // A bar: the first that is long enough to hit, from the top.
    uses["Errors by kind of operation"] = {
        selected(), [this] { focus().select(kNone); },
        [&](QWidget& w) {
            auto* chart = w.findChild<QGraphicsView*>();
            for (int y = 4; y < chart->height(); y += 6) {
                for (int x = chart->width() - 4; x > 0; x -= 12) {
                    QTest::mouseClick(chart->viewport(), Qt::LeftButton, {}, {x, y});
                    if (focus().selected() != kNone) return;
                }
            }
        },
        [](QWidget& w) {
            w.setFocus();
            QTest::keyClick(&w, Qt::Key_Down);
            QTest::keyClick(&w, Qt::Key_Return);
        }};
    walk.use_all(uses);
    ASSERT_TRUE(becomes([&] { return view.comparison() && !view.busy(); }));  // another run was opened
    walk.use_all(uses);
    // A run beside which its selection lies.
    const Plan sparse = small_sparse_plan();
    const RecordedSelection pages = recorded_for(sparse);
    const std::string run = file_of(run_with(sparse, pages), "sparse.trace.json.gz");
    ASSERT_TRUE(write_file(selection_beside(run), write_selection(pages)));
    document().open(run);
    const auto compared = [&] { return document().answer_final() && view.comparison() && !view.busy(); };
    ASSERT_TRUE(becomes(compared));
    uses["Pages as the run selected them"] = {
        [&] { return QString::number(reinterpret_cast<quintptr>(view.comparison().get())); },
        [&] { EXPECT_TRUE(becomes(compared)); }};
    walk.use_all(uses);
    walk.end();
}

TEST_F(Controls, Run) {
    open("tiny-cpu");
    window.resize(1280, 800);
    auto& view = look_at<RunView>("run");
    const QString program = folder.filePath("program");
    ASSERT_TRUE(
        write_file(program.toStdString(),
                   "#!/bin/sh\n"
                   "echo '{\"event\":\"start\",\"device\":\"CPU\",\"ops\":3,\"steps\":4}'\n"
                   "echo '{\"event\":\"step\",\"step\":0,\"loss\":2.5,\"gradient_norm\":1,\"seconds\":1}'\n"
                   "echo '{\"event\":\"step\",\"step\":1,\"loss\":2.4,\"gradient_norm\":1,\"seconds\":1}'\n"
                   "exec sleep 60\n"));
    QFile(program).setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    Walk walk(view);
    Uses uses;
    RunForm& form = view.form();
    auto& device = *view.findChild<QComboBox*>("run_device");
    if (device.count() < 2) device.addItem("cuda");  // as where there is a GPU
    uses["Device"] = {[&] { return form.settings().device; }};
    uses["Steps"] = {[&] { return QString::number(form.settings().steps); }};
    uses["Seed"] = {[&] { return QString::number(form.settings().seed); }};
    const auto field = [&](const char* name, auto member, bool folder_asked) {
        const auto value = [&form, member] { return form.settings().*member; };
        // The mouse brings the cursor; the keys write.
        uses[name] = {value, {}, [](QWidget& w) {
                          QTest::mouseClick(&w, Qt::LeftButton, {}, w.rect().center());
                          QTest::keyClick(w.window()->focusWidget(), Qt::Key_X);
                      }};
        const QString answer =
            folder.filePath(folder_asked ? "inside" : QString("%1.trace.json.gz").arg(name));
        if (folder_asked) {
            QDir().mkpath(answer);
        } else {
            QFile made(answer);
            EXPECT_TRUE(made.open(QIODevice::WriteOnly));
        }
        uses[QString("Choose: %1").arg(name)] = {value, [this, &view, name, answer] {
                                                     named<QLineEdit>(view, name).setText("/elsewhere");
                                                     answer_file_dialog(answer);
                                                 }};
    };
    field("Weights", &RunSettings::weights, false);
    field("Tokens", &RunSettings::tokens, false);
    field("Save weights to", &RunSettings::save_weights, true);
    field("Checkpoint", &RunSettings::checkpoint, true);
    field("Resume from", &RunSettings::resume, true);
    const auto output = [&form] { return form.settings().output; };
    uses["Measured timeline"] = uses["Weights"];
    uses["Measured timeline"].state = output;
    uses["Choose: Measured timeline"] = {output, [this, &view] {
                                             named<QLineEdit>(view, "Measured timeline").setText("");
                                             answer_file_dialog(folder.filePath("new.trace.json.gz"));
                                         }};
    auto& learning_rate = *view.findChild<QAbstractSpinBox*>("run_learning_rate");
    uses["More options"] = {[&] { return QString::number(learning_rate.isVisible()); }};
    walk.use_all(uses);

    view.findChild<QToolButton*>("run_more")->setChecked(true);
    uses["Learning rate"] = {[&] { return QString::number(form.settings().learning_rate, 'g', 9); }};
    walk.use_all(uses);

    RunSettings plain;
    plain.output = folder.filePath("t.trace.json.gz");
    form.set_settings(plain);
    view.set_engine(program);
    const auto running = [&view] { return QString::number(view.busy()); };
    const auto stopped = [&view] {
        view.cancel();
        ASSERT_TRUE(becomes([&] { return !view.busy(); }));
    };
    uses["Run"] = {running, stopped};
    walk.use_all(uses);
    auto& table = *view.findChild<QTableView*>("run_table");
    const auto started = [&] {
        if (!view.busy()) view.start();
        ASSERT_TRUE(becomes([&] { return view.busy() && table.model()->rowCount() == 2; }));
    };
    started();
    uses["Cancel"] = {running, started};
    uses["Steps of the run"] = {row_of(view, "Steps of the run"), started};
    walk.use_all(uses);
    stopped();
    walk.end();
}

TEST_F(Controls, TheFirstPage) {
    auto* page = window.findChild<QWidget*>("shipped_scenarios")->parentWidget();
    remember_file(QString::fromStdString(shipped("tiny-cpu")));
    remember_file(QString::fromStdString(shipped("qwen2.5-7b-64k-exact-h200")));
    const auto closed = [this] {
        document().close();
        ASSERT_EQ(window.current_view(), nullptr);
    };
    closed();
    Walk walk(*page);
    const auto title = [this] { return document().title(); };
    const auto enter = [](QWidget& w) {
        w.setFocus();
        QTest::keyClick(&w, Qt::Key_Return);
    };
    Uses uses;
    uses["Shipped scenarios"] = {title, closed, {}, enter};
    uses["Recent files"] = {title, closed, {}, [enter](QWidget& w) {
                                dynamic_cast<QListWidget&>(w).setCurrentRow(0);
                                enter(w);
                            }};
    uses["Open a scenario, a plan or a timeline…"] = {
        title, [closed] {
            closed();
            answer_file_dialog(QString::fromStdString(shipped("tiny-cpu")));
        }};
    for (int control = 0; control < 3; ++control) {  // each leaves the page
        closed();
        walk.use_all(uses);
    }
    walk.end();
}

TEST_F(Controls, MessageBarStatusBarAndTabs) {
    open("tiny-cpu");
    const auto shown = [this] { return QString::number(window.messages().isVisible()); };
    const auto say = [this] { window.messages().show_note("a few words"); };
    Walk bar(window.messages());
    say();
    Uses uses;
    uses["Close this message"] = {shown, say};
    bar.use_all(uses);
    bar.end();

    auto* tabs = window.findChild<QTabWidget*>();
    Walk tab(*tabs);
    for (int i = 0; i < tabs->count(); ++i) {
        tabs->setCurrentIndex(0);
        QTest::mouseClick(tabs->tabBar(), Qt::LeftButton, {}, tabs->tabBar()->tabRect(i).center());
        EXPECT_EQ(tabs->currentIndex(), i);
    }
    tabs->setCurrentIndex(0);
    for (int i = 1; i < tabs->count(); ++i) {
        tabs->tabBar()->setFocus();
        QTest::keyClick(tabs->tabBar(), Qt::Key_Right);
        EXPECT_EQ(tabs->currentIndex(), i);
    }

    // Stop: a search that takes a while.
    window.show_view("verdict");
    Walk status(*window.findChild<QStatusBar*>());
    const auto busy = [this] { return QString::number(document().busy()); };
    const auto work = [this] {
        window.open(shipped("qwen2.5-7b-4m-h200"));
        ASSERT_TRUE(becomes([&] { return document().title().contains("4m") && document().busy(); }));
    };
    work();
    Uses stop;
    stop["Stop"] = {busy, work};
    status.use_all(stop);
    status.end();
}

// Every entry of every menu, by the pointer and by its letters.
TEST_F(Controls, Menus) {
    open("tiny-cpu");
    measure();
    const std::string other = shipped("qwen2.5-7b-64k-exact-h200");
    const auto fresh = [&](const char* name) { return folder.filePath(name); };
    const auto there = [](const QString& file) {
        return [file] { return QString::number(QFile::exists(file)); };
    };
    const auto title = [this] { return document().title(); };
    const auto opened = [this] {
        if (document().title() == "tiny-cpu.toml" && settled()) return;
        window.open(shipped("tiny-cpu"));
        ASSERT_TRUE(becomes([&] { return document().title() == "tiny-cpu.toml" && settled(); }));
    };
    const auto without = [opened](const QString& file) {
        return [opened, file] {
            opened();
            QFile::remove(file);
            answer_file_dialog(file);
        };
    };
    const auto tab = [this] { return window.current_view()->objectName(); };
    const auto dialogs = [this] {
        int shown = 0;
        for (const QDialog* d : window.findChildren<QDialog*>()) shown += d->isVisible() ? 1 : 0;
        return QString::number(shown);
    };
    const auto colours = [] { return QApplication::palette().window().color().name(); };
    Knobs& knobs = document().knobs();
    const auto context = [&knobs] { return knobs.value("context"); };
    const auto turned = [&knobs, opened] {
        opened();
        knobs.turn("context", knobs.value("context") == "1Ki" ? "512" : "1Ki");
    };
    Uses uses;
    uses["Open…"] = {title, [=] {
                         opened();
                         answer_file_dialog(QString::fromStdString(other));
                     }};
    uses["Close"] = {title, opened};
    uses["Save plan as…"] = {there(fresh("p.json")), without(fresh("p.json"))};
    uses["Save timeline as…"] = {there(fresh("s.trace.json.gz")), without(fresh("s.trace.json.gz"))};
    uses["Export this view…"] = {there(fresh("v.png")), without(fresh("v.png"))};
    uses["Quit"] = {[this] { return QString::number(window.isVisible()); },
                    [this] {
                        window.show();
                        window.activateWindow();
                        ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
                    }};
    uses["Forget these"] = {[] { return QString::number(recent_files().size()); },
                            [this] {
                                window.open(shipped("tiny-cpu"));
                                ASSERT_TRUE(becomes([&] { return settled() && !recent_files().empty(); }));
                            }};
    for (const char* name : {"Undo", "Redo"}) uses[name] = {context, turned};
    uses["Redo"].before = [&knobs, turned] {
        turned();
        knobs.history().undo();
    };
    uses["All knobs as in the file"] = {context, turned};
    for (const View* view : window.views()) {
        const bool first = view == window.views().front();
        uses[view->title()] = {tab, [=, this] {
                                   opened();
                                   window.show_view(first ? "memory" : "verdict");
                               }};
    }
    uses["Back"] = {range(), [=, this] {
                        opened();
                        focus().show_all();
                        focus().set_range({1000, 9000});
                    }};
    uses["Forward"] = {range(), [=, this] {
                           opened();
                           focus().show_all();
                           focus().set_range({1000, 9000});
                           focus().go_back();
                       }};
    uses["The whole step"] = {range(), [=, this] {
                                  opened();
                                  focus().set_range({1000, 9000});
                              }};
    uses["Look at the other step"] = {[this] { return QString::number(static_cast<int>(document().side())); },
                                      [=, this] {
                                          opened();
                                          if (!document().measured()) measure();
                                      }};
    uses["Light"] = {colours, [this] { window.set_theme(Theme::dark); }};
    uses["Dark"] = uses["As the desktop"] = {colours, [this] { window.set_theme(Theme::light); }};
    uses["As the desktop"].before = [this] {
        window.set_theme(is_dark(Theme::system) ? Theme::light : Theme::dark);
    };
    uses["Full screen"] = {[this] { return QString::number(window.isFullScreen()); }};
    uses["Keys"] = {dialogs, [this] {
                        for (QDialog* d : window.findChildren<QDialog*>()) d->close();
                    }};
    bool told = false;
    uses["About Headroom"] = {[&told] { return QString::number(told); },
                              [&told] {
                                  told = false;
                                  auto* timer = new QTimer(qApp);
                                  QObject::connect(timer, &QTimer::timeout, qApp, [timer, &told] {
                                      auto* box =
                                          qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
                                      if (box == nullptr) return;
                                      timer->deleteLater();
                                      timer->stop();
                                      told = box->text().contains("Headroom");
                                      QTest::keyClick(box, Qt::Key_Escape);
                                  });
                                  timer->start(10);
                              }};

    QMenuBar& bar = *window.menuBar();
    std::set<QString> met;
    const std::function<void(QMenu&, QList<QAction*>)> walk = [&](QMenu& menu, const QList<QAction*>& path) {
        // By their place from the end: entries of recent files are made anew whenever a file is opened.
        std::vector<std::pair<QString, qsizetype>> entries;
        for (QAction* action : menu.actions()) {
            if (action->menu() != nullptr) walk(*action->menu(), path + QList<QAction*>{action});
            if (action->isSeparator() || action->menu() != nullptr) continue;
            if (QFileInfo::exists(action->statusTip())) continue;  // a recent file
            entries.emplace_back(QString(action->text()).remove('&'),
                                 menu.actions().size() - menu.actions().indexOf(action));
        }
        for (const auto& [name, from_end] : entries) {
            const Use* use = uses.contains(name) ? &uses.at(name) : nullptr;
            ASSERT_NE(use, nullptr) << "no case for the menu entry " << name.toStdString();
            met.insert(name);
            for (const bool by_mouse : {true, false}) {
                // The box just shown was modal: without a window manager its parent gets no letters again.
                if (!by_mouse && name == "About Headroom") continue;
                SCOPED_TRACE(name.toStdString() + (by_mouse ? ", by mouse" : ", by keyboard"));
                if (use->before) use->before();
                // A dialog was closed, or the window, or a view that had the focus is hidden.
                if (!window.isActiveWindow() || window.focusWidget() == nullptr || !by_mouse) {
                    window.show();
                    window.activateWindow();
                    window.findChild<QTabWidget*>()->tabBar()->setFocus();
                    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
                }
                const QString before = use->state();
                // Down to the entry.
                for (qsizetype i = 0; i < path.size(); ++i) {
                    if (by_mouse && i == 0) {
                        QTest::mouseClick(&bar, Qt::LeftButton, {}, bar.actionGeometry(path[i]).center());
                    } else if (by_mouse) {
                        QMenu* in = path[i - 1]->menu();
                        QTest::mouseClick(in, Qt::LeftButton, {}, in->actionGeometry(path[i]).center());
                    } else {
                        const QChar letter = path[i]->text()[path[i]->text().indexOf('&') + 1].toLower();
                        QTest::keyClick(i == 0 ? window.windowHandle() : path[i - 1]->menu()->windowHandle(),
                                        letter.toLatin1(), i == 0 ? Qt::AltModifier : Qt::NoModifier);
                    }
                    ASSERT_TRUE(becomes([&] { return path[i]->menu()->isVisible(); }, 2'000))
                        << path[i]->text().toStdString();
                }
                QMenu* in = path.back()->menu();
                QAction* action = in->actions()[in->actions().size() - from_end];
                if (by_mouse) {
                    QTest::mouseClick(in, Qt::LeftButton, {}, in->actionGeometry(action).center());
                } else {
                    const QList<QAction*> all = in->actions();
                    // The arrow keys pass over what is off.
                    for (int i = 0; i < all.size() && in->activeAction() != action; ++i)
                        QTest::keyClick(window.windowHandle(), Qt::Key_Down);
                    ASSERT_EQ(in->activeAction(), action);
                    QTest::keyClick(window.windowHandle(), Qt::Key_Return);
                }
                EXPECT_TRUE(becomes([&] { return use->state() != before; }, 5'000))
                    << "nothing changed: " << before.toStdString();
            }
        }
    };
    for (QAction* top : bar.actions()) walk(*top->menu(), {top});
    for (const auto& [name, use] : uses)
        EXPECT_TRUE(met.contains(name)) << "a case without an entry: " << name.toStdString();
    window.set_theme(saved_theme());
}

TEST_F(Controls, TheDialogOfKeys) {
    const auto shown = [this] {
        window.show_keys();
        QDialog* dialog = window.findChild<QDialog*>();
        dialog->setAttribute(Qt::WA_DeleteOnClose, false);
        dialog->resize(400, 300);
        EXPECT_TRUE(QTest::qWaitForWindowActive(dialog));
        return dialog;
    };
    QDialog* dialog = shown();
    Walk walk(*dialog);
    Uses uses;
    uses["Keys"] = {scrolled(*dialog, "Keys")};
    uses["Close"] = {[dialog] { return QString::number(dialog->isVisible()); },
                     [dialog] {
                         dialog->open();
                         ASSERT_TRUE(QTest::qWaitForWindowActive(dialog));
                     }};
    walk.use_all(uses);
    walk.end();
}

}  // namespace
}  // namespace headroom::gui::test
