#include "gui/view/verdict_view.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSlider>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include "gui/model/answer_tables.h"
#include "gui/view/tier_bar_widget.h"

namespace headroom::gui::test {
namespace {

constexpr int kPatience_ms = 60'000;

struct VerdictViewTest : ::testing::Test {
    Document document;
    Focus focus;
    VerdictView view{document, focus};

    void open(const char* name) {
        view.resize(1400, 900);
        view.show();
        document.open(std::string(HEADROOM_SOURCE_DIR) + "/scenarios/" + name + ".toml");
        ASSERT_TRUE(QTest::qWaitFor([&] { return document.answer_final(); }, kPatience_ms));
    }
    bool answered(int64_t context) {
        return QTest::qWaitFor(
            [&] { return document.answer_final() && document.answer()->plan.context.count() == context; },
            kPatience_ms);
    }
    QString headline() const { return view.findChild<QLabel*>("headline")->text(); }
    template <class W>
    W* child(const char* name) {
        W* w = view.findChild<W*>(name);
        EXPECT_NE(w, nullptr) << name;
        return w;
    }
};

TEST_F(VerdictViewTest, NothingIsOpen) {
    view.show();
    EXPECT_FALSE(view.has_content());
    EXPECT_TRUE(view.csv().isEmpty());
    for (const QComboBox* field : view.findChildren<QComboBox*>()) EXPECT_FALSE(field->isEnabled());
}

TEST_F(VerdictViewTest, ShowsWhatTheAnswerSays) {
    open("qwen2.5-7b-64k-exact-h200");
    EXPECT_EQ(headline(), "Fits");
    EXPECT_TRUE(child<QLabel>("what")->text().contains("65,536"));
    EXPECT_EQ(view.csv(), csv_of(tier_table(document.answer()->evaluation.tiers)));
    int tiers = 0;
    for (const TierBarWidget* bar : view.findChildren<TierBarWidget*>()) tiers += bar->isVisible() ? 1 : 0;
    int used = 0;
    for (const TierNeed& need : document.answer()->evaluation.tiers) used += need.need_bytes > 0 ? 1 : 0;
    EXPECT_EQ(tiers, used);
    const auto* gains = child<QTableView>("What more would buy");
    EXPECT_EQ(gains->model()->rowCount(), static_cast<int>(document.answer()->gains.size()));
    EXPECT_TRUE(gains->isVisible());
    EXPECT_FALSE(child<QTableView>("What would make it fit")->isVisible());
}

TEST_F(VerdictViewTest, ASliderMovedByKeysTurnsTheContext) {
    open("qwen2.5-7b-64k-exact-h200");
    auto* slider = child<QSlider>("context_slider");
    EXPECT_EQ(context_of_place(slider->value()), 65536);
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_PageDown);
    EXPECT_EQ(document.knobs().value("context"), "32Ki");
    ASSERT_TRUE(answered(32768));
    document.knobs().history().undo();
    ASSERT_TRUE(answered(65536));
    EXPECT_EQ(context_of_place(slider->value()), 65536);
}

TEST_F(VerdictViewTest, AFieldTypedIntoAndReset) {
    open("qwen2.5-7b-64k-exact-h200");
    auto* field = child<QComboBox>("context");
    field->lineEdit()->selectAll();
    QTest::keyClicks(field->lineEdit(), "16Ki");
    QTest::keyClick(field->lineEdit(), Qt::Key_Return);
    EXPECT_EQ(document.knobs().value("context"), "16Ki");
    ASSERT_TRUE(answered(16384));
    auto* reset = child<QToolButton>("reset context");
    EXPECT_TRUE(reset->isEnabled());
    QTest::mouseClick(reset, Qt::LeftButton);
    ASSERT_TRUE(answered(65536));
    EXPECT_FALSE(reset->isEnabled());
}

TEST_F(VerdictViewTest, ArrowKeysWalkThroughAChoice) {
    open("qwen2.5-7b-64k-exact-h200");
    auto* field = child<QComboBox>("training.optimizer");
    field->setFocus();
    for (const char* value : {"adamw", "adamw8bit", "sgd"}) {
        QTest::keyClick(field, Qt::Key_Down);
        EXPECT_EQ(document.knobs().value("training.optimizer"), value);
    }
    ASSERT_TRUE(QTest::qWaitFor([&] { return document.answer_final(); }, kPatience_ms));
    EXPECT_EQ(document.answer()->plan.recipe.optimizer, Optimizer::sgd);
}

TEST_F(VerdictViewTest, ARemedyIsAppliedByItsButton) {
    open("qwen2.5-7b-128k-whole-h200");
    ASSERT_EQ(headline(), "Does not fit");
    auto* list = child<QTableView>("What would make it fit");
    ASSERT_TRUE(list->isVisible());
    ASSERT_GT(list->model()->rowCount(), 0);
    auto* apply = view.findChild<QPushButton*>();
    ASSERT_NE(apply, nullptr);
    list->selectRow(0);
    QTest::mouseClick(apply, Qt::LeftButton);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return document.answer_final() && document.answer()->fits(); }, kPatience_ms));
    EXPECT_EQ(headline(), "Fits");
    EXPECT_EQ(document.knobs().values().size(), 1U);
}

TEST_F(VerdictViewTest, DarkAndLight) {
    open("qwen2.5-7b-64k-exact-h200");
    const QImage light = view.grab().toImage();
    view.set_palette(Palette::dark_one());
    EXPECT_NE(view.grab().toImage(), light);
}

}  // namespace
}  // namespace headroom::gui::test
