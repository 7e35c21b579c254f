#include <algorithm>
#include <array>
#include <vector>

#include "program/names.h"
#include "timeline/read_parts.h"
#include "timeline/trace_format.h"

namespace headroom {
namespace {

constexpr int64_t kMost32 = UINT32_MAX;
constexpr const char* kOptional = "excerpt";  // all other keys must be there

class MetadataReader {
public:
    MetadataReader(const std::string& where, Timeline& timeline)
        : where_(where + ": otherData"), t_(timeline) {}

    Result<TraceCounts> read(ondemand::object object) {
        HEADROOM_CHECK(version(object));
        const std::vector<std::string> known = {
            "schema_version", "plan",    "source",         "plan_hash", "selection_source", "machine", "date",
            "rates",          "results", "capacity_bytes", "counts",    "traffic",          kOptional};
        std::vector<bool> seen(known.size());
        HEADROOM_CHECK(
            each_field(object, where_, [&](std::string_view key, ondemand::value value) -> Result<void> {
                const auto it = std::find(known.begin(), known.end(), key);
                if (it == known.end()) return unknown_key(where_, key, known);
                if (seen[static_cast<size_t>(it - known.begin())])
                    return fail(at_key(where_, key), "it stands there twice");
                seen[static_cast<size_t>(it - known.begin())] = true;
                return field(key, value);
            }));
        for (size_t i = 0; i < known.size(); ++i) {
            if (!seen[i] && known[i] != kOptional)
                return fail(at_key(where_, known[i]), "it is missing",
                            "all of " + one_of_known({known.begin(), known.end() - 1}));
        }
        return counts_;
    }

private:
    static std::string one_of_known(const std::vector<std::string>& known) {
        std::string list;
        for (const std::string& key : known) list += (list.empty() ? "" : ", ") + key;
        return list;
    }

    // First of all: the keys of another version may mean anything.
    Result<void> version(ondemand::object& object) {
        ondemand::value value;
        if (const auto error = object["schema_version"].get(value); error) {
            if (error != simdjson::NO_SUCH_FIELD) return not_json(where_, error);
            return fail(at_key(where_, "schema_version"), "it is missing", fmt::format("{}", kTraceVersion));
        }
        HEADROOM_TRY(const int64_t version, read_integer(value, where_, "schema_version"));
        if (version != kTraceVersion) {
            return fail(at_key(where_, "schema_version"), fmt::format("version {}", version),
                        fmt::format("{}", kTraceVersion));
        }
        if (const auto error = object.reset().error(); error) return not_json(where_, error);
        return {};
    }

    Result<void> field(std::string_view key, ondemand::value value) {
        const std::pair<const char*, std::string*> texts[] = {{"source", &t_.source},
                                                              {"plan_hash", &t_.plan_hash},
                                                              {"selection_source", &t_.selection_source},
                                                              {"machine", &t_.machine},
                                                              {"date", &t_.date},
                                                              {"rates", &t_.rates},
                                                              {kOptional, &t_.excerpt}};
        for (const auto& [name, text] : texts) {
            if (key != name) continue;
            HEADROOM_TRY(*text, read_string(value, where_, key));
            return {};
        }
        if (key == "plan") return plan(value);
        if (key == "results") return results(value);
        if (key == "capacity_bytes") return capacity(value);
        if (key == "counts") return counts(value);
        if (key == "traffic") return traffic(value);
        return {};  // schema_version
    }

    // The plan's text as it stands in the file, white space around it included.
    Result<void> plan(ondemand::value value) {
        if (value.is_null().value_unsafe()) return {};
        HEADROOM_TRY(ondemand::object object, read_object(value, where_, "plan"));
        std::string_view text;
        if (const auto error = object.raw_json().get(text); error)
            return not_json(at_key(where_, "plan"), error);
        const char* begin = text.data();
        while (begin[-1] != ':') --begin;
        t_.plan.assign(begin, text.data() + text.size());
        return {};
    }

    Result<void> results(ondemand::value value) {
        HEADROOM_TRY(ondemand::object object, read_object(value, where_, "results"));
        for (auto item : object) {
            ondemand::field field;
            std::string_view name;
            if (const auto error = std::move(item).get(field); error)
                return not_json(at_key(where_, "results"), error);
            if (const auto error = field.unescaped_key().get(name); error)
                return not_json(at_key(where_, "results"), error);
            const std::string key = fmt::format("results.{}", name);
            double number = 0;
            if (const auto error = field.value().get_double().get(number); error) {
                return fail(at_key(where_, key), found_text(field.value()), "a finite number");
            }
            if (!t_.results.emplace(name, number).second)
                return fail(at_key(where_, key), "it stands there twice");
        }
        return {};
    }

