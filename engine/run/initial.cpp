#include "run/initial.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "decoder/adapters.h"
#include "decoder/parameters.h"
#include "weights/random.h"

namespace headroom::engine {
namespace {

constexpr int64_t kPiece = 64 * kMiB;    // values drawn on the CPU before they go to the device
constexpr int64_t kGrain = 1024 * 1024;  // values of one thread at least

// work(begin, end) of parts of [0, count), on all cores. (at::parallel_for is serial where OpenMP is off.)
void in_parts(int64_t count, const std::function<void(int64_t, int64_t)>& work) {
    const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    const int64_t part = std::max(kGrain, ceil_div(count, cores));
    std::vector<std::jthread> others;
    for (int64_t begin = part; begin < count; begin += part)
        others.emplace_back(work, begin, std::min(count, begin + part));
    work(0, std::min(count, part));
}

Result<void> fill(const std::vector<Parameter>& parameters, Dtype dtype,
                  const std::function<RandomValues(const WeightSpec&)>& values_of, at::Tensor weights) {
    HEADROOM_CHECK(fill_random("", {}, dtype, 0, {}));  // the only error: a dtype that it does not write
    const int64_t size = bytes_of(dtype, 1).count();
    const at::Tensor drawn =
        at::empty({std::min(kPiece, weights.numel())}, weights.options().device(at::kCPU));
    auto* const bytes = static_cast<std::byte*>(drawn.data_ptr());
    for (const Parameter& p : parameters) {
        const RandomValues values = values_of(p.weight);
        for (int64_t first = 0; first < p.elements(); first += kPiece) {
            const int64_t count = std::min(kPiece, p.elements() - first);
            in_parts(count, [&](int64_t begin, int64_t end) {
                const std::span<std::byte> out(bytes + begin * size,
                                               static_cast<size_t>((end - begin) * size));
                (void)fill_random(p.weight.name, values, dtype, first + begin, out);
            });
            weights.narrow(0, p.offset + first, count).copy_(drawn.narrow(0, 0, count));
        }
    }
    return {};
}

}  // namespace

Result<void> fill_initial_weights(const Plan& plan, uint64_t seed, at::Tensor weights) {
    const auto values = [&](const WeightSpec& w) { return initial_values(plan.model, w, seed); };
    return fill(parameter_list(plan.model), plan.decisions.weights, values, std::move(weights));
}

Result<void> fill_initial_adapters(const Plan& plan, uint64_t seed, at::Tensor adapters) {
    const auto values = [&](const WeightSpec& w) {
        const bool is_a = w.name.find("lora_A") != std::string::npos;
        const double bound = is_a ? 1 / std::sqrt(static_cast<double>(w.shape[1])) : 0;
        return RandomValues{.seed = seed, .mean = 0, .deviation = bound / std::sqrt(3.0), .uniform = true};
    };
    return fill(adapter_list(plan.model, plan.recipe), plan.decisions.weights, values, std::move(adapters));
}

}  // namespace headroom::engine
