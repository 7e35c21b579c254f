// The Plan: what is trained, where, how much, and every decision. Complete: it needs no other file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "hardware/hardware.h"
#include "model/model.h"
#include "plan/decisions.h"
#include "plan/selection.h"

namespace headroom {

inline constexpr int kPlanSchemaVersion = 2;
// Longest context that any file may ask for; keeps every product of sizes inside int64_t.
inline constexpr int64_t kMaxContext = int64_t{1} << 30;

enum class Optimizer : uint8_t { none, sgd, adamw, adamw8bit };

// The training recipe. Never changed by the search unless the scenario allows it.
struct Recipe {
    Optimizer optimizer = Optimizer::adamw;
    Dtype states = Dtype::fp32;     // of AdamW's two moments (adamw8bit: int8 with fp32 scales per 256)
    bool master_weights = false;    // fp32 master copy of the weights, kept with the states
    Dtype gradients = Dtype::fp32;  // weight gradients, summed over all chunks
    int64_t lora_rank = 0;          // 0: all parameters are trained
    double lora_alpha = 8;          // what adapters add is scaled by alpha / rank; as PEFT's default
    std::vector<std::string> lora_targets;  // of "q", "k", "v", "o", "gate", "up", "down"
    int64_t batch = 1;                      // sequences a step, one after the other
    bool operator==(const Recipe&) const = default;
};

// Bytes allowed in each tier.
struct Budget {
    Bytes device;  // all of the GPU's memory that the step may use, libraries included
    Bytes host;    // pinned host memory of one GPU's share
    Bytes disk;
    bool operator==(const Budget&) const = default;
};

struct Plan {
    std::string name;  // of the scenario
    Model model;
    Hardware hardware;
    int64_t gpus = 1;  // GPUs used: tensor_ranks * ring_ranks; every figure is of one GPU unless it says so
    Tokens context;
    Budget budget;
    Recipe recipe;
    Decisions decisions;
    SelectionModel selection;  // used where attention is sparse

    int64_t chunks() const { return ceil_div(context.count(), decisions.chunk.count()); }
    // Tokens of chunk c: the last may be ragged.
    int64_t chunk_tokens(int64_t c) const {
        const int64_t size = decisions.chunk.count(), left = context.count() - c * size;
        return left < size ? left : size;
    }
    // Whether the pages of `layer` stay on the device as a whole (Residency::device_layers spread evenly).
    static bool device_layer(const Residency& r, int64_t layer, int64_t layers) {
        return (layer + 1) * r.device_layers / layers > layer * r.device_layers / layers;
    }
    bool operator==(const Plan&) const = default;
};

// A question: a Plan whose decisions are only partly fixed.
struct Scenario {
    std::string path;   // as named by the user, for messages
    std::string name;   // file stem
    std::string title;  // optional one-line description from the file
    // Model, hardware, context, budget, recipe, selection; its decisions hold fixed and default values.
    Plan plan;
    int64_t gpus = 1;             // GPUs there are
    std::set<std::string> fixed;  // decision keys that the file fixes
    // Where each of them stands: "plan.chunk" -> "a.toml:12, key 'plan.chunk'".
    std::map<std::string, std::string> places;
    // Of "kv" and "kv_gradients" those that the file puts on disk as a whole, whatever chunk and context
    // become.
    std::set<std::string> all_on_disk;
    std::set<std::string> may_change;  // keys of trained-result decisions that the search may vary
};

// Checks relations between parts: chunk a multiple of page, ranks divide heads and equal gpus, budgets within
// the hardware, strategy-independent. `where` names the source in errors.
Result<void> check_plan(const Plan& plan, const std::string& where);

// `overrides`: "key=value" pairs from the command line (--set context=2Mi --set plan.chunk=8Ki).
Result<Scenario> parse_scenario(std::string_view toml, const std::string& where,
                                const std::filesystem::path& folder, const std::filesystem::path& data,
                                const std::vector<std::string>& overrides = {});
Result<Scenario> read_scenario(const std::filesystem::path& path, const std::filesystem::path& data,
                               const std::vector<std::string>& overrides = {});

// Whether the search may choose a decision (by its key): not fixed, and not one that changes the trained
// result unless the scenario allows it.
bool planner_decides(const Scenario& scenario, const std::string& key);

// The same error with each "key 'plan.x'" in it replaced by the place of the key, where the scenario's file
// has it.
Error with_places(Error error, const Scenario& scenario);
// Where `all_on_disk` says so, every chunk of `context` cut as `decisions` say lies on disk.
void keep_on_disk(const Scenario& scenario, Tokens context, Decisions& decisions);

// plan.json: see docs/plan-format.md. write then read gives an equal Plan.
std::string write_plan(const Plan& plan);
Result<Plan> parse_plan(std::string_view json, const std::string& where);
Result<Plan> read_plan(const std::filesystem::path& path);
// FNV-1a of write_plan(plan), 16 hex digits: names the plan inside a Timeline.
std::string plan_hash(const Plan& plan);

std::string_view name_of(Optimizer v);
std::string_view name_of(Home v);
std::string_view name_of(AttentionOutputs v);
std::string_view name_of(Activations v);
std::string_view name_of(GradientPages v);

}  // namespace headroom
