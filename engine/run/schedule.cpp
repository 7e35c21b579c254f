#include "run/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace headroom::engine {

double learning_rate(const Schedule& s, int64_t step) {
    if (step < s.warmup) return s.peak * static_cast<double>(step + 1) / static_cast<double>(s.warmup);
    if (s.shape == Schedule::Shape::constant) return s.peak;
    const auto length = static_cast<double>(std::max<int64_t>(1, s.total - s.warmup));
    const double done = std::min(1.0, static_cast<double>(step - s.warmup) / length);
    const double left =
        s.shape == Schedule::Shape::linear ? 1 - done : (1 + std::cos(std::numbers::pi * done)) / 2;
    return s.least + (s.peak - s.least) * left;
}

Result<void> check_schedule(const Schedule& s) {
    if (s.shape == Schedule::Shape::constant) return {};
    if (s.least > s.peak)
        return fail("--min-learning-rate", "more than --learning-rate", "at most the learning rate");
    if (s.warmup > s.total)
        return fail("--warmup-steps", std::to_string(s.warmup) + " of " + std::to_string(s.total) + " steps",
                    "at most --total-steps (default: --steps)");
    return {};
}

}  // namespace headroom::engine
