#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "plan/read_parts.h"
#include "plan/reader.h"
#include "plan/selection.h"

namespace headroom {
namespace {

constexpr int kSchemaVersion = 1;
constexpr int64_t kMaxFile = 2 * kGiB;
constexpr int64_t kMaxRows = int64_t{1} << 25;
constexpr size_t kMaxPages = size_t{1} << 26;
constexpr int64_t kMaxPageNumber = UINT32_MAX;

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Appends one row: page numbers that ascend and lie below `past`.
Result<void> read_row(const ConfigValue& row, int64_t past, std::vector<uint32_t>& pages) {
    HEADROOM_TRY(const std::vector<int64_t> list, row.as<std::vector<int64_t>>());
    if (pages.size() + list.size() > kMaxPages) {
        return fail(row.place(), fmt::format("more than {} page numbers in the file", kMaxPages),
                    "fewer layers or chunks");
    }
    int64_t least = 0;
    for (const int64_t page : list) {
        if (page < least || page >= past) {
            return fail(row.place(), fmt::format("page {}", page),
                        past == 0 ? "no page: nothing lies before the first chunk"
                                  : fmt::format("ascending page numbers before the chunk, here {} to {}",
                                                least, past - 1));
        }
        pages.push_back(static_cast<uint32_t>(page));
        least = page + 1;
    }
    return {};
}

Result<void> read_rows(TableReader& table, RecordedSelection& out) {
    HEADROOM_TRY(const ConfigValue value, table.need("rows"));
    HEADROOM_TRY(const std::vector<ConfigValue> rows, value.items());
    const int64_t count = out.chunks * out.layers;
    if (std::ssize(rows) != count) {
        return fail(
            value.place(), fmt::format("{} rows", rows.size()),
            fmt::format("{} rows, one for each of {} chunks in {} layers", count, out.chunks, out.layers));
    }
    out.begin.push_back(0);
    for (int64_t r = 0; r < count; ++r) {
        HEADROOM_CHECK(read_row(rows[r], r / out.layers * (out.chunk / out.page), out.pages));
        out.begin.push_back(static_cast<uint32_t>(out.pages.size()));
    }
    return {};
}

}  // namespace

Result<RecordedSelection> read_record(TableReader& table) {
    RecordedSelection out;
    int64_t version = 0;
    HEADROOM_CHECK(table.read("schema_version", version));
    if (version != kSchemaVersion) {
        return fail(table.place("schema_version"), fmt::format("{}", version),
                    fmt::format("{}, the version that this build reads", kSchemaVersion));
    }
    const Range sizes{1, static_cast<double>(int64_t{1} << 30)};
    HEADROOM_CHECK(table.read("source", out.source));
    HEADROOM_CHECK(table.read("page_tokens", out.page, sizes));
    HEADROOM_CHECK(table.read("chunk_tokens", out.chunk, sizes));
    HEADROOM_CHECK(table.read("budget_pages", out.budget, sizes));
    HEADROOM_CHECK(table.read("block_tokens", out.block, sizes));
    HEADROOM_CHECK(table.read("layers", out.layers, Range{1, 1 << 14}));
    HEADROOM_CHECK(table.read("chunks", out.chunks, Range{1, 1 << 25}));
    if (out.chunk % out.page != 0) {
        return fail(table.place("chunk_tokens"), fmt::format("{}", out.chunk),
                    fmt::format("a multiple of the page, {} tokens", out.page));
    }
    if (out.chunks * out.layers > kMaxRows) {
        return fail(table.place("chunks"), fmt::format("{} chunks of {} layers", out.chunks, out.layers),
                    fmt::format("at most {} rows", kMaxRows));
    }
    if (const int64_t pages = out.chunks * (out.chunk / out.page); pages > kMaxPageNumber) {
        return fail(table.place("chunks"), fmt::format("{} chunks, {} pages", out.chunks, pages),
                    fmt::format("at most {} pages", kMaxPageNumber));
    }
    HEADROOM_CHECK(read_rows(table, out));
    HEADROOM_CHECK(table.finish());
    return out;
}

Result<RecordedSelection> parse_selection(std::string_view json, const std::string& where) {
    std::string unpacked;
    if (json.starts_with("\x1f\x8b")) {
        HEADROOM_TRY(unpacked, gunzip(json, where, kMaxFile));
        json = unpacked;
    }
    HEADROOM_TRY(ConfigTable table, parse_json(json, where));
    TableReader root(std::move(table), Form::plan);
    return read_record(root);
}

Result<RecordedSelection> read_selection(const std::filesystem::path& path) {
    HEADROOM_TRY(const std::string text, read_file(path, kMaxFile));
    return parse_selection(text, path.string());
}

std::string write_selection(const RecordedSelection& s) {
    fmt::memory_buffer out;
    auto to = std::back_inserter(out);
    fmt::format_to(to,
                   "{{\n  \"schema_version\": {},\n  \"source\": {},\n  \"page_tokens\": {},\n"
                   "  \"chunk_tokens\": {},\n  \"budget_pages\": {},\n  \"block_tokens\": {},\n"
                   "  \"layers\": {},\n  \"chunks\": {},\n  \"rows\": [",
                   kSchemaVersion, quoted(s.source), s.page, s.chunk, s.budget, s.block, s.layers, s.chunks);
    for (size_t r = 0; r + 1 < s.begin.size(); ++r) {
        fmt::format_to(to, "{}\n    [", r == 0 ? "" : ",");
        for (uint32_t i = s.begin[r]; i < s.begin[r + 1]; ++i) {
            fmt::format_to(to, "{}{}", i == s.begin[r] ? "" : ", ", s.pages[i]);
        }
        fmt::format_to(to, "]");
    }
    fmt::format_to(to, "\n  ]\n}}\n");
    return fmt::to_string(out);
}

}  // namespace headroom
