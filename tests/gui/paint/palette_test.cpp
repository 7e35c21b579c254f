#include "gui/paint/palette.h"

#include <gtest/gtest.h>

#include "gui/contrast.h"

namespace headroom::gui::test {
namespace {

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
