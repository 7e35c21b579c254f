// Predictions and runs with figures by hand.
#pragma once

#include <string>

#include "fidelity/judge.h"

namespace headroom::fidelity::test {

// A step of so long, half of it busy on compute, a tenth on its way to the device; 1,000 bytes of weights and
// 500 of kv on the device, 200 of kv on the host.
inline Figures figures(int64_t step_ns) {
    Figures f;
    f.step_ns = step_ns;
    f.ops = 3;
    f.busy_ns[0] = step_ns / 2, f.busy_ns[1] = step_ns / 10;
    f.hidden_share = 0.5;
    KindFigures k;
    k.kind = OpKind::qkv;
    k.count = 1;
    k.total_ns = k.min_ns = k.median_ns = k.max_ns = step_ns / 2;
    f.kinds.push_back(k);
    const auto weights = static_cast<size_t>(Category::weights), kv = static_cast<size_t>(Category::kv);
    f.tiers[0].peak_bytes = 1500;
    f.tiers[0].at_peak[weights] = f.tiers[0].category_peaks[weights] = 1000;
    f.tiers[0].at_peak[kv] = f.tiers[0].category_peaks[kv] = 500;
    f.tiers[1].peak_bytes = f.tiers[1].at_peak[kv] = f.tiers[1].category_peaks[kv] = 200;
    return f;
}

inline Entry entry(const std::string& name, int64_t predicted_ns, int64_t measured_ns,
                   Half half = Half::unseen) {
    Entry e;
    e.plan.name = name;
    e.plan.half = half;
    e.prediction.emplace();
    e.prediction->name = name;
    e.prediction->need_bytes = {2000, 200, 0};
    e.prediction->budget_bytes = {3000, 3000, 0};
    e.prediction->figures = figures(predicted_ns);
    e.run.emplace();
    e.run->name = name;
    e.run->set = 1;
    e.run->device_used_bytes = 2000;
    e.run->pinned_bytes = 200;
    e.run->losses = {12.5, 10.25};
    e.run->figures = figures(measured_ns);
    return e;
}

inline Entry failed(Entry e, const std::string& failure) {
    e.run->failure = failure;
    e.run->exit_code = 5;
    return e;
}

}  // namespace headroom::fidelity::test
