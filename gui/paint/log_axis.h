// Ticks and positions of logarithmic scales: contexts in powers of two, times in steps that people know.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/paint/time_axis.h"

namespace headroom::gui {

// Where a value stands: log2. Positive values.
double log_position(double value);
// "64Ki", "128Ki", ...: every power of two in [first, last], or every second, fourth, ... one so that
// `at_most` are left; values are positions.
std::vector<Tick> context_ticks(int64_t first, int64_t last, size_t at_most);
// "1 ms", "10 s", "1 min", "10 min", "1 h", ... in [first_ns, last_ns] at their positions.
std::vector<Tick> log_time_ticks(double first_ns, double last_ns);
// The range [low, high] of ns that shows all of [least, most], from tick to tick.
struct LogRange {
    double low = 1, high = 10;
};
LogRange log_time_range(double least_ns, double most_ns);

}  // namespace headroom::gui
