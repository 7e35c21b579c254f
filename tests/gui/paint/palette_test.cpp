#include "gui/paint/palette.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom::gui::test {
namespace {

// WCAG 2.1, relative luminance and contrast.
double luminance(const QColor& c) {
    const auto linear = [](double v) {
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}
double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST(Palette, TextIsReadable) {
    for (const Palette& p : {Palette::light(), Palette::dark_one()}) {
        for (const QColor& ground : {p.background, p.panel}) {
            for (const QColor& text : {p.text, p.faint_text, p.good, p.bad, p.warning, p.accent})
                EXPECT_GE(contrast(text, ground), 4.5)
                    << text.name().toStdString() << " on " << ground.name().toStdString();
        }
    }
}

TEST(Palette, EveryKindCategoryAndStreamStandsOutFromTheGround) {
    for (const Palette& p : {Palette::light(), Palette::dark_one()}) {
        for (size_t k = 0; k < kOpKinds; ++k) {
            const auto kind = static_cast<OpKind>(k);
            EXPECT_GE(contrast(p.of(kind), p.background), 1.5) << name_of(kind);
            EXPECT_GE(contrast(Palette::text_on(p.of(kind)), p.of(kind)), 3.0) << name_of(kind);
        }
        for (size_t c = 0; c < kCategories; ++c) {
            const auto category = static_cast<Category>(c);
            EXPECT_GE(contrast(p.of(category), p.background), 1.4) << name_of(category);
        }
        for (size_t s = 0; s < kStreams; ++s) {
            const auto stream = static_cast<Stream>(s);
            EXPECT_GE(contrast(p.of(stream), p.background), 2.0) << name_of(stream);
        }
    }
}

}  // namespace
}  // namespace headroom::gui::test
