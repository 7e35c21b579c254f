#include "gui/model/run_steps_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

namespace headroom::gui::test {
namespace {

TEST(RunStepsModel, RowsComeOneByOne) {
    RunStepsModel m;
    const QAbstractItemModelTester tester(&m, QAbstractItemModelTester::FailureReportingMode::Warning);
    EXPECT_EQ(m.csv(), "");
    RunEvent e = parse_run_event(
        R"({"event":"step","step":1233,"loss":8.25,"gradient_norm":1.5,"learning_rate":0.5,"seconds":1.25,)"
        R"("tokens_per_second":12345.5,"mfu":0.25,"device_used_bytes":2147483648})");
    m.add(e);
    e = parse_run_event(R"({"event":"step","step":1234,"loss":null,"gradient_norm":1,"seconds":1})");
    m.add(e);
    ASSERT_EQ(m.rowCount(), 2);
    const auto text = [&](int row, int column) { return m.index(row, column).data().toString(); };
    QStringList first, second;
    for (int c = 0; c < m.columnCount(); ++c) {
        first << text(0, c);
        second << text(1, c);
        EXPECT_FALSE(m.headerData(c, Qt::Horizontal).toString().isEmpty());
        EXPECT_FALSE(m.headerData(c, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
    }
    EXPECT_EQ(first, (QStringList{"1,234", "8.25", "1.5", "1.25 s", "12,345", "25.0 %", "2 GiB"}));
    EXPECT_EQ(second, (QStringList{"1,235", "not a number", "1", "1.00 s", "0", "-", "-"}));
    EXPECT_EQ(m.csv(),
              "step,loss,gradient_norm,learning_rate,step_seconds,tokens_per_second,mfu,device_used_bytes\n"
              "1234,8.25,1.5,0.5,1.25,12345.5,0.25,2147483648\n"
              "1235,,1,0,1,0,,\n");
    m.clear();
    EXPECT_EQ(m.rowCount(), 0);
}

}  // namespace
}  // namespace headroom::gui::test
