#include "gui/paint/time_axis.h"

#include <algorithm>
#include <cmath>

namespace headroom::gui {
namespace {

struct Unit {
    double ns;
    const char* name;
};
constexpr Unit kTimeUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
constexpr Unit kByteUnits[] = {{1024.0 * 1024 * 1024 * 1024, "TiB"},
                               {1024.0 * 1024 * 1024, "GiB"},
                               {1024.0 * 1024, "MiB"},
                               {1024, "KiB"},
                               {1, "B"}};

// The smallest 1, 2 or 5 times a power of ten that is at least `least`.
double round_step(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double m : {1.0, 2.0, 5.0}) {
        if (m * power >= least * (1 - 1e-12)) return m * power;
    }
    return 10 * power;
}

}  // namespace

int64_t TimeAxis::ns_at(double x) const {
    return begin_ns + static_cast<int64_t>(std::llround((x - left) * ns_per_pixel()));
}

std::vector<Tick> time_ticks(const TimeAxis& axis, double least_px) {
    const double step = std::max(1.0, round_step(least_px * axis.ns_per_pixel()));
    const double most =
        std::max(std::abs(static_cast<double>(axis.begin_ns)), static_cast<double>(axis.end_ns));
    const Unit* unit = std::find_if(std::begin(kTimeUnits), std::end(kTimeUnits) - 1,
                                    [&](const Unit& u) { return most >= u.ns; });
    const int decimals = std::max(0, static_cast<int>(std::ceil(std::log10(unit->ns / step) - 1e-9)));
    std::vector<Tick> ticks;
    const auto first = static_cast<int64_t>(std::ceil(static_cast<double>(axis.begin_ns) / step));
    const auto last = static_cast<int64_t>(std::floor(static_cast<double>(axis.end_ns) / step));
    for (int64_t i = first; i <= last; ++i) {
        const double at = static_cast<double>(i) * step;
        ticks.push_back({at, QString::number(at / unit->ns, 'f', decimals) + " " + unit->name});
    }
    return ticks;
}

std::vector<Tick> byte_ticks(int64_t most_bytes, double height, double least_px) {
    if (most_bytes <= 0 || height <= 0) return {{0, "0"}};
    const double least = static_cast<double>(most_bytes) * std::min(1.0, least_px / height);
    const double step = std::max(1.0, std::exp2(std::ceil(std::log2(least) - 1e-12)));
    const Unit* unit = std::find_if(std::begin(kByteUnits), std::end(kByteUnits) - 1,
                                    [&](const Unit& u) { return step >= u.ns; });
    std::vector<Tick> ticks;
    for (double at = 0; at <= static_cast<double>(most_bytes); at += step) {
        ticks.push_back(
            {at, at == 0 ? QString("0") : QString::number(at / unit->ns, 'f', 0) + " " + unit->name});
    }
    return ticks;
}

}  // namespace headroom::gui
