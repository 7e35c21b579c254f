#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/file.h"
#include "base/toml.h"
#include "plan/check.h"
#include "plan/names.h"
#include "plan/overrides.h"
#include "plan/plan.h"
#include "plan/read_decisions.h"
#include "plan/read_parts.h"
#include "plan/reader.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

// A path in a scenario is relative to the scenario's folder; a name without a slash or an ending is a shipped
// one.
std::string resolve(const std::string& name, const fs::path& folder) {
    const bool is_path = name.find('/') != name.npos || name.ends_with(".json") || name.ends_with(".toml");
    std::error_code ignored;
    if (is_path && fs::exists(folder / name, ignored)) return (folder / name).string();
    return name;
}

// Errors of a file that a key names start with the place of the key.
template <class T>
Result<T> named_by(const std::string& place, Result<T> result) {
    if (!result && result.error().where != place) {
        std::string& where = result.error().where;
        where = where.empty() ? place : place + ": " + where;
    }
    return result;
}

Result<void> read_what_and_where(TableReader& root, const fs::path& folder, const fs::path& data,
                                 Scenario& out) {
    std::string model, hardware;
    HEADROOM_CHECK(root.read("title", out.title));
    // A misspelt key is told before the one that is missing because of it.
    for (const char* key : {"gpus", "budget", "training", "plan", "search", "selection"}) root.allow(key);
    for (const char* key : {"model", "hardware", "context"}) root.allow(key);
    HEADROOM_CHECK(root.finish());
    for (const char* key : {"model", "hardware", "context"}) HEADROOM_CHECK(root.need(key));
    HEADROOM_CHECK(root.read("model", model));
    HEADROOM_CHECK(root.read("hardware", hardware));
    HEADROOM_CHECK(root.read("context", out.plan.context));
    HEADROOM_TRY(out.plan.model, named_by(root.place("model"), read_model(resolve(model, folder), data)));
    HEADROOM_TRY(out.plan.hardware,
                 named_by(root.place("hardware"), read_hardware(resolve(hardware, folder), data)));
    HEADROOM_CHECK(root.read("gpus", out.gpus));
    if (out.gpus < 1 || out.gpus > out.plan.hardware.max_gpus) {
        return fail(root.place("gpus"), fmt::format("{}", out.gpus),
                    fmt::format("1 to {} GPUs, what the peer link of {} joins", out.plan.hardware.max_gpus,
                                out.plan.hardware.name));
    }
    return {};
}

Result<void> read_budget(TableReader& root, Plan& plan) {
    plan.budget = {plan.hardware.device_memory, plan.hardware.pinnable_memory, plan.hardware.disk_memory};
    HEADROOM_TRY(std::optional<TableReader> table, root.table("budget"));
    if (!table) return {};
    HEADROOM_CHECK(table->read("device", plan.budget.device));
    HEADROOM_CHECK(table->read("host", plan.budget.host));
    HEADROOM_CHECK(table->read("disk", plan.budget.disk));
    return table->finish();
}

Result<void> read_search(TableReader& root, Scenario& out) {
    HEADROOM_TRY(std::optional<TableReader> table, root.table("search"));
    if (!table) return {};
    std::vector<std::string> keys;
    HEADROOM_CHECK(table->read("may_change", keys));
    const auto& known = trained_result_keys();
    for (const std::string& key : keys) {
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            return fail(table->place("may_change"), with_nearest(key, known), one_of(known));
        }
        if (out.fixed.contains(key)) {
            return fail(table->place("may_change"), "'" + key + "', which [plan] fixes",
                        "a decision that [plan] leaves open");
        }
        out.may_change.insert(key);
    }
    return table->finish();
}

Result<void> read_selection_part(TableReader& root, const fs::path& folder, SelectionModel& out) {
    out.spread = kSpread;
    HEADROOM_TRY(std::optional<TableReader> table, root.table("selection"));
    if (!table) return {};
    std::string file;
    HEADROOM_CHECK(table->read("file", file));
    HEADROOM_CHECK(read_selection_model(*table, out));
    HEADROOM_CHECK(table->finish());
    if (file.empty()) return {};
    HEADROOM_TRY(RecordedSelection recorded, named_by(table->place("file"), read_selection(folder / file)));
    out.source = recorded.source;
    out.recorded = std::make_shared<const RecordedSelection>(std::move(recorded));
    return {};
}

// Defaults that contradict what is fixed give way to the nearest value that does not.
void settle_open_decisions(Scenario& s) {
    Plan& p = s.plan;
    Decisions& d = p.decisions;
    const auto open = [&](const char* key) { return !s.fixed.contains(key); };
    const auto multiple = [](Tokens& size, int64_t step) {
        if (step > 0 && step <= kMaxContext) size = Tokens(round_up(size.count(), step));
    };
    if (open("page") && !open("chunk") && d.chunk.count() > 0 && d.chunk.count() % 8 == 0) {
        d.page = Tokens(std::gcd(d.chunk.count(), d.page.count()));
    }
    const int64_t page = d.page.count();
    if (open("chunk")) {
        multiple(d.chunk, page);
        const int64_t block = d.attention.block;
        if (d.attention.sparse && page > 0 && page <= 4096 && block > 0 && block <= kMaxChunk) {
            multiple(d.chunk, std::lcm(page, block));
        }
    }
    if (open("segment")) {
        // Long calls run faster, but a deterministic one's workspace grows with its keys.
        d.segment = d.deterministic ? Tokens(8192) : Tokens(131072);
        multiple(d.segment, page);
    }
    if (open("staging_slots"))
        d.staging_slots = std::max(d.staging_slots, std::min<int64_t>(d.prefetch, 1023) + 1);
    if (open("prefetch")) d.prefetch = std::max<int64_t>(0, std::min(d.prefetch, d.staging_slots - 1));
    for (const auto& [key, r] :
         {std::pair{"kv", d.kv_residency}, {"kv_gradients", d.kv_gradient_residency}}) {
        if (r.disk_chunks == kAllChunks) s.all_on_disk.insert(key);
    }
    settle_all_chunks(p);
}