    Result<void> capacity(ondemand::value value) {
        HEADROOM_TRY(const ondemand::object object, read_object(value, where_, "capacity_bytes"));
        std::array<bool, kTiers> seen{};
        HEADROOM_CHECK(
            each_field(object, where_, [&](std::string_view key, ondemand::value bytes) -> Result<void> {
                HEADROOM_TRY(const Tier tier, parse_tier(key, at_key(where_, "capacity_bytes")));
                HEADROOM_TRY(t_.capacity_bytes[static_cast<size_t>(tier)],
                             read_integer(bytes, where_, fmt::format("capacity_bytes.{}", key)));
                seen[static_cast<size_t>(tier)] = true;
                return {};
            }));
        for (size_t i = 0; i < kTiers; ++i) {
            if (!seen[i])
                return fail(at_key(where_, "capacity_bytes"),
                            fmt::format("no '{}'", name_of(static_cast<Tier>(i))), "one figure a tier");
        }
        return {};
    }

    Result<void> counts(ondemand::value value) {
        HEADROOM_TRY(const ondemand::object object, read_object(value, where_, "counts"));
        const std::vector<std::string> known = {"ops", "waits", "samples"};
        int64_t* const members[] = {&counts_.ops, &counts_.waits, &counts_.samples};
        int found = 0;
        HEADROOM_CHECK(
            each_field(object, where_, [&](std::string_view key, ondemand::value number) -> Result<void> {
                const auto it = std::find(known.begin(), known.end(), key);
                if (it == known.end()) return unknown_key(where_ + ".counts", key, known);
                HEADROOM_TRY(*members[it - known.begin()],
                             read_integer(number, where_, fmt::format("counts.{}", key)));
                found |= 1 << (it - known.begin());
                return {};
            }));
        if (found != 7) return fail(at_key(where_, "counts"), "a count is missing", one_of_known(known));
        return {};
    }

    Result<void> traffic(ondemand::value value) {
        HEADROOM_TRY(const ondemand::object object, read_object(value, where_, "traffic"));
        const std::vector<std::string> known = {"columns", "rows"};
        return each_field(object, where_, [&](std::string_view key, ondemand::value list) -> Result<void> {
            const auto it = std::find(known.begin(), known.end(), key);
            if (it == known.end()) return unknown_key(where_ + ".traffic", key, known);
            HEADROOM_TRY(const ondemand::array array,
                         read_array(list, where_, fmt::format("traffic.{}", key)));
            if (key == "columns") return columns(array);
            return each_element(array, where_, [&](ondemand::value row) { return traffic_row(row); });
        });
    }

    Result<void> columns(ondemand::array array) {
        size_t i = 0;
        const std::string at = at_key(where_, "traffic.columns");
        HEADROOM_CHECK(each_element(array, at, [&](ondemand::value value) -> Result<void> {
            HEADROOM_TRY(const std::string name, read_string(value, at, {}));
            if (i >= kTrafficColumns.size() || name != kTrafficColumns[i]) {
                return fail(
                    at, fmt::format("column {} is '{}'", i, name),
                    i < kTrafficColumns.size() ? fmt::format("'{}'", kTrafficColumns[i]) : "no more columns");
            }
            ++i;
            return {};
        }));
        if (i != kTrafficColumns.size())
            return fail(at, fmt::format("{} columns", i), fmt::format("{}", kTrafficColumns.size()));
        return {};
    }

    Result<void> traffic_row(ondemand::value value) {
        const std::string at = fmt::format("{}, key 'traffic.rows', row {}", where_, t_.traffic.size());
        HEADROOM_TRY(const ondemand::array array, read_array(value, at, {}));
        Traffic row;
        size_t i = 0;
        uint32_t* const narrow[] = {&row.selected,         &row.loaded,       &row.hit,          &row.evicted,
                                    &row.gradients_loaded, &row.written_back, &row.first_touched};
        HEADROOM_CHECK(each_element(array, at, [&](ondemand::value cell) -> Result<void> {
            const size_t column = i++;
            if (column >= kTrafficColumns.size())
                return fail(at, "too many figures", fmt::format("{}", kTrafficColumns.size()));
            if (column == 2) {
                HEADROOM_TRY(const std::string pass, read_string(cell, at, {}));
                HEADROOM_TRY(row.pass, parse_pass(pass, at));
                return {};
            }
            const int64_t most = column == 1 ? kNoLayer : column < 10 ? kMost32 : INT64_MAX;
            HEADROOM_TRY(const int64_t number, read_integer(cell, at, {}, 0, most));
            if (column == 0)
                row.chunk = static_cast<uint32_t>(number);
            else if (column == 1)
                row.layer = static_cast<uint16_t>(number);
            else if (column < 10)
                *narrow[column - 3] = static_cast<uint32_t>(number);
            else
                (column == 10 ? row.loaded_bytes : row.written_bytes) = number;
            return {};
        }));
        if (i != kTrafficColumns.size())
            return fail(at, fmt::format("{} figures", i), fmt::format("{}", kTrafficColumns.size()));
        t_.traffic.push_back(row);
        return {};
    }

    std::string where_;
    Timeline& t_;
    TraceCounts counts_;
};

}  // namespace

Result<TraceCounts> read_metadata(ondemand::object object, const std::string& where, Timeline& timeline) {
    return MetadataReader(where, timeline).read(object);
}

}  // namespace headroom
