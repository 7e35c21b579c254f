#include "gui/model/memory_instant.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;

StepPtr a_step() {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 100, {}, 3, 1);
    maker.add(Stream::to_host, OpKind::store_pages, 100, 200);
    return maker.step();
}
MemoryInstant an_instant() {
    MemoryInstant instant;
    instant.ns = 50;
    instant.tiers = {{Tier::device, 10 * kGi, {{Category::weights, 4 * kGi}, {Category::kv, 2 * kGi}}},
                     {Tier::host, 2 * kGi, {{Category::kv, 3 * kGi}}},
                     {Tier::disk, 0, {{Category::kv, kGi}}}};
    instant.running.fill(kNone);
    instant.running[0] = 0;
    return instant;
}

TEST(MemoryInstantModel, TellsEverythingAboutTheInstant) {
    MemoryInstantModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.set(a_step(), an_instant());
    QStringList rows;
    for (int r = 0; r < model.rowCount(); ++r) {
        QStringList cells;
        for (int c = 0; c < model.columnCount(); ++c) cells << model.index(r, c).data().toString();
        rows << cells.join("|");
    }
    EXPECT_EQ(rows, (QStringList{"device|6 GiB|60.0 %", "headroom of 10 GiB|4 GiB|40.0 %", "kv|2 GiB|33.3 %",
                                 "weights|4 GiB|66.7 %", "host|3 GiB|150.0 %", "more than 2 GiB|1 GiB|50.0 %",
                                 "kv|3 GiB|100.0 %", "disk|1 GiB|", "kv|1 GiB|100.0 %", "running||",
                                 "compute: qkv (chunk 3, layer 1)||", "to host: idle||"}))
        << rows.join("\n").toStdString();
    EXPECT_TRUE(model.is_wide(10));
    EXPECT_FALSE(model.is_wide(1));
}

TEST(MemoryInstantModel, AnotherInstantKeepsTheRows) {
    MemoryInstantModel model;
    model.set(a_step(), an_instant());
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset),
        changes(&model, &QAbstractItemModel::dataChanged);
    MemoryInstant later = an_instant();
    later.tiers[0].categories[1].second = kGi;
    later.running[0] = kNone;
    model.set(a_step(), later);
    EXPECT_EQ(resets.count(), 0);
    EXPECT_EQ(changes.count(), 1);
    EXPECT_EQ(model.index(0, 1).data().toString(), "5 GiB");
    EXPECT_EQ(model.index(10, 0).data().toString(), "compute: idle");
    model.set(nullptr, {});
    EXPECT_EQ(resets.count(), 1);
    EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace headroom::gui::test
