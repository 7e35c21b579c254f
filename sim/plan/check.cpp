#include "plan/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "plan/names.h"

namespace headroom {
namespace {

Result<void> check_machine(const Plan& plan, const std::string& where) {
    HEADROOM_CHECK(check_range(
        where, "gpus", plan.gpus, 1, plan.hardware.max_gpus,
        fmt::format("GPUs (the peer link of {} joins {})", plan.hardware.name, plan.hardware.max_gpus)));
    if (plan.budget.device.count() < 1 || plan.budget.device > plan.hardware.device_memory) {
        return fail(
            key_place(where, "budget.device"), format_bytes(plan.budget.device),
            fmt::format("1 byte to the device memory of {}, {} ({} bytes)", plan.hardware.name,
                        format_bytes(plan.hardware.device_memory), plan.hardware.device_memory.count()));
    }
    // Host and disk may exceed the hardware file's: another machine with the same GPU may have more of them.
    for (const auto& [key, bytes] :
         {std::pair{"budget.host", plan.budget.host}, {"budget.disk", plan.budget.disk}}) {
        HEADROOM_CHECK(check_range(where, key, bytes.count(), 0, 1024 * kTiB, "bytes"));
    }
    return {};
}

}  // namespace

std::string key_place(const std::string& where, const std::string& key) {
    return where.empty() ? "key '" + key + "'" : where + ", key '" + key + "'";
}

Result<void> check_range(const std::string& where, const std::string& key, int64_t value, int64_t low,
                         int64_t high, const std::string& unit) {
    if (value >= low && value <= high) return {};
    const std::string range = low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
    return fail(key_place(where, key), fmt::format("{}", value), unit.empty() ? range : range + " " + unit);
}

Result<void> check_recipe(const Plan& plan, const std::string& where) {
    const Recipe& r = plan.recipe;
    HEADROOM_CHECK(check_range(where, "training.batch", r.batch, 1, 1 << 20, "sequences"));
    for (const auto& [key, dtype] :
         {std::pair{"training.states", r.states}, {"training.gradients", r.gradients}}) {
        if (dtype != Dtype::fp64 && dtype != Dtype::fp32 && dtype != Dtype::bf16) {
            return fail(key_place(where, key), "'" + std::string(name_of(dtype)) + "'",
                        "'fp64', 'fp32' or 'bf16'");
        }
    }
    if (r.lora_rank == 0 && r.lora_targets.empty()) return {};

    static const std::vector<std::string> known{"q", "k", "v", "o", "gate", "up", "down"};
    HEADROOM_CHECK(check_range(where, "training.trainable.lora", r.lora_rank, 1, plan.model.hidden,
                               "(the rank of the adapters; at most the hidden size)"));
    const std::string key = "training.trainable.targets";
    if (r.lora_targets.empty())
        return fail(key_place(where, key), "an empty list", "some of " + one_of(known));
    for (auto it = r.lora_targets.begin(); it != r.lora_targets.end(); ++it) {
        if (std::find(known.begin(), known.end(), *it) == known.end()) {
            return fail(key_place(where, key), with_nearest(*it, known), one_of(known));
        }
        if (std::find(r.lora_targets.begin(), it, *it) != it) {
            return fail(key_place(where, key), "'" + *it + "' twice", "each target once");
        }
    }
    return {};
}

Bytes page_bytes(const Plan& plan) {
    const int64_t values = kv_values_per_token(plan.model) / plan.decisions.tensor_ranks;
    return bytes_of(plan.decisions.kv, checked_mul(values, plan.decisions.page.count()));
}

Result<void> check_plan(const Plan& plan, const std::string& where) {
    try {
        if (!plan.model.not_trainable.empty()) {
            return fail(key_place(where, "model"),
                        fmt::format("{} cannot be planned in training: {} (it has {} parameters; K and V "
                                    "take {} bytes a token in bf16)",
                                    plan.model.name, plan.model.not_trainable,
                                    format_integer(count_parameters(plan.model).total()),
                                    format_integer(kv_bytes_per_token(plan.model, Dtype::bf16).count())),
                        "a model of a trainable kind");
        }
        HEADROOM_CHECK(check_range(where, "context", plan.context.count(), 1, kMaxContext, "tokens"));
        HEADROOM_CHECK(check_machine(plan, where));
        HEADROOM_CHECK(check_recipe(plan, where));
        HEADROOM_CHECK(check_decisions(plan, where));
        return check_attention(plan, where);
    } catch (const Overflow& e) {
        return fail(where, e.what(), "smaller sizes");
    }
}

}  // namespace headroom
