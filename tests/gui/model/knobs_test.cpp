#include "gui/model/knobs.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <set>

#include "gui/model/open_file.h"

namespace headroom::gui::test {
namespace {

TEST(Knobs, UndoAndRedo) {
    Knobs k;
    QSignalSpy changed(&k, &Knobs::changed);
    k.turn("plan.chunk", "8Ki");
    k.turn("context", "2Mi");
    EXPECT_EQ(k.overrides(), (std::vector<std::string>{"context=2Mi", "plan.chunk=8Ki"}));
    k.history().undo();
    EXPECT_EQ(k.overrides(), (std::vector<std::string>{"plan.chunk=8Ki"}));
    k.history().redo();
    EXPECT_EQ(k.value("context"), "2Mi");
    k.turn("context", "");
    EXPECT_FALSE(k.turned("context"));
    EXPECT_EQ(changed.count(), 5);
}

TEST(Knobs, TurnsOfASliderAreOneEntry) {
    Knobs k;
    k.turn("context", "1Mi", true);
    k.turn("context", "2Mi", true);
    k.turn("context", "3Mi", true);
    k.turn("budget.host", "1GiB", true);
    k.history().undo();
    EXPECT_EQ(k.value("context"), "3Mi");
    k.history().undo();
    EXPECT_EQ(k.value("context"), "");
}

TEST(Knobs, TheSameValueIsNoEntry) {
    Knobs k;
    k.turn("context", "");
    EXPECT_EQ(k.history().count(), 0);
    k.turn("context", "1Mi");
    k.turn("context", "1Mi");
    EXPECT_EQ(k.history().count(), 1);
}

TEST(Knobs, ContextPlacesGoUpInEvenSteps) {
    EXPECT_EQ(context_of_place(0), 4096);
    EXPECT_EQ(context_of_place(8), 8192);
    EXPECT_EQ(context_of_place(kContextPlaces - 1), int64_t{16} << 20);
    for (int place = 0; place < kContextPlaces; ++place) {
        EXPECT_EQ(nearest_context_place(context_of_place(place)), place);
        EXPECT_EQ(context_of_place(place) % 128, 0);
    }
    EXPECT_EQ(nearest_context_place(1), 0);
    EXPECT_EQ(nearest_context_place(int64_t{1} << 40), kContextPlaces - 1);
}

TEST(Knobs, TokensAreWrittenExactly) {
    for (const auto& [tokens, text] : {std::pair<int64_t, const char*>{1 << 20, "1Mi"},
                                       {1536 * 1024, "1536Ki"},
                                       {1000, "1000"},
                                       {0, "0"},
                                       {4097, "4097"}}) {
        EXPECT_EQ(tokens_setting(tokens), text);
    }
}

TEST(Knobs, EachStandsAtAValueInAPlan) {
    const Result<Opened> read =
        open_file(std::string(HEADROOM_SOURCE_DIR) + "/scenarios/qwen2.5-7b-1m-h200.toml");
    ASSERT_TRUE(read);
    for (const Knob& knob : all_knobs(shipped_hardware()))
        EXPECT_FALSE(value_in(knob, read->scenario->plan).isEmpty()) << knob.key.toStdString();
}

// Each value that a knob offers is one that scenarios take (alone; together some contradict each other).
TEST(Knobs, EveryValueIsAllowedInAScenario) {
    const QStringList hardware = shipped_hardware();
    EXPECT_GE(hardware.size(), 7);
    const std::string file = std::string(HEADROOM_SOURCE_DIR) + "/scenarios/qwen2.5-7b-1m-h200.toml";
    std::set<QString> keys;
    for (const Knob& knob : all_knobs(hardware)) {
        EXPECT_TRUE(keys.insert(knob.key).second) << knob.key.toStdString();
        EXPECT_FALSE(knob.values.isEmpty()) << knob.key.toStdString();
        QStringList values = knob.values;
        if (knob.planner_decides) values << "auto";
        for (const QString& value : values) {
            std::vector<std::string> set{(knob.key + "=" + value).toStdString()};
            if (knob.key == "budget.device") set.push_back("hardware=b200-sxm");  // has room for all of them
            if (knob.key == "gpus") set.push_back("plan.strategy=auto");
            // Decisions beside it that the value contradicts are given back.
            if (knob.key == "plan.page" || knob.key == "plan.chunk" || knob.key == "plan.strategy" ||
                knob.key == "plan.attention.block")
                set.push_back("plan.attention.block=" +
                              (knob.key == "plan.attention.block" ? value.toStdString() : "128"));
            if (value == "ranks" || value == "ring" || value == "tensor-parallel") set.push_back("gpus=4");
            const Result<Opened> read = open_file(file, set);
            EXPECT_TRUE(read) << knob.key.toStdString() << "=" << value.toStdString() << ": "
                              << (read ? "" : read.error().text());
        }
    }
}

}  // namespace
}  // namespace headroom::gui::test
