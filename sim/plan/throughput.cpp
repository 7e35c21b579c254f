#include "plan/throughput.h"

#include <algorithm>

namespace headroom {

double useful_flops(const Plan& plan) {
    Model model = plan.model;
    const Decisions& d = plan.decisions;
    if (!d.honour_windows) {
        for (Layer& layer : model.layers) layer.window = 0;
    }
    Flops flops = forward_flops(model, plan.context);
    if (d.attention.sparse) {
        // Full layers attend their own chunk causally and at most `budget` pages of the past.
        const double per_key = 4.0 * static_cast<double>(model.q_size());
        double keys = 0;
        for (int64_t c = 0; c < plan.chunks(); ++c) {
            const double tokens = static_cast<double>(plan.chunk_tokens(c));
            const int64_t past = c * d.chunk.count();
            keys += tokens * (tokens + 1) / 2 +
                    tokens * static_cast<double>(std::min(past, d.attention.budget * d.page.count()));
        }
        flops.attention = 0;
        for (const Layer& layer : model.layers) {
            flops.attention += per_key * (layer.window == 0 ? keys : attended_keys(layer, plan.context));
        }
    }
    return 3 * flops.total() * static_cast<double>(plan.recipe.batch);
}

double mfu(const Plan& plan, int64_t step_ns) {
    return useful_flops(plan) /
           (plan.hardware.dense_flops * static_cast<double>(plan.gpus) * static_cast<double>(step_ns) * 1e-9);
}

double tokens_per_second(const Plan& plan, int64_t step_ns) {
    return static_cast<double>(plan.context.count()) * static_cast<double>(plan.recipe.batch) /
           (static_cast<double>(step_ns) * 1e-9);
}

}  // namespace headroom
