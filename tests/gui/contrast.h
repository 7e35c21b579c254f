// WCAG 2.1, relative luminance and contrast: 4.5 for text, 3 for what controls are known by.
#pragma once

#include <QColor>
#include <algorithm>
#include <cmath>

namespace headroom::gui::test {

inline double luminance(const QColor& c) {
    const auto linear = [](double v) {
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}
inline double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace headroom::gui::test
