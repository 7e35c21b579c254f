#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "plan/plan.h"
#include "plan/read_decisions.h"
#include "plan/read_parts.h"
#include "plan/reader.h"

namespace headroom {
namespace {

constexpr int64_t kMaxPlanFile = 2 * kGiB;

// First of all keys: another version may mean anything by the others.
Result<void> read_version(TableReader& root) {
    int64_t version = 0;
    HEADROOM_CHECK(root.read("schema_version", version));
    if (version == kPlanSchemaVersion) return {};
    return fail(root.place("schema_version"), fmt::format("{}", version),
                fmt::format("{}, the version that this build reads", kPlanSchemaVersion));
}

// A table below the root, which every plan file has.
Result<TableReader> need_table(TableReader& root, const char* key) {
    HEADROOM_TRY(const ConfigValue value, root.need(key));
    return TableReader::open(value, Form::plan);
}

Result<void> read_selection_part(TableReader& root, SelectionModel& out) {
    HEADROOM_TRY(TableReader table, need_table(root, "selection"));
    HEADROOM_CHECK(read_selection_model(table, out));
    HEADROOM_CHECK(table.finish());
    const std::optional<ConfigValue> record = root.find_optional("recorded_selection");
    if (!record) return {};
    HEADROOM_TRY(TableReader rows, TableReader::open(*record, Form::plan));
    HEADROOM_TRY(RecordedSelection recorded, read_record(rows));
    out.recorded = std::make_shared<const RecordedSelection>(std::move(recorded));
    return {};
}

Result<Plan> read_all(TableReader& root) {
    Plan out;
    HEADROOM_CHECK(read_version(root));
    HEADROOM_CHECK(root.read("name", out.name));
    HEADROOM_CHECK(root.read("context_tokens", out.context));
    HEADROOM_CHECK(root.read("gpus", out.gpus));
    HEADROOM_TRY(TableReader budget, need_table(root, "budget"));
    HEADROOM_CHECK(budget.read("device_bytes", out.budget.device));
    HEADROOM_CHECK(budget.read("host_bytes", out.budget.host));
    HEADROOM_CHECK(budget.read("disk_bytes", out.budget.disk));
    HEADROOM_CHECK(budget.finish());
    HEADROOM_TRY(TableReader training, need_table(root, "training"));
    HEADROOM_CHECK(read_recipe(training, out.recipe));
    HEADROOM_TRY(TableReader model, need_table(root, "model"));
    HEADROOM_CHECK(read_model_object(model, out.model));
    HEADROOM_TRY(TableReader hardware, need_table(root, "hardware"));
    HEADROOM_CHECK(read_hardware_object(hardware, out.hardware));
    HEADROOM_TRY(TableReader decisions, need_table(root, "plan"));
    std::set<std::string> all;
    HEADROOM_CHECK(read_decisions(decisions, out.model.layer_count(), out.decisions, all));
    settle_all_chunks(out);
    HEADROOM_CHECK(read_selection_part(root, out.selection));
    HEADROOM_CHECK(root.finish());
    return out;
}

}  // namespace

Result<Plan> parse_plan(std::string_view json, const std::string& where) {
    try {
        HEADROOM_TRY(ConfigTable table, parse_json(json, where));
        TableReader root(std::move(table), Form::plan);
        HEADROOM_TRY(Plan plan, read_all(root));
        HEADROOM_CHECK(check_plan(plan, where));
        return plan;
    } catch (const Overflow& e) {
        return fail(where, e.what(), "smaller sizes");
    }
}

Result<Plan> read_plan(const std::filesystem::path& path) {
    HEADROOM_TRY(const std::string text, read_file(path, kMaxPlanFile));
    return parse_plan(text, path.string());
}

}  // namespace headroom
