#include "gui/view/splitter.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QLineEdit>
#include <QTest>

namespace headroom::gui::test {
namespace {

class SplitterTest : public testing::TestWithParam<Qt::Orientation> {
protected:
    SplitterTest() {
        splitter.resize(600, 600);
        for (QWidget* part : {&first, &second}) splitter.addWidget(part);
        for (QLineEdit* part : {&first, &second}) {
            part->setMinimumSize(100, 100);
            part->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
        }
        splitter.setSizes({300, 300});
        splitter.show();
        EXPECT_TRUE(QTest::qWaitForWindowActive(&splitter));
    }
    // After a key on the handle.
    int size_after(Qt::Key key) {
        QTest::keyClick(splitter.handle(1), key);
        return splitter.sizes()[0];
    }
    Splitter splitter{GetParam(), "Width of the left"};
    QLineEdit& first = *new QLineEdit;
    QLineEdit& second = *new QLineEdit;
};

TEST_P(SplitterTest, TabReachesTheHandleAndKeysMoveIt) {
    first.setFocus();
    for (int i = 0; i < 3 && !splitter.handle(1)->hasFocus(); ++i)
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    EXPECT_TRUE(splitter.handle(1)->hasFocus());
    EXPECT_EQ(splitter.handle(1)->accessibleName(), "Width of the left");
    const bool across = GetParam() == Qt::Horizontal;
    const Qt::Key less = across ? Qt::Key_Left : Qt::Key_Up, more = across ? Qt::Key_Right : Qt::Key_Down;
    const int start = splitter.sizes()[0];
    const int grown = size_after(more);
    EXPECT_GT(grown, start);
    EXPECT_EQ(size_after(less), start);
    EXPECT_EQ(size_after(across ? Qt::Key_Up : Qt::Key_Left), start) << "of the other direction";
    // No part is moved away whole.
    EXPECT_EQ(size_after(Qt::Key_Home), 100);
    EXPECT_EQ(size_after(less), 100);
    size_after(Qt::Key_End);
    EXPECT_EQ(splitter.sizes()[1], 100);
}

TEST_P(SplitterTest, TheHandleWithTheFocusIsSeen) {
    const auto colour = [&] {
        const QImage image = splitter.handle(1)->grab().toImage();
        return image.pixelColor(image.rect().center());
    };
    first.setFocus();
    EXPECT_NE(colour(), splitter.palette().highlight().color());
    splitter.handle(1)->setFocus();
    EXPECT_EQ(colour(), splitter.palette().highlight().color());
}

INSTANTIATE_TEST_SUITE_P(Both, SplitterTest, testing::Values(Qt::Horizontal, Qt::Vertical));

}  // namespace
}  // namespace headroom::gui::test
