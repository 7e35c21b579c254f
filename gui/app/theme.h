// Light and dark: the colours of the widgets, which go with Palette's of what is painted.
#pragma once

#include <QString>

#include "gui/paint/palette.h"

namespace headroom::gui {

enum class Theme { system, light, dark };
QString name_of(Theme theme);         // "system", "light", "dark"
Theme theme_of(const QString& name);  // system where the name is none of them
bool is_dark(Theme theme);            // system: as the desktop's own colours are
// Sets style and colours of every widget of the application.
void apply_theme(const Palette& palette);

}  // namespace headroom::gui
