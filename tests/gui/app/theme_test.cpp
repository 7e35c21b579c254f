#include "gui/app/theme.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QStyleOptionButton>

#include "gui/contrast.h"

namespace headroom::gui::test {
namespace {

QRect indicator_of(const QCheckBox& box) {
    QStyleOptionButton option;
    option.initFrom(&box);
    return box.style()->subElementRect(QStyle::SE_CheckBoxIndicator, &option, &box);
}

// The least contrast along the four sides, each by its middle half: corners are round.
double least_contrast_of_outline(const QImage& image, const QRect& r, const QColor& ground) {
    double least = 21;
    for (int i = r.width() / 4; i < 3 * r.width() / 4; ++i) {
        for (const QPoint& at : {QPoint(r.left() + i, r.top()), QPoint(r.left() + i, r.bottom()),
                                 QPoint(r.left(), r.top() + i), QPoint(r.right(), r.top() + i)})
            least = std::min(least, contrast(image.pixelColor(at), ground));
    }
    return least;
}

TEST(Theme, ACheckBoxIsSeenWhetherItIsCheckedOrNot) {
    for (const Palette& palette : {Palette::light(), Palette::dark_one()}) {
        apply_theme(palette);
        QCheckBox box("stalls");
        box.resize(box.sizeHint());
        for (const bool checked : {false, true}) {
            box.setChecked(checked);
            const QImage image = box.grab().toImage();
            EXPECT_GE(least_contrast_of_outline(image, indicator_of(box), palette.panel), 3.0)
                << (palette.dark ? "dark" : "light") << (checked ? ", checked" : ", unchecked");
        }
    }
}

TEST(Theme, NamesAreReadBack) {
    for (const Theme theme : {Theme::system, Theme::light, Theme::dark})
        EXPECT_EQ(theme_of(name_of(theme)), theme);
    EXPECT_EQ(theme_of("pink"), Theme::system);
}

}  // namespace
}  // namespace headroom::gui::test
