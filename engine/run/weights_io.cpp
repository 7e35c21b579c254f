#include "run/weights_io.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "decoder/adapters.h"
#include "decoder/parameters.h"
#include "weights/config_json.h"
#include "weights/safetensors_writer.h"

namespace headroom::engine {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPiece = 16 * kMiB;  // values that pass through the CPU at once

at::ScalarType type_of(const StoredTensor& tensor) {
    if (tensor.dtype == "F64") return at::kDouble;
    if (tensor.dtype == "F32") return at::kFloat;
    if (tensor.dtype == "F16") return at::kHalf;
    TORCH_CHECK(tensor.dtype == "BF16", "check_weights() lets no ", tensor.dtype, " pass");
    return at::kBFloat16;
}

bool is_ignored(const Model& model, const std::string& name) {
    return (model.tied_embeddings && name == "lm_head.weight") || name.ends_with("rotary_emb.inv_freq");
}

// All tensors of `flat` in a file that is not closed yet; the folder is made if need be.
Result<SafetensorsWriter> write(const fs::path& folder, const char* name,
                                const std::vector<Parameter>& parameters, Dtype dtype,
                                const at::Tensor& flat) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return fail(folder.string(), "cannot be made: " + error.message(), "a folder that can be written",
                    Fault::run_failed);
    std::vector<TensorSpec> tensors;
    tensors.reserve(parameters.size());
    for (const Parameter& p : parameters) tensors.push_back({p.weight.name, dtype, p.weight.shape});
    HEADROOM_TRY(SafetensorsWriter writer,
                 SafetensorsWriter::open(folder / name, tensors, {{"format", "pt"}}));
    for (const Parameter& p : parameters) {
        for (int64_t first = 0; first < p.elements(); first += kPiece) {
            const int64_t count = std::min(kPiece, p.elements() - first);
            const at::Tensor piece = flat.narrow(0, p.offset + first, count).to(at::kCPU).contiguous();
            HEADROOM_CHECK(writer.append({static_cast<const std::byte*>(piece.data_ptr()),
                                          static_cast<size_t>(count * piece.element_size())}));
        }
    }
    return writer;
}

}  // namespace

Result<void> check_weights(const Model& model, const WeightFiles& files) {
    std::set<std::string> known;
    for (const Parameter& p : parameter_list(model)) {
        HEADROOM_CHECK(files.need(p.weight));
        known.insert(p.weight.name);
    }
    for (const std::string& name : files.names()) {
        if (!known.contains(name) && !is_ignored(model, name))
            return fail(
                files.path().string(), "holds a tensor '" + name + "'",
                "the weights of " + model.name + " (" + model.type + "), which has none of that name");
    }
    return {};
}

Result<void> load_weights(const Model& model, const WeightFiles& files, at::Tensor weights,
                          at::Tensor master) {
    for (const Parameter& p : parameter_list(model)) {
        HEADROOM_TRY(const StoredTensor stored, files.need(p.weight));
        const at::ScalarType type = type_of(stored);
        const auto size = static_cast<int64_t>(c10::elementSize(type));
        // A copy: the file's tensors are aligned only as far as the file is.
        const at::Tensor piece = at::empty({std::min(kPiece, p.elements())}, type);
        for (int64_t first = 0; first < p.elements(); first += kPiece) {
            HEADROOM_CHECK(check_interrupt(files.path().string()));
            const int64_t count = std::min(kPiece, p.elements() - first);
            std::memcpy(piece.data_ptr(), stored.data.data() + first * size,
                        static_cast<size_t>(count * size));
            weights.narrow(0, p.offset + first, count).copy_(piece.narrow(0, 0, count));
            if (master.defined()) master.narrow(0, p.offset + first, count).copy_(piece.narrow(0, 0, count));
        }
    }
    return {};
}

Result<bool> save_weights(const Plan& plan, const at::Tensor& weights, const fs::path& folder) {
    const Dtype dtype = plan.decisions.weights;
    HEADROOM_TRY(SafetensorsWriter writer,
                 write(folder, "model.safetensors", parameter_list(plan.model), dtype, weights));
    const Result<std::string> config = config_json(plan.model, dtype);
    if (config) HEADROOM_CHECK(write_file(folder / "config.json", *config));
    HEADROOM_CHECK(writer.finish());
    return config.has_value();
}

Result<void> save_gradients(const Plan& plan, const at::Tensor& gradients, const fs::path& folder) {
    const bool lora = plan.recipe.lora_rank > 0;
    HEADROOM_TRY(SafetensorsWriter writer,
                 write(folder, lora ? "adapter_model.safetensors" : "model.safetensors",
                       lora ? adapter_list(plan.model, plan.recipe) : parameter_list(plan.model),
                       plan.recipe.gradients, gradients));
    return writer.finish();
}

Result<bool> save_adapters(const Plan& plan, const at::Tensor& adapters, const fs::path& folder) {
    HEADROOM_TRY(SafetensorsWriter writer,
                 write(folder, "adapter_model.safetensors", adapter_list(plan.model, plan.recipe),
                       plan.decisions.weights, adapters));
    nlohmann::ordered_json config{{"peft_type", "LORA"},
                                  {"task_type", "CAUSAL_LM"},
                                  {"base_model_name_or_path", plan.model.name},
                                  {"r", plan.recipe.lora_rank},
                                  {"lora_alpha", plan.recipe.lora_alpha},
                                  {"lora_dropout", 0.0},
                                  {"bias", "none"},
                                  {"target_modules", nlohmann::ordered_json::array()}};
    for (const std::string& target : plan.recipe.lora_targets)
        config["target_modules"].push_back(target + "_proj");
    HEADROOM_CHECK(write_file(folder / "adapter_config.json", config.dump(2) + "\n"));
    HEADROOM_CHECK(writer.finish());
    return true;
}

}  // namespace headroom::engine
