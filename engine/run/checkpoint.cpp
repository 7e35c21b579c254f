#include "run/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "program/layer.h"
#include "run/weights_io.h"
#include "weights/safetensors_writer.h"

namespace headroom::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kPiece = 64 * kMiB;  // bytes that pass through the CPU at once
constexpr const char* kFacts = "checkpoint.json";
constexpr const char* kStates = "optimizer.safetensors";

tl::unexpected<Error> disk_failed(const fs::path& path, const std::string& reason) {
    return fail(path.string(), "cannot be written: " + reason,
                "a path in a folder that can be written, on a disk with room", Fault::run_failed);
}
tl::unexpected<Error> disk_failed(const fs::path& path, int error) {
    return disk_failed(path, std::generic_category().message(error));
}

// A folder beside the target, of the same file system; gone at the end unless it took the target's place.
class FolderBeside {
public:
    explicit FolderBeside(const fs::path& target)
        : path_(target.parent_path() / ("." + target.filename().string() + ".part")) {}
    ~FolderBeside() { remove(); }
    FolderBeside(const FolderBeside&) = delete;
    FolderBeside& operator=(const FolderBeside&) = delete;

    const fs::path& path() const { return path_; }
    // What a run that was killed left under the name goes too.
    Result<void> make() const {
        remove();
        std::error_code error;
        fs::create_directories(path_, error);
        if (error) return disk_failed(path_, error.message());
        return {};
    }

private:
    void remove() const {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    fs::path path_;
};

// The bytes are on the disk, not only on their way: a folder that takes another's place must not be empty
// after a power cut.
Result<void> flush(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return disk_failed(path, errno);
    const int failed = fsync(fd) != 0 ? errno : 0;
    ::close(fd);
    if (failed != 0 && failed != EINVAL) return disk_failed(path, failed);
    return {};
}
Result<void> flush_folder(const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) HEADROOM_CHECK(flush(entry.path()));
    return flush(folder);
}

// `made` takes the place of `target`, in one step of the file system.
Result<void> take_place(const fs::path& made, const fs::path& target) {
    std::error_code ignored;
    if (!fs::exists(target, ignored)) {
        if (std::rename(made.c_str(), target.c_str()) != 0) return disk_failed(target, errno);
        return {};
    }
    if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return {};
    if (errno != EINVAL && errno != ENOSYS) return disk_failed(target, errno);
    // A file system that cannot exchange: between the two steps only the old one's other name is there.
    const fs::path aside = made.string() + ".old";
    fs::remove_all(aside, ignored);
    if (std::rename(target.c_str(), aside.c_str()) != 0) return disk_failed(target, errno);
    if (std::rename(made.c_str(), target.c_str()) != 0) {
        const int error = errno;
        (void)std::rename(aside.c_str(), target.c_str());
        return disk_failed(target, error);
    }
    fs::remove_all(aside, ignored);
    return {};
}

std::vector<TensorSpec> state_specs(const Plan& plan) {
    const Recipe& r = plan.recipe;
    const int64_t count = ParameterUnits(plan).trainable();
    std::vector<TensorSpec> specs;
    if (r.lora_rank > 0) specs.push_back({"adapters", plan.decisions.weights, {count}});
    if (r.optimizer == Optimizer::none) return specs;
    if (r.master_weights) specs.push_back({"master", Dtype::fp32, {count}});
    const bool codes = r.optimizer == Optimizer::adamw8bit;
    if (codes) {
        const int64_t blocks = ceil_div(count, kStateBlock);
        specs.push_back({"first_scales", Dtype::fp32, {blocks}});
        specs.push_back({"second_scales", Dtype::fp32, {blocks}});
    }
    if (codes || r.optimizer == Optimizer::adamw) {
        const Dtype moment = codes ? Dtype::int8 : r.states;
        specs.push_back({"first", moment, {count}});
        specs.push_back({"second", moment, {count}});
    }
    return specs;
}

at::Tensor state_called(const Executor& executor, const std::string& name) {
    const OptimizerState& s = executor.optimizer_state();
    if (name == "adapters") return executor.adapters();
    if (name == "master") return s.master;
    if (name == "first_scales") return s.first_scales;
    if (name == "second_scales") return s.second_scales;
    return name == "first" ? s.first : s.second;
}

// Calls visit(first byte, bytes of that piece) for all of `t`, flat bytes on any device.
template <class Visit>
Result<void> in_pieces(const at::Tensor& t, Visit visit) {
    const at::Tensor bytes = t.view(at::kByte);
    for (int64_t at = 0; at < bytes.numel(); at += kPiece)
        HEADROOM_CHECK(visit(at, bytes.narrow(0, at, std::min(kPiece, bytes.numel() - at))));
    return {};
}

