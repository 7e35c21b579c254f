// From measured rows to the constants of the cost model. Every fit minimises the sum of squared relative
// errors of time, with non-negative unknowns (nnls.h): a term that the rows do not support becomes 0 instead
// of negative, so a longer shape never costs less.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "hardware/hardware.h"
#include "hardware/measured.h"

namespace headroom {

// The terms of a RateFit that a fit may use; the others stay 0.
struct RateTerms {
    bool by_m = false, by_n = false, by_k = false;
    bool latency = false, pairs = false;  // pairs: per_pair, and where by_n is, pair_by_n
    bool keys = false;                    // per_key and per_key_and_dim
};

// One row: `work` took flops / flops_per_second, launch included. Rows that are not for the fit are only
// compared.
struct RatePoint {
    Work work;
    double flops_per_second = 0;
    bool fitted = true;
};

// A row beside the fit. `predicted` uses the fitted constants alone (no bound by bytes, no datasheet limit).
struct Residual {
    std::string kind;   // "gemm", "attention_backward", ...
    std::string shape;  // "4096 x 3584 x 4608"
    double flops = 0;
    double measured = 0, predicted = 0;  // FLOP/s
    bool fitted = true;
    double error() const { return predicted / measured - 1; }
};

struct RateResult {
    RateFit fit;
    std::vector<Residual> residuals;  // in the order of the points
};

// The form of RateFit (hardware.h) with these terms. `multiprocessors`: for waves. Error: no row to fit from;
// a row whose rate is not positive and finite, whose shape lacks a dimension that a term divides by, or that
// takes no longer than the launch.
Result<RateResult> fit_rate(const std::string& kind, std::span<const RatePoint> points, int64_t launch_ns,
                            RateTerms terms, int32_t multiprocessors = 0);

// All rates of a machine.
struct FittedRates {
    RateFit gemm, gemm_accumulate;
    RateFit attention_forward, attention_forward_causal, attention_backward, attention_backward_causal;
    double deterministic_slowdown = 1;
    double packing = 0;  // seconds a byte that is packed before attention backward; 0: not measured
    std::vector<Residual> residuals;
};
// Rows of many query blocks give the factor `blocks` and the packing, whatever their use. Error: as fit_rate;
// also where a kind of work has no row at all.
Result<FittedRates> fit_rates(const Measured& measured, int64_t launch_ns);
// The same of a measurement that is not complete: a kind without a row to fit from has rates of 0.
Result<FittedRates> fit_known_rates(const Measured& measured, int64_t launch_ns);

}  // namespace headroom
