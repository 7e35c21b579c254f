// Colours of everything that is painted, light and dark. Kinds of op share a hue by what they are, so that a
// lane is read from afar; neighbours differ in lightness, so that they part for those who do not see the hue.
#pragma once

#include <QColor>

#include "program/program.h"

namespace headroom::gui {

struct Palette {
    bool dark = false;
    QColor background, panel, text, faint_text, grid, accent;
    QColor selection, cursor, marked;  // marked: translucent
    QColor good, bad, warning;         // fits; does not fit; nearly full
    QColor predicted, measured;

    static Palette light();
    static Palette dark_one();

    QColor of(OpKind kind) const;
    QColor of(Category category) const;
    QColor of(Tier tier) const;
    QColor of(Stream stream) const;
    // Black or white, whichever is read better on `on`.
    static QColor text_on(const QColor& on);
};

}  // namespace headroom::gui