Result<void> write_states(const fs::path& file, const Plan& plan, const Executor& executor) {
    const std::vector<TensorSpec> specs = state_specs(plan);
    if (specs.empty()) return {};
    HEADROOM_TRY(SafetensorsWriter writer, SafetensorsWriter::open(file, specs, {}));
    for (const TensorSpec& spec : specs) {
        HEADROOM_CHECK(in_pieces(state_called(executor, spec.name), [&](int64_t, const at::Tensor& piece) {
            const at::Tensor here = piece.cpu();
            return writer.append({static_cast<const std::byte*>(here.data_ptr()), here.nbytes()});
        }));
    }
    return writer.finish();
}

}  // namespace

Result<void> write_checkpoint(const fs::path& folder, const Plan& plan, const Executor& executor,
                              const Json& settings) {
    const fs::path target = fs::absolute(folder / "").parent_path();  // "a/" is "a"
    const FolderBeside beside(target);
    HEADROOM_CHECK(beside.make());
    HEADROOM_CHECK(save_weights(plan, executor.weights(), beside.path()));
    HEADROOM_CHECK(write_states(beside.path() / kStates, plan, executor));
    const Json facts{{"schema_version", kCheckpointSchemaVersion},
                     {"steps", executor.steps_done()},
                     {"plan_hash", plan_hash(plan)},
                     {"settings", settings}};
    HEADROOM_CHECK(write_file(beside.path() / kFacts, facts.dump(2) + "\n"));
    HEADROOM_CHECK(flush_folder(beside.path()));
    HEADROOM_CHECK(check_interrupt(folder.string()));
    HEADROOM_CHECK(take_place(beside.path(), target));
    return flush(target.parent_path());
}

Result<void> check_checkpoint_folder(const fs::path& folder) {
    std::error_code error;
    if (!fs::exists(folder, error)) return {};
    if (!fs::is_directory(folder, error))
        return fail(folder.string(), "is no folder", "a checkpoint, or a name that is free");
    if (fs::is_empty(folder, error) || fs::exists(folder / kFacts, error)) return {};
    return fail(folder.string(), "holds something else than a checkpoint, which would be lost",
                "a checkpoint, an empty folder, or a name that is free");
}

Result<CheckpointFacts> read_checkpoint_facts(const fs::path& folder) {
    const fs::path file = folder / kFacts;
    HEADROOM_TRY(const std::string text, read_file(file, kMiB));
    const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    const auto wrong = [&](const char* key, const std::string& allowed) {
        return fail(file.string() + ", key '" + key + "'", "is missing or wrong", allowed);
    };
    if (!json.is_object()) return fail(file.string(), "is no JSON object", "a checkpoint of this program");
    if (json.value("schema_version", Json()) != kCheckpointSchemaVersion)
        return wrong("schema_version", std::to_string(kCheckpointSchemaVersion));
    CheckpointFacts facts;
    const Json steps = json.value("steps", Json()), hash = json.value("plan_hash", Json());
    facts.settings = json.value("settings", Json());
    if (!steps.is_number_unsigned() || steps.get<uint64_t>() > (uint64_t{1} << 62))
        return wrong("steps", "a whole number from 0");
    if (!hash.is_string()) return wrong("plan_hash", "a text");
    if (!facts.settings.is_object()) return wrong("settings", "an object");
    facts.steps = steps.get<int64_t>();
    facts.plan_hash = hash.get<std::string>();
    return facts;
}

Result<void> check_checkpoint_states(const fs::path& folder, const Plan& plan) {
    const std::vector<TensorSpec> specs = state_specs(plan);
    if (specs.empty()) return {};
    HEADROOM_TRY(const SafetensorsFile file, SafetensorsFile::open(folder / kStates));
    for (const TensorSpec& spec : specs) {
        const auto found = file.tensors().find(spec.name);
        if (found == file.tensors().end() || found->second.shape != spec.shape ||
            found->second.dtype != safetensors_dtype(spec.dtype))
            return fail(file.path().string() + ", tensor '" + spec.name + "'",
                        "is missing or of another shape or format",
                        std::string(name_of(spec.dtype)) + ", " + std::to_string(spec.shape[0]) +
                            " values, as the plan says");
    }
    return {};
}

Result<void> load_checkpoint_states(const fs::path& folder, const Plan& plan, Executor& executor,
                                    int64_t steps) {
    executor.set_steps_done(steps);
    const std::vector<TensorSpec> specs = state_specs(plan);
    if (specs.empty()) return {};
    HEADROOM_TRY(const SafetensorsFile file, SafetensorsFile::open(folder / kStates));
    for (const TensorSpec& spec : specs) {
        const std::span<const std::byte> data = file.tensors().find(spec.name)->second.data;
        const at::Tensor state = state_called(executor, spec.name);
        HEADROOM_CHECK(in_pieces(state, [&](int64_t at, at::Tensor piece) -> Result<void> {
            HEADROOM_CHECK(check_interrupt(file.path().string()));
            const at::Tensor here = at::empty({piece.numel()}, at::kByte);
            std::memcpy(here.data_ptr(), data.data() + at, here.nbytes());
            piece.copy_(here);
            return {};
        }));
    }
    return {};
}

}  // namespace headroom::engine
