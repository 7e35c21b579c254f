#include "gui/model/answer_tables.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QStringList>

#include "gui/model/open_file.h"

namespace headroom::gui::test {
namespace {

std::shared_ptr<const Scenario> scenario(const char* name, const std::vector<std::string>& set = {}) {
    Result<Opened> read = open_file(std::string(HEADROOM_SOURCE_DIR) + "/scenarios/" + name + ".toml", set);
    EXPECT_TRUE(read) << read.error().text();
    return read->scenario;
}

const Answer& exact_64k() {
    static const Answer a = *answer(*scenario("qwen2.5-7b-64k-exact-h200"));
    return a;
}

TEST(Shares, AreTheNeedLargestFirst) {
    for (const TierNeed& need : exact_64k().evaluation.tiers) {
        int64_t sum = 0, before = INT64_MAX;
        for (const Share& s : shares_of(need)) {
            EXPECT_LE(s.bytes, before);
            before = s.bytes;
            sum += s.bytes;
        }
        EXPECT_EQ(sum, need.need_bytes);
    }
}

TEST(TierTable, SumsAndHeadroom) {
    const TableData t = tier_table(exact_64k().evaluation.tiers);
    const TierNeed& device = exact_64k().evaluation.tiers[0];
    ASSERT_GE(t.rows.size(), 4U);
    EXPECT_EQ(t.rows[0][1].text, "needs");
    EXPECT_EQ(t.rows[0][2].sort.toDouble(), static_cast<double>(device.need_bytes));
    EXPECT_EQ(t.rows[1][2].sort.toDouble(), static_cast<double>(device.budget_bytes));
    EXPECT_EQ(t.rows[2][2].sort.toDouble(), static_cast<double>(device.headroom()));
}

TEST(FigureTable, BeginsWithTheStep) {
    const TableData t = figure_table(exact_64k());
    EXPECT_EQ(t.rows[0][0].text, "step");
    EXPECT_DOUBLE_EQ(t.rows[0][1].sort.toDouble(),
                     static_cast<double>(exact_64k().evaluation.step_ns) * 1e-9);
    EXPECT_DOUBLE_EQ(t.rows[1][1].sort.toDouble(), exact_64k().tokens_per_second);
    double passes = 0;
    for (const auto& row : t.rows) {
        if (row[0].text.endsWith(" pass") || row[0].text == "update") passes += row[2].sort.toDouble();
    }
    EXPECT_NEAR(passes, 1, 0.01);
}

TEST(GainTable, SaysNothingWhereNothingIsGained) {
    Answer a = exact_64k();
    const int64_t step = a.evaluation.step_ns;
    a.gains = {{"half", step / 2, true, "kv_dtype a -> b"},
               {"hardly", step - 1, true, "x"},
               {"never", 0, false, ""}};
    const TableData t = gain_table(a);
    EXPECT_NEAR(t.rows[0][1].sort.toDouble(), static_cast<double>(step) * 0.5e-9, 1e-9);
    EXPECT_TRUE(t.rows[0][1].text.contains("50.0 %")) << t.rows[0][1].text.toStdString();
    EXPECT_EQ(t.rows[0][2].text, "kv dtype a -> b");
    EXPECT_EQ(t.rows[1][1].text, "nothing");
    EXPECT_EQ(t.rows[1][2].text, "");
    EXPECT_EQ(t.rows[2][1].text, "nothing");
}

TEST(RemedyTable, IsARowForEachRemedy) {
    Answer a = exact_64k();
    a.remedies = {{"context 1Mi -> 832Ki", "context=851968", 2'000'000'000, true}};
    const TableData t = remedy_table(a);
    ASSERT_EQ(t.rows.size(), 1U);
    EXPECT_EQ(t.rows[0][0].text, "context 1Mi -> 832Ki");
    EXPECT_EQ(t.rows[0][0].tip, "--set 'context=851968'");
    EXPECT_EQ(t.rows[0][1].sort.toDouble(), 2.0);
    EXPECT_TRUE(t.rows[0][2].sort.toBool());
}

TEST(DecisionTable, SaysWhoDecided) {
    const auto asked = scenario("qwen2.5-7b-64k-exact-h200", {"plan.prefetch=2", "plan.staging_slots=3"});
    QStringList by;
    for (const auto& row : decision_table(asked->plan, asked.get()).rows)
        by << row[0].tip + " " + row[2].text;
    EXPECT_TRUE(by.contains("plan.prefetch the scenario"));
    EXPECT_TRUE(by.contains("plan.page_copy the planner"));
    EXPECT_TRUE(by.contains("plan.kv_dtype the default"));
    EXPECT_TRUE(by.contains("plan.chunk the planner"));  // dense: a chunk changes no result
    for (const auto& row : decision_table(asked->plan, nullptr).rows) EXPECT_EQ(row[2].text, "the plan");
}

TEST(TableModel, KeepsTheContractOfModels) {
    TableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
    model.set(figure_table(exact_64k()));
    EXPECT_EQ(model.rowCount(), static_cast<int>(model.table().rows.size()));
    EXPECT_EQ(model.columnCount(), 3);
    EXPECT_EQ(model.headerData(0, Qt::Horizontal).toString(), "Figure");
    EXPECT_EQ(model.data(model.index(0, 0)).toString(), "step");
    EXPECT_EQ(model.data(model.index(0, 1), TableModel::kSortRole), model.table().rows[0][1].sort);
    EXPECT_FALSE(model.data(QModelIndex()).isValid());
    model.set({});
    EXPECT_EQ(model.rowCount(), 0);
}

TEST(Csv, QuotesAndGivesFiguresWithoutUnits) {
    TableData t;
    t.header = {"What", "Bytes"};
    t.csv_header = {"what", "bytes"};
    EXPECT_EQ(csv_of(t), "");
    t.rows = {{Cell{"a, \"b\"", {}}, number_cell("1 KiB", 1024)}, {Cell{"c", {}}, number_cell("0.1", 0.1)}};
    EXPECT_EQ(csv_of(t), "what,bytes\n\"a, \"\"b\"\"\",1024\nc,0.10000000000000001\n");
}

}  // namespace
}  // namespace headroom::gui::test