// Relations are checked as for any plan; the place of the key that is named becomes its line.
Result<void> check_scenario(const Scenario& s, const ConfigTable& file) {
    const Decisions& d = s.plan.decisions;
    if (s.plan.gpus > s.gpus) {
        return fail(place_of(file, d.tensor_ranks > 1 ? "plan.tensor_ranks" : "plan.ring_ranks"),
                    fmt::format("{} x {} ranks", d.tensor_ranks, d.ring_ranks),
                    fmt::format("degrees whose product is at most the {} GPUs of the scenario", s.gpus));
    }
    Result<void> checked = check_plan(s.plan, "");
    if (!checked) {
        std::string& where = checked.error().where;
        const size_t begin = where.find('\'');
        where =
            begin == where.npos ? s.path : place_of(file, where.substr(begin + 1, where.size() - begin - 2));
    }
    return checked;
}

Result<Scenario> read_all(const ConfigTable& file, const std::string& where, const fs::path& folder,
                          const fs::path& data) {
    Scenario s;
    s.path = where;
    s.name = s.plan.name = fs::path(where).stem().string();
    TableReader root(file, Form::scenario);
    HEADROOM_CHECK(read_what_and_where(root, folder, data, s));
    HEADROOM_CHECK(read_budget(root, s.plan));
    HEADROOM_TRY(std::optional<TableReader> training, root.table("training"));
    if (training) HEADROOM_CHECK(read_recipe(*training, s.plan.recipe));
    HEADROOM_TRY(std::optional<TableReader> decisions, root.table("plan"));
    if (decisions) {
        HEADROOM_CHECK(read_decisions(*decisions, s.plan.model.layer_count(), s.plan.decisions, s.fixed));
    }
    HEADROOM_CHECK(read_search(root, s));
    HEADROOM_CHECK(read_selection_part(root, folder, s.plan.selection));
    HEADROOM_CHECK(root.finish());
    settle_open_decisions(s);
    for (const std::string& key : s.fixed) s.places["plan." + key] = place_of(file, "plan." + key);
    const Decisions& d = s.plan.decisions;
    s.plan.gpus = checked_mul(d.tensor_ranks, d.ring_ranks);
    HEADROOM_CHECK(check_scenario(s, file));
    return s;
}

}  // namespace

Error with_places(Error error, const Scenario& s) {
    for (std::string* text : {&error.where, &error.found}) {
        for (const auto& [key, place] : s.places) {
            const std::string name = "key '" + key + "'";
            for (size_t at = text->find(name); at != std::string::npos; at = text->find(name, at)) {
                // A place ends with the key itself: one that has its file and line already stays.
                if (at >= 2 && text->compare(at - 2, 2, ", ") == 0) {
                    at += name.size();
                    continue;
                }
                text->replace(at, name.size(), place);
                at += place.size();
            }
        }
    }
    return error;
}

void keep_on_disk(const Scenario& s, Tokens context, Decisions& d) {
    const int64_t chunks = ceil_div(context.count(), d.chunk.count());
    if (s.all_on_disk.contains("kv")) d.kv_residency.disk_chunks = chunks;
    if (s.all_on_disk.contains("kv_gradients")) d.kv_gradient_residency.disk_chunks = chunks;
}

Result<Scenario> parse_scenario(std::string_view toml, const std::string& where, const fs::path& folder,
                                const fs::path& data, const std::vector<std::string>& overrides) {
    try {
        HEADROOM_TRY(const ConfigTable file, parse_toml(toml, where));
        HEADROOM_TRY(const ConfigTable changed, apply_overrides(file, overrides));
        return read_all(changed, where, folder, data);
    } catch (const Overflow& e) {
        return fail(where, e.what(), "smaller sizes");
    }
}

Result<Scenario> read_scenario(const fs::path& path, const fs::path& data,
                               const std::vector<std::string>& overrides) {
    HEADROOM_TRY(const std::string text, read_file(path, kMiB));
    return parse_scenario(text, path.string(), path.parent_path(), data, overrides);
}

bool planner_decides(const Scenario& scenario, const std::string& key) {
    if (scenario.fixed.contains(key)) return false;
    // Chunk and page change the result only where they decide which keys are attended.
    static const std::set<std::string> always{"attention", "honour_windows", "weights_dtype", "kv_dtype",
                                              "kv_gradients_dtype"};
    const bool changes_result = always.contains(key) || ((key == "page" || key == "chunk") &&
                                                         scenario.plan.decisions.attention.sparse);
    return !changes_result || scenario.may_change.contains(key);
}

}  // namespace headroom
