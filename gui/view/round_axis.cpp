#include "gui/view/round_axis.h"

#include <QValueAxis>
#include <algorithm>
#include <cmath>

namespace headroom::gui {

double round_step(double length) {
    const double power = std::pow(10, std::floor(std::log10(length / 4)));
    for (const double times : {1.0, 2.0, 5.0}) {
        if (times * power * 4.5 >= length) return times * power;
    }
    return 10 * power;
}

void set_round_range(QValueAxis& axis, double low, double high) {
    if (high <= low) {
        const double pad = std::max(0.05 * std::abs(high), 1e-6);
        low -= pad, high += pad;
    }
    const double step = round_step(high - low);
    const double from = std::floor(low / step) * step;
    set_ticks(axis, from, std::ceil(high / step) * step, from, step);
}

void set_ticks(QValueAxis& axis, double low, double high, double anchor, double interval) {
    const bool coarser = interval > axis.tickInterval();
    if (coarser) axis.setTickInterval(interval);
    axis.setTickAnchor(anchor);
    axis.setTickType(QValueAxis::TicksDynamic);
    axis.setRange(low, high);
    if (!coarser) axis.setTickInterval(interval);
}

}  // namespace headroom::gui
