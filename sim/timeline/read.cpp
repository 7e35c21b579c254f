#include <vector>

#include "base/file.h"
#include "timeline/check.h"
#include "timeline/read_parts.h"
#include "timeline/trace_format.h"

namespace headroom {
namespace {

Result<void> check_counts(const TraceCounts& counts, const Timeline& t, const std::string& where) {
    const struct {
        const char* what;
        int64_t said;
        size_t found;
    } rows[] = {{"ops", counts.ops, t.ops.size()},
                {"waits", counts.waits, t.waits.size()},
                {"samples", counts.samples, t.memory.size()}};
    for (const auto& row : rows) {
        if (row.said != static_cast<int64_t>(row.found)) {
            return fail(fmt::format("{}: otherData, key 'counts.{}'", where, row.what),
                        fmt::format("{} are there", row.found),
                        fmt::format("{}, as the file says itself", row.said));
        }
    }
    return {};
}

Result<Timeline> parse(simdjson::padded_string_view text, const std::string& where) {
    ondemand::parser parser;
    ondemand::document document;
    ondemand::object root;
    if (const auto error = parser.iterate(text).get(document); error) return not_json(where, error);
    if (const auto error = document.get_object().get(root); error) return not_json(where, error);
    const std::vector<std::string> known = {"displayTimeUnit", "otherData", "traceEvents"};
    Timeline timeline;
    TraceCounts counts;
    bool metadata = false, events = false;
    HEADROOM_CHECK(each_field(root, where, [&](std::string_view key, ondemand::value value) -> Result<void> {
        if (key == "otherData" && !metadata) {
            metadata = true;
            HEADROOM_TRY(const ondemand::object object, read_object(value, where, key));
            HEADROOM_TRY(counts, read_metadata(object, where, timeline));
            return {};
        }
        if (key == "traceEvents" && !events) {
            events = true;
            HEADROOM_TRY(const ondemand::array array, read_array(value, where, key));
            return read_events(array, where, timeline);
        }
        if (key == "displayTimeUnit") return read_string(value, where, key).map([](const std::string&) {});
        if (key == "otherData" || key == "traceEvents")
            return fail(at_key(where, key), "it stands there twice");
        return unknown_key(where, key, known);
    }));
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
        return fail(where, "text after the end of the JSON object", "one object");
    if (!metadata) return fail(at_key(where, "otherData"), "it is missing", "a trace written by headroom");
    if (!events) return fail(at_key(where, "traceEvents"), "it is missing", "a trace written by headroom");
    HEADROOM_CHECK(check_counts(counts, timeline, where));
    HEADROOM_CHECK(check_timeline(timeline, where));
    return timeline;
}

}  // namespace

Result<Timeline> parse_timeline(std::string_view json, const std::string& where) {
    const simdjson::padded_string padded(json);
    return parse(padded, where);
}

Result<Timeline> read_timeline(const std::filesystem::path& path) {
    const std::string where = path.string();
    HEADROOM_TRY(std::string text, read_file(path, kTraceLimit_bytes));
    if (text.starts_with("\x1f\x8b")) {
        HEADROOM_TRY(text, gunzip(text, where, kTraceLimit_bytes));
    }
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    return parse(simdjson::padded_string_view(text.data(), text.size(), text.capacity()), where);
}

}  // namespace headroom
