#include <vector>

#include "base/file.h"
#include "timeline/check.h"
#include "timeline/read_parts.h"
#include "timeline/trace_format.h"
#include "timeline/unpacking.h"

namespace headroom {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";

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

std::optional<Timeline> read_in_pieces_of(std::string_view text, const std::string& where) {
    if (text.starts_with(kGzip)) {
        Unpacking unpacking(text, where, kTraceLimit_bytes);
        return read_in_pieces([&](std::span<char> into) { return unpacking.next(into); }, where);
    }
    return read_in_pieces(
        [&](std::span<char> into) -> Result<size_t> {
            const size_t n = text.copy(into.data(), into.size());
            text.remove_prefix(n);
            return n;
        },
        where);
}

Result<Timeline> read_whole(simdjson::padded_string_view text, const std::string& where) {
    HEADROOM_TRY(TraceParts parts, read_parts(text, where));
    return finish(std::move(parts), where);
}

}  // namespace

Result<TraceParts> read_parts(simdjson::padded_string_view text, const std::string& where) {
    ondemand::parser parser;
    ondemand::document document;
    ondemand::object root;
    if (const auto error = parser.iterate(text).get(document); error) return not_json(where, error);
    if (const auto error = document.get_object().get(root); error) return not_json(where, error);
    const std::vector<std::string> known = {"displayTimeUnit", "otherData", "traceEvents"};
    TraceParts parts;
    HEADROOM_CHECK(each_field(root, where, [&](std::string_view key, ondemand::value value) -> Result<void> {
        if (key == "otherData" && !parts.metadata) {
            parts.metadata = true;
            HEADROOM_TRY(const ondemand::object object, read_object(value, where, key));
            HEADROOM_TRY(parts.counts, read_metadata(object, where, parts.timeline));
            return {};
        }
        if (key == "traceEvents" && !parts.events) {
            parts.events = true;
            HEADROOM_TRY(const ondemand::array array, read_array(value, where, key));
            return EventsReader(where, parts.timeline).read(array);
        }
        if (key == "displayTimeUnit") return read_string(value, where, key).map([](const std::string&) {});
        if (key == "otherData" || key == "traceEvents")
            return fail(at_key(where, key), "it stands there twice");
        return unknown_key(where, key, known);
    }));
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
        return fail(where, "text after the end of the JSON object", "one object");
    return parts;
}

Result<Timeline> finish(TraceParts parts, const std::string& where) {
    if (!parts.metadata)
        return fail(at_key(where, "otherData"), "it is missing", "a trace written by headroom");
    if (!parts.events)
        return fail(at_key(where, "traceEvents"), "it is missing", "a trace written by headroom");
    HEADROOM_CHECK(check_counts(parts.counts, parts.timeline, where));
    HEADROOM_CHECK(check_timeline(parts.timeline, where));
    return std::move(parts.timeline);
}

Result<Timeline> parse_timeline(std::string_view json, const std::string& where) {
    const simdjson::padded_string padded(json);
    return read_whole(padded, where);
}

Result<Timeline> read_timeline(const std::filesystem::path& path) {
    const std::string where = path.string();
    HEADROOM_TRY(std::string text, read_file(path, kTraceLimit_bytes));
    if (auto timeline = read_in_pieces_of(text, where)) return std::move(*timeline);
    if (text.starts_with(kGzip)) {
        HEADROOM_TRY(text, gunzip(text, where, kTraceLimit_bytes));
    }
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    return read_whole(simdjson::padded_string_view(text.data(), text.size(), text.capacity()), where);
}

}  // namespace headroom
