#include "gui/app/main_window.h"

#include <gtest/gtest.h>

#include <QTest>

#include "gui/app/message_bar.h"

namespace headroom::gui::test {
namespace {

TEST(MainWindow, ABrokenFileIsABarWithFileAndFix) {
    MainWindow window;
    window.show();
    window.open("/nowhere/at/all.toml");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window.messages().isVisible(); }, 30'000));
    EXPECT_TRUE(window.messages().text().contains("all.toml")) << window.messages().text().toStdString();
}

}  // namespace
}  // namespace headroom::gui::test
