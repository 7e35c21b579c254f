// A hardware file out of measured rows: the constants of the cost model fitted to them, and the whole as
// text.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hardware/fit.h"
#include "hardware/hardware.h"
#include "hardware/measured.h"

namespace headroom {

// A row that is no rate, beside what the constants say: seconds.
struct TimeResidual {
    std::string kind;   // "memory", "to_device batch"
    std::string shape;  // "norm, 4096 x 3584"
    double measured = 0, predicted = 0;
    bool fitted = true;
    double error() const { return predicted / measured - 1; }
};

struct Calibration {
    Hardware hardware;
    std::vector<Residual> rates;
    std::vector<TimeResidual> times;
    std::vector<std::string> kept;  // keys that no row says anything of: as in `base`
};

// `base` with every constant that `measured` has rows for fitted to them (docs/cost-model.md, "Calibration").
// Datasheet figures are never touched. Pure: the same input gives the same bits. Errors: rows that no
// constants can come from, with the row.
Result<Calibration> calibrated(const Hardware& base, const Measured& measured);

// The hardware file of what came out, rows included. parse_hardware reads it; the same input gives the same
// bytes.
std::string write_hardware(const Calibration& calibration, const Measured& measured);

}  // namespace headroom
