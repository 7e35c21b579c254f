#include "plan/read_decisions.h"

namespace headroom {
namespace {

constexpr const char* kAttentionForms =
    "\"dense\", \"sparse\" or { kind = \"sparse\", budget = 64, block = 128, sink = 1, local = 8, waiting = "
    "0 }";
constexpr const char* kResidencyForms =
    "\"device\", \"host\", \"disk\" or { device_layers = 26, device_chunks = 0, disk_chunks = 0 }";

// A word of a few; `forms` says what else is allowed.
Result<std::string> read_word(const ConfigValue& value, const std::vector<std::string>& words,
                              const char* forms) {
    if (!value.is_string()) return value.wrong(forms);
    HEADROOM_TRY(std::string word, value.as<std::string>());
    if (std::find(words.begin(), words.end(), word) != words.end()) return word;
    return fail(value.place(), with_nearest(word, words), forms);
}

Result<void> read_kind(const ConfigValue& value, const char* forms, bool& sparse) {
    HEADROOM_TRY(const std::string word, read_word(value, {"dense", "sparse"}, forms));
    sparse = word == "sparse";
    return {};
}

// A table without a kind says by its other keys that attention is sparse.
Result<void> read_decision(const ConfigValue& value, Form form, int64_t, Attention& out) {
    out = Attention{};
    if (!value.is_table()) return read_kind(value, kAttentionForms, out.sparse);
    HEADROOM_TRY(TableReader table, TableReader::open(value, form));
    HEADROOM_TRY(const std::optional<ConfigValue> kind, table.find("kind"));
    out.sparse = true;
    if (kind) HEADROOM_CHECK(read_kind(*kind, "'dense' or 'sparse'", out.sparse));
    const bool units = form == Form::plan;
    HEADROOM_CHECK(table.read(units ? "budget_pages" : "budget", out.budget));
    HEADROOM_CHECK(table.read(units ? "block_tokens" : "block", out.block));
    HEADROOM_CHECK(table.read(units ? "sink_pages" : "sink", out.sink));
    HEADROOM_CHECK(table.read(units ? "local_pages" : "local", out.local));
    const std::string waiting = units ? "waiting_pages" : "waiting";
    if (table.find_optional(waiting)) HEADROOM_CHECK(table.read(waiting, out.waiting));
    return table.finish();
}

Result<void> read_decision(const ConfigValue& value, Form form, int64_t layers, Residency& out) {
    out = Residency{};
    if (!value.is_table()) {
        HEADROOM_TRY(const std::string word, read_word(value, {"device", "host", "disk"}, kResidencyForms));
        if (word == "device") out.device_layers = layers;
        if (word == "disk") out.disk_chunks = kAllChunks;
        return {};
    }
    HEADROOM_TRY(TableReader table, TableReader::open(value, form));
    HEADROOM_CHECK(table.read("device_layers", out.device_layers));
    HEADROOM_CHECK(table.read("device_chunks", out.device_chunks));
    HEADROOM_CHECK(table.read("disk_chunks", out.disk_chunks));
    return table.finish();
}

template <class T>
Result<void> read_decision(const ConfigValue& value, Form, int64_t, T& out) {
    return read_value(value, out);
}

}  // namespace

Result<void> read_decisions(TableReader& table, int64_t layers, Decisions& out,
                            std::set<std::string>& fixed) {
    const auto read = [&](const char* name, auto& member) -> Result<void> {
        using T = std::decay_t<decltype(member)>;
        HEADROOM_TRY(const std::optional<ConfigValue> value,
                     table.find(decision_key<T>(name, table.form() == Form::plan)));
        if (!value || (table.form() == Form::scenario && value->as<std::string>() == "auto")) return {};
        fixed.insert(name);
        return read_decision(*value, table.form(), layers, member);
    };
    Result<void> status;
    visit_decisions(out, [&](const char* name, auto& member) {
        if (status) status = read(name, member);
    });
    HEADROOM_CHECK(status);
    return table.finish();
}

void settle_all_chunks(Plan& plan) {
    for (Residency* r : {&plan.decisions.kv_residency, &plan.decisions.kv_gradient_residency}) {
        if (r->disk_chunks == kAllChunks && plan.decisions.chunk.count() > 0) r->disk_chunks = plan.chunks();
    }
}

}  // namespace headroom
