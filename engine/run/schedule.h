// The learning rate of each step.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace headroom::engine {

// From 0 in equal steps to `peak` over `warmup` steps, then as the shape says until step `total`, where it is
// `least` and stays: linear: along a line; cosine: along half a period (Loshchilov, Hutter, arXiv 1608.03983,
// section 3, without restarts). constant: `peak` for ever.
struct Schedule {
    enum class Shape : uint8_t { constant, linear, cosine };
    Shape shape = Shape::constant;
    double peak = 1e-4, least = 0;
    int64_t warmup = 0, total = 0;
};

// Of step `step`, counted from 0. The first step of a warm-up has peak / warmup, the one after it peak.
double learning_rate(const Schedule& schedule, int64_t step);

// Errors name the command's options: a least rate above the peak; a warm-up longer than all steps.
Result<void> check_schedule(const Schedule& schedule);

}  // namespace headroom::engine
