#include "gui/model/sweep.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include "cli/report.h"
#include "gui/model/open_file.h"
#include "gui/model/sweep_table.h"

namespace headroom::gui::test {
namespace {

SweepPoint point(const char* strategy, int64_t context, bool fits, int64_t host_excess = 0) {
    SweepPoint p;
    p.strategy = strategy;
    p.context = Tokens(context);
    p.runs = true;
    p.fits = fits;
    p.step_ns = context * 1000;
    p.budget_bytes = {100 * kGiB, 50 * kGiB, 0};
    p.need_bytes = {90 * kGiB, 50 * kGiB + host_excess, 0};
    p.tokens_per_second = 1'234'567.4;
    p.mfu = 0.5;
    return p;
}

TEST(Doubling, EndsWithTheLast) {
    const auto counts = [](int64_t from, int64_t to) {
        std::vector<int64_t> all;
        for (const Tokens t : doubling(Tokens(from), Tokens(to))) all.push_back(t.count());
        return all;
    };
    EXPECT_EQ(counts(1024, 8192), (std::vector<int64_t>{1024, 2048, 4096, 8192}));
    EXPECT_EQ(counts(1000, 5000), (std::vector<int64_t>{1000, 2000, 4000, 5000}));
    EXPECT_EQ(counts(7, 7), (std::vector<int64_t>{7}));
}

TEST(SweepLimits, StandBetweenTheLastThatFitsAndTheNextThatDoesNot) {
    SweepPoint cannot;
    cannot.strategy = "ring";
    cannot.why_not = "a.toml: no strategy can run this: ring: one GPU; chunked: other";
    const std::vector<SweepPoint> points{point("chunked", 65536, true),
                                         point("chunked", 262144, false, 7),
                                         point("chunked", 131072, true),
                                         point("chunked", 524288, false, 9),
                                         point("layer-major", 65536, false, 3),
                                         point("whole", 65536, true),
                                         cannot};
    const std::vector<SweepLimit> limits = sweep_limits(points);
    ASSERT_EQ(limits.size(), 4U);
    EXPECT_EQ(limits[0].strategy, "chunked");
    EXPECT_EQ(limits[0].fits_to, Tokens(131072));
    EXPECT_EQ(limits[0].stops_at, Tokens(262144));
    EXPECT_EQ(limits[0].tier, Tier::host);
    EXPECT_EQ(limits[1].fits_to, std::nullopt);
    EXPECT_EQ(limits[1].stops_at, Tokens(65536));
    EXPECT_EQ(limits[2].stops_at, std::nullopt);
    EXPECT_TRUE(limits[2].runs);
    EXPECT_FALSE(limits[3].runs);
    EXPECT_EQ(limits[3].why_not, "ring: one GPU");
}

TEST(SweepLimits, AReasonIsToldWithoutFiles) {
    EXPECT_EQ(short_reason("/a/b.toml: no strategy can run this on one GPU"),
              "no strategy can run this on one GPU");
    EXPECT_EQ(short_reason("too large"), "too large");
}

TEST(SweepLimits, AreHalvedUntilTheyAreNear) {
    SweepLimit limit;
    limit.fits_to = Tokens(131072);
    EXPECT_EQ(halving(limit), std::nullopt);
    limit.stops_at = Tokens(262144);
    EXPECT_EQ(halving(limit), Tokens(196608));
    limit.stops_at = Tokens(131072 + 8192);
    EXPECT_EQ(halving(limit), std::nullopt);
    limit.stops_at = Tokens(131072 + 9 * 1024);
    EXPECT_EQ(halving(limit), Tokens(131072 + 4 * 1024));
    limit.fits_to = Tokens(100);
    limit.stops_at = Tokens(200);  // nothing round lies between
    EXPECT_EQ(halving(limit), std::nullopt);
}

TEST(SweepTable, IsSortedAndReplacesWhatIsThere) {
    SweepTable table;
    const QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Warning);
    table.insert(point("layer-major", 65536, true));
    table.insert(point("chunked", 131072, false, kGiB));
    table.insert(point("chunked", 65536, true));
    ASSERT_EQ(table.rowCount(), 3);
    const auto text = [&](int row, int column) { return table.index(row, column).data().toString(); };
    EXPECT_EQ(text(0, SweepTable::context), "64Ki");
    EXPECT_EQ(text(1, SweepTable::context), "128Ki");
    EXPECT_EQ(text(1, SweepTable::host), "51.00");
    EXPECT_EQ(text(1, SweepTable::verdict), "does not fit");
    EXPECT_EQ(text(2, SweepTable::strategy), "layer-major");
    EXPECT_EQ(text(2, SweepTable::speed), "1,234,567");
    EXPECT_EQ(text(2, SweepTable::mfu), "50.0 %");
    EXPECT_EQ(text(2, SweepTable::step), "65.5 ms");
    EXPECT_EQ(table.row_of("chunked", Tokens(131072)), 1);
    EXPECT_EQ(table.row_of("chunked", Tokens(1)), -1);
    table.insert(point("chunked", 131072, true));
    EXPECT_EQ(table.rowCount(), 3);
    EXPECT_EQ(text(1, SweepTable::verdict), "fits");
    SweepPoint cannot;
    cannot.strategy = "ring";
    cannot.context = Tokens(65536);
    cannot.why_not = "no strategy can run this: ring: one GPU; more";
    table.insert(cannot);
    EXPECT_EQ(text(3, SweepTable::verdict), "cannot run");
    EXPECT_EQ(text(3, SweepTable::device), "");
    EXPECT_EQ(table.index(3, 0).data(Qt::ToolTipRole).toString(), "ring: one GPU");
    for (int c = 0; c < table.columnCount(); ++c) {
        EXPECT_FALSE(table.headerData(c, Qt::Horizontal).toString().isEmpty());
        EXPECT_FALSE(table.headerData(c, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
    }
    EXPECT_EQ(table.headerData(SweepTable::verdict, Qt::Horizontal).toString(), "Verdict");
    EXPECT_EQ(table.headerData(SweepTable::device, Qt::Horizontal).toString(), "Device GiB");
    EXPECT_EQ(table.headerData(SweepTable::chunk, Qt::Horizontal).toString(), "Chunk");
    table.clear();
    EXPECT_EQ(table.rowCount(), 0);
}

class SweepRunTest : public testing::Test {
protected:
    void SetUp() override {
        const std::string file = std::string(HEADROOM_SOURCE_DIR) + "/scenarios/qwen2.5-7b-1m-h200.toml";
        Result<Opened> opened =
            open_file(file, {"budget.host=1GiB", "budget.disk=0", "budget.device=104GiB", "plan.chunk=4Ki"});
        ASSERT_TRUE(opened) << opened.error().text();
        scenario = opened->scenario;
        QObject::connect(&run, &SweepRun::found, [this](const SweepPoint& p) { points.push_back(p); });
    }
    std::shared_ptr<const Scenario> scenario;
    SweepRun run;
    std::vector<SweepPoint> points;
};

TEST_F(SweepRunTest, GivesThePointsOfTheLibraryAndNarrowsDownTheLimit) {
    const std::vector<Tokens> contexts{Tokens(8192), Tokens(65536)};
    QSignalSpy finished(&run, &SweepRun::finished);
    run.start(scenario, contexts, {"chunked", "ring"});
    EXPECT_TRUE(run.busy());
    ASSERT_TRUE(QTest::qWaitFor([&] { return finished.count() == 1; }, 120'000));
    EXPECT_FALSE(run.busy());
    const Result<std::vector<SweepPoint>> expected = sweep(*scenario, contexts, {"chunked", "ring"});
    ASSERT_TRUE(expected);
    SweepTable table;
    for (const SweepPoint& p : points) table.insert(p);
    for (const SweepPoint& p : *expected) {
        const int row = table.row_of(p.strategy, p.context);
        ASSERT_GE(row, 0) << p.strategy;
        const SweepPoint& found = table.points()[static_cast<size_t>(row)];
        EXPECT_EQ(cli::sweep_csv({found}), cli::sweep_csv({p}));
        EXPECT_EQ(found.plan, p.plan);
    }
    // Those that were asked for come first, context by context, however many threads work.
    ASSERT_GE(points.size(), 4U);
    const std::pair<const char*, int64_t> order[] = {
        {"chunked", 8192}, {"ring", 8192}, {"chunked", 65536}, {"ring", 65536}};
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(points[i].strategy, order[i].first) << i;
        EXPECT_EQ(points[i].context, Tokens(order[i].second)) << i;
    }
    // Points that nobody asked for lie between the last that fits and the first that does not.
    const std::vector<SweepLimit> limits = sweep_limits(points);
    ASSERT_TRUE(limits[0].fits_to && limits[0].stops_at);
    EXPECT_GT(points.size(), expected->size());
    EXPECT_EQ(halving(limits[0]), std::nullopt);
    EXPECT_FALSE(limits[1].runs);
}

TEST_F(SweepRunTest, StopsWhenCancelledAndBeginsAnew) {
    QSignalSpy finished(&run, &SweepRun::finished);
    run.start(scenario, doubling(Tokens(8192), Tokens(1 << 20)), {"chunked"});
    ASSERT_TRUE(QTest::qWaitFor([&] { return !points.empty(); }, 60'000));
    run.cancel();
    EXPECT_FALSE(run.busy());
    EXPECT_EQ(finished.count(), 1);
    const size_t count = points.size();
    QTest::qWait(300);
    EXPECT_EQ(points.size(), count);
    points.clear();
    run.start(scenario, {Tokens(8192)}, {"chunked"});
    ASSERT_TRUE(QTest::qWaitFor([&] { return finished.count() == 2; }, 60'000));
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].context, Tokens(8192));
}

TEST_F(SweepRunTest, AnUnknownStrategyIsAnError) {
    std::string said;
    QObject::connect(&run, &SweepRun::failed, [&](const Error& e) { said = e.text(); });
    QSignalSpy finished(&run, &SweepRun::finished);
    run.start(scenario, {Tokens(8192)}, {"chunkd"});
    ASSERT_TRUE(QTest::qWaitFor([&] { return finished.count() == 1; }, 60'000));
    EXPECT_NE(said.find("did you mean 'chunked'"), said.npos) << said;
}

// A point of minutes does not keep a cancelled sweep: what asks to stop is heard while candidates are scored,
// sampled and simulated.
TEST(Sweep, StopsWithinAPoint) {
    const Result<Scenario> scenario = read_scenario(
        std::string(HEADROOM_SOURCE_DIR) + "/scenarios/qwen2.5-7b-64k-exact-h200.toml", HEADROOM_SOURCE_DIR);
    ASSERT_TRUE(scenario);
    int64_t asked = 0, stop_at = INT64_MAX;
    const Progress progress = [&](const std::string&, double) { return ++asked < stop_at; };
    const auto point = [&] {
        asked = 0;
        return sweep(*scenario, {Tokens(65536)}, {"chunked"}, progress);
    };
    ASSERT_TRUE(point());
    // Two threads share the samples and one of them asks: how often differs a little from run to run.
    const int64_t all = asked;
    ASSERT_GT(all, 500);
    for (int64_t eighth = 0; eighth < 8; ++eighth) {
        stop_at = 1 + all * eighth / 8;
        const auto stopped = point();
        ASSERT_FALSE(stopped) << stop_at;
        EXPECT_EQ(stopped.error().fault, Fault::interrupted);
        EXPECT_EQ(asked, stop_at) << "it went on";
    }
}

}  // namespace
}  // namespace headroom::gui::test
