#include "search/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "search/interruption.h"
#include "search/parallel.h"
#include "search/search.h"

namespace headroom {
namespace {

struct Change {
    int rank;  // 0: the run stays the same; 1: another training run; 2: a shorter context
    std::string what, setting;
    std::function<bool(Scenario&)> apply;  // false: not a change here
};

// The smallest budget of one tier with which the scenario fits, to whole GiB; 0: none.
int64_t budget_needed(const Scenario& scenario, Searcher& searcher, size_t tier) {
    const auto fits = [&](int64_t gib) {
        Budget b = scenario.plan.budget;
        (tier == 1 ? b.host : b.disk) = Bytes(gib * kGiB);
        const Result<Found> found = searcher.roomiest(b);
        return found && found->evaluation.fits();
    };
    int64_t low = (tier == 1 ? scenario.plan.budget.host : scenario.plan.budget.disk).count() / kGiB,
            high = int64_t{16} * 1024;
    if (!fits(high)) return 0;
    while (low + 1 < high) {
        const int64_t middle = (low + high) / 2;
        (fits(middle) ? high : low) = middle;
    }
    return high;
}

std::vector<Change> changes(const Scenario& scenario) {
    std::vector<Change> list;
    const Plan& plan = scenario.plan;
    const Decisions& d = plan.decisions;
    if (scenario.fixed.count("strategy") > 0) {
        list.push_back({0, fmt::format("strategy '{}' -> chosen by the planner", d.strategy),
                        "plan.strategy=auto", [](Scenario& s) { return s.fixed.erase("strategy") > 0; }});
    }
    std::set<std::string> homes;
    for (const char* key : {"weights_home", "gradients_home", "states_home", "kv", "kv_gradients",
                            "activations", "attention_outputs", "mlp_tile", "gradient_pages"}) {
        if (scenario.fixed.count(key) > 0) homes.insert(key);
    }
    for (const std::string& key : homes) {
        list.push_back({0, key + " as fixed -> chosen by the planner", "plan." + key + "=auto",
                        [key](Scenario& s) { return s.fixed.erase(key) > 0; }});
    }
    for (int64_t gpus = 2 * scenario.gpus; gpus <= plan.hardware.max_gpus; gpus *= 2) {
        list.push_back({0, fmt::format("{} GPU -> {} GPUs", scenario.gpus, gpus),
                        fmt::format("gpus={}", gpus), [gpus](Scenario& s) {
                            s.gpus = gpus;
                            return true;
                        }});
    }
    if (const Result<std::filesystem::path> data = data_folder()) {
        for (const std::string& name : shipped_hardware(*data)) {
            if (name == plan.hardware.name) continue;
            const Result<Hardware> other = read_hardware(name, *data);
            if (!other) continue;
            // A budget that the file leaves open is the hardware's own.
            const Hardware& own = plan.hardware;
            Budget b = plan.budget;
            if (b.device == own.device_memory) b.device = other->device_memory;
            if (b.host == own.pinnable_memory) b.host = other->pinnable_memory;
            if (b.disk == own.disk_memory) b.disk = other->disk_memory;
            const bool larger =
                b.device > plan.budget.device || b.host > plan.budget.host || b.disk > plan.budget.disk;
            if (!larger || b.device > other->device_memory || scenario.gpus > other->max_gpus) continue;
            list.push_back({0, fmt::format("GPU {} -> {}", plan.hardware.accelerator, other->title),
                            "hardware=" + name, [h = *other, b](Scenario& s) {
                                s.plan.hardware = h;
                                s.plan.budget = b;
                                return true;
                            }});
        }
    }
    const auto dtype = [&](const char* key, Dtype Decisions::*member, Dtype to) {
        if (bytes_of(d.*member, 1) <= bytes_of(to, 1) || scenario.may_change.count(key) > 0) return;
        list.push_back({1, fmt::format("{} {} -> {}", key, name_of(d.*member), name_of(to)),
                        fmt::format("plan.{}={}", key, name_of(to)), [member, to](Scenario& s) {
                            s.plan.decisions.*member = to;
                            return true;
                        }});
    };
    dtype("kv_dtype", &Decisions::kv, Dtype::fp8);
    dtype("kv_gradients_dtype", &Decisions::kv_gradients, Dtype::bf16);
    const Recipe& r = plan.recipe;
    if (r.optimizer == Optimizer::adamw && r.states == Dtype::fp32) {
        list.push_back({1, "optimizer states fp32 -> bf16", "training.states=bf16", [](Scenario& s) {
                            s.plan.recipe.states = Dtype::bf16;
                            return true;
                        }});
    }
    if (r.optimizer == Optimizer::adamw) {
        list.push_back({1, "optimizer adamw -> adamw8bit", "training.optimizer=adamw8bit", [](Scenario& s) {
                            s.plan.recipe.optimizer = Optimizer::adamw8bit;
                            return true;
                        }});
        list.push_back({1, "optimizer adamw -> sgd", "training.optimizer=sgd", [](Scenario& s) {
                            s.plan.recipe.optimizer = Optimizer::sgd;
                            return true;
                        }});
    }
    if (r.lora_rank == 0) {
        list.push_back({1, "all parameters trained -> LoRA of rank 16 on q, k, v, o",
                        "training.trainable={ lora = 16, targets = [\"q\", \"k\", \"v\", \"o\"] }",
                        [](Scenario& s) {
                            s.plan.recipe.lora_rank = 16;
                            s.plan.recipe.lora_targets = {"q", "k", "v", "o"};
                            return true;
                        }});
    }
    if (!d.attention.sparse && scenario.may_change.count("attention") == 0) {
        Attention sparse;
        sparse.sparse = true;
        sparse.block =
            scenario.fixed.count("chunk") > 0 ? d.chunk.count() : std::lcm<int64_t>(4096, d.page.count());
        list.push_back({1,
                        fmt::format("attention dense -> sparse, {} pages, one selection for {} queries",
                                    sparse.budget, sparse.block),
                        fmt::format("plan.attention={{ kind = \"sparse\", budget = {}, block = {} }}",
                                    sparse.budget, sparse.block),
                        [sparse](Scenario& s) {
                            Decisions& to = s.plan.decisions;
                            if (s.fixed.count("strategy") > 0 && to.strategy != "chunked" &&
                                to.strategy != "tensor-parallel") {
                                return false;
                            }
                            to.attention = sparse;
                            if (s.fixed.count("chunk") == 0)
                                to.chunk = Tokens(round_up(to.chunk.count(), sparse.block));
                            return true;
                        }});
    }
    return list;
}

}  // namespace

Result<std::vector<Remedy>> remedies(const Scenario& scenario, const Answer& found,
                                     const Progress& progress) {
    using Ranked = std::pair<int, Remedy>;
    // Each change applied for real: the whole search, the best plan simulated.
    const auto apply = [&](const Change& change) -> std::optional<Ranked> {
        Scenario changed = scenario;
        if (!change.apply(changed)) return std::nullopt;
        Searcher searcher(changed);
        SearchOptions options;
        options.op_budget = 0;
        options.at_least = 1;
        options.statistics = false;
        // Most changes do not help: seen by the roomiest plan alone, which is quick.
        const Result<Found> room = searcher.roomiest(changed.plan.budget);
        if (!room || !room->evaluation.fits()) return std::nullopt;
        const Result<Found> best = searcher.best(changed.plan.budget, options);
        if (!best || !best->evaluation.fits()) return std::nullopt;
        return Ranked(change.rank,
                      Remedy{change.what, change.setting, best->evaluation.step_ns, change.rank == 1});
    };
    const auto larger_host = [&]() -> std::optional<Ranked> {
        if (found.evaluation.tiers[1].headroom() >= 0 && found.evaluation.tiers[0].headroom() >= 0)
            return std::nullopt;
        Searcher searcher(scenario);
        const int64_t gib = budget_needed(scenario, searcher, 1);
        if (gib <= 0) return std::nullopt;
        return apply({0,
                      fmt::format("host budget {} -> {} GiB", format_bytes(scenario.plan.budget.host), gib),
                      fmt::format("budget.host={}GiB", gib), [gib](Scenario& s) {
                          s.plan.budget.host = Bytes(gib * kGiB);
                          return true;
                      }});
    };
    const auto shorter = [&]() -> std::optional<Ranked> {
        const Result<MaxContext> max = max_context(scenario);
        if (!max) return std::nullopt;
        return Ranked(
            2, Remedy{fmt::format("context {} -> {}", format_tokens(scenario.plan.context),
                                  format_tokens(max->context)),
                      fmt::format("context={}", max->context.count()), max->at.evaluation.step_ns, true});
    };

    // The longest first, so that no thread waits for it at the end: backwards, as outcomes are read below.
    const std::vector<Change> list = changes(scenario);
    std::vector<std::string> names{"a shorter context", "a larger host budget"};
    std::vector<std::function<std::optional<Ranked>()>> tries{shorter, larger_host};
    for (auto change = list.rbegin(); change != list.rend(); ++change) {
        names.push_back(change->what);
        tries.push_back([&apply, &c = *change] { return apply(c); });
    }
    std::vector<std::optional<Ranked>> outcomes(tries.size());
    std::vector<std::function<void()>> jobs;
    for (size_t i = 0; i < tries.size(); ++i) jobs.push_back([&, i] { outcomes[i] = tries[i](); });
    const bool all = run_all(jobs, [&](size_t i) {
        return !progress ||
               progress("trying " + names[i], static_cast<double>(i) / static_cast<double>(jobs.size()));
    });
    if (!all) return interruption();
    std::vector<Ranked> fitting;  // equal ones in the order of the list
    for (auto outcome = outcomes.rbegin(); outcome != outcomes.rend(); ++outcome)
        if (*outcome) fitting.push_back(std::move(**outcome));
    std::stable_sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) {
        return std::tie(a.first, a.second.step_ns) < std::tie(b.first, b.second.step_ns);
    });
    std::vector<Remedy> result;
    for (auto& [rank, remedy] : fitting) result.push_back(std::move(remedy));
    return result;
}

}  // namespace headroom
