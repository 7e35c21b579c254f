#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "search/estimator_parts.h"
#include "simulate/simulate.h"

namespace headroom {
namespace {

constexpr int64_t kPoints = 16;  // chunks at which the line through the samples is read

// `fixed_ns`: what the step takes before its passes and after them.
int64_t sampled_step_ns(const Plan& plan, const SelectionSet& selected, int64_t fixed_ns) {
    const int64_t n = plan.chunks();
    const Strategy& strategy = *find_strategy(plan.decisions.strategy);
    if (n <= kFewChunks || plan.decisions.strategy == "layer-major") {
        Plan p = plan;
        std::vector<int64_t> chunks;
        if (n > kFewChunks) {
            p.recipe.batch = 1;
            chunks = {n / 8, n / 4, n / 2 - 1, n / 2, n - n / 4, n - n / 8};
        }
        const Program program = strategy.lower(p, selected, {chunks, false});
        const Result<Simulation> s = simulate(program, plan.hardware);
        if (!s) return 0;
        if (chunks.empty()) return s->duration_ns;
        return fixed_ns +
               (s->duration_ns - fixed_ns) * n / static_cast<int64_t>(chunks.size()) * plan.recipe.batch;
    }
    // Pairs of neighbours: the second of each pair runs as in the steady state.
    Plan p = plan;
    p.recipe.batch = 1;
    const std::vector<int64_t> starts{n / 8, n / 2, n - 3};
    std::vector<int64_t> chunks;
    for (const int64_t c : starts) {
        chunks.push_back(c);
        chunks.push_back(c + 1);
    }
    chunks.push_back(n - 1);
    const Program program = strategy.lower(p, selected, {chunks, false});
    const Result<Simulation> s = simulate(program, plan.hardware);
    if (!s) return 0;
    // When the compute stream finished each chunk, by pass.
    std::map<int64_t, int64_t> fill_end, gradient_end;
    int64_t passes_end = 0;
    for (size_t i = 0; i < program.ops.size(); ++i) {
        const Op& op = program.ops[i];
        if (op.stream != Stream::compute || op.chunk == kNone) continue;
        if (op.pass == Pass::fill) fill_end[op.chunk] = s->end_ns[i];
        if (op.pass == Pass::gradient) gradient_end[op.chunk] = s->end_ns[i];
        passes_end = std::max(passes_end, s->end_ns[i]);
    }
    const auto line = [&](const std::vector<std::pair<double, double>>& points, double count) {
        // Mean of the line through the points over chunks 0 .. count - 1, times count.
        double sum = 0;
        for (int64_t i = 0; i < kPoints; ++i) {
            const double c = (static_cast<double>(i) + 0.5) * count / static_cast<double>(kPoints);
            size_t hi = 1;
            while (hi + 1 < points.size() && points[hi].first < c) ++hi;
            const auto& [x0, y0] = points[hi - 1];
            const auto& [x1, y1] = points[hi];
            sum += std::max(0.0, y0 + (y1 - y0) * (c - x0) / (x1 - x0));
        }
        return sum * count / static_cast<double>(kPoints);
    };
    double total = 0;
    const bool pairs_in_fill = plan.decisions.wavefront > 1;
    std::vector<std::pair<double, double>> fill, gradient;
    int64_t before = 0;
    for (const int64_t c : starts) {
        // With two chunks in flight both end together: the pair's time, halved.
        const double both = static_cast<double>(fill_end[c + 1] - before);
        const double second = static_cast<double>(fill_end[c + 1] - fill_end[c]);
        fill.emplace_back(static_cast<double>(c + 1), pairs_in_fill ? both / 2 : second);
        before = fill_end[c + 1];
        gradient.emplace_back(static_cast<double>(c),
                              static_cast<double>(gradient_end[c] - gradient_end[c + 1]));
    }
    total += line(fill, static_cast<double>(n - 1)) + line(gradient, static_cast<double>(n));
    return fixed_ns + static_cast<int64_t>(total) * plan.recipe.batch;
}

}  // namespace

std::function<int64_t()> Estimator::sampling(const Plan& plan) {
    const SelectionSet& selected = selections(plan);
    const int64_t fixed_ns = homes_of(plan).setup_and_update_ns;
    return [plan, &selected, fixed_ns] { return sampled_step_ns(plan, selected, fixed_ns); };
}

}  // namespace headroom
