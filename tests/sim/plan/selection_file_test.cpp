#include <unistd.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "plan/selection.h"

namespace headroom {
namespace {

using Json = nlohmann::json;

RecordedSelection small_record() {
    return {"a run", 128, 4096, 64, 128, 2, 3, {0, 0, 0, 3, 6, 9, 11}, {0, 1, 4, 0, 2, 31, 0, 7, 40, 0, 63}};
}

RC_GTEST_PROP(SelectionFile, WhatIsWrittenReadsBackEqual, ()) {
    RecordedSelection r;
    r.source = *rc::gen::container<std::string>(rc::gen::inRange<char>(32, 127));
    r.page = *rc::gen::inRange(1, 300);
    r.chunk = r.page * *rc::gen::inRange(1, 9);
    r.budget = *rc::gen::inRange(1, 99), r.block = *rc::gen::inRange(1, 99);
    r.layers = *rc::gen::inRange(1, 4), r.chunks = *rc::gen::inRange(1, 9);
    r.begin.push_back(0);
    for (int64_t row = 0; row < r.layers * r.chunks; ++row) {
        const int64_t past = row / r.layers * (r.chunk / r.page);
        for (int64_t page = 0; page < past; ++page) {
            if (*rc::gen::arbitrary<bool>()) r.pages.push_back(static_cast<uint32_t>(page));
        }
        r.begin.push_back(static_cast<uint32_t>(r.pages.size()));
    }
    const std::string text = write_selection(r);
    const auto plain = parse_selection(text, "s.json"), packed = parse_selection(gzip(text), "s.json.gz");
    RC_ASSERT(plain.has_value());
    RC_ASSERT(*plain == r);
    RC_ASSERT(packed.has_value());
    RC_ASSERT(*packed == r);
}

TEST(SelectionFile, ReadsAFile) {
    const auto path = std::filesystem::path(testing::TempDir()) /
                      ("headroom_selection." + std::to_string(getpid()) + ".json");
    std::ofstream(path) << write_selection(small_record());
    const auto r = read_selection(path);
    ASSERT_TRUE(r) << r.error().text();
    EXPECT_EQ(*r, small_record());
    std::filesystem::remove(path);
    EXPECT_FALSE(read_selection(path));
}

struct Wrong {
    const char *name, *pointer;
    Json value;
    const char *key, *found, *allowed;
};
void PrintTo(const Wrong& w, std::ostream* out) {
    *out << w.name;
}

const Wrong wrongs[] = {
    {"version", "/schema_version", 2, "schema_version", "2", "1, the version"},
    {"page", "/page_tokens", 0, "page_tokens", "0", "1 to"},
    {"chunk", "/chunk_tokens", 4100, "chunk_tokens", "4100", "multiple of the page, 128"},
    {"layers", "/layers", 3, "rows", "6 rows", "9 rows, one for each of 3 chunks in 3 layers"},
    {"too_many_rows", "/chunks", 1 << 25, "chunks", "33554432 chunks of 2 layers", "at most 33554432 rows"},
    {"rows_no_list", "/rows", "x", "rows", "a string 'x'", "a list"},
    {"row_no_list", "/rows/3", 4, "rows[3]", "4", "a list"},
    {"row_of_text", "/rows/3", Json::array({"1"}), "rows[3][0]", "'1'", "whole number"},
    {"first_chunk_has_no_past", "/rows/0", Json::array({0}), "rows[0]", "0", "nothing lies before"},
    {"not_past", "/rows/2", Json::array({0, 32}), "rows[2]", "32", "1 to 31"},
    {"descending", "/rows/4", Json::array({5, 4}), "rows[4]", "4", "6 to 63"},
    {"twice", "/rows/4", Json::array({5, 5}), "rows[4]", "5", "6 to 63"},
    {"negative", "/rows/4", Json::array({-1}), "rows[4]", "-1", "0 to 63"},
    {"huge", "/rows/4", Json::array({UINT64_MAX}), "rows[4][0]", "1844674407370955", "whole number"},
    {"fraction", "/rows/4", Json::array({0.5}), "rows[4][0]", "0.5", "whole number"},
    {"unknown", "/rowss", 1, "rowss", "did you mean 'rows'", "'layers'"},
};

class WrongSelection : public testing::TestWithParam<Wrong> {};

TEST_P(WrongSelection, IsOneClearError) {
    const Wrong& w = GetParam();
    Json json = Json::parse(write_selection(small_record()));
    json[Json::json_pointer(w.pointer)] = w.value;
    const auto r = parse_selection(json.dump(), "s.json");
    ASSERT_FALSE(r);
    EXPECT_NE(r.error().where.find("key '" + std::string(w.key) + "'"), std::string::npos)
        << r.error().text();
    EXPECT_NE(r.error().found.find(w.found), std::string::npos) << r.error().text();
    EXPECT_NE(r.error().allowed.find(w.allowed), std::string::npos) << r.error().text();
}

INSTANTIATE_TEST_SUITE_P(Inputs, WrongSelection, testing::ValuesIn(wrongs),
                         [](const auto& test) { return std::string(test.param.name); });

// Page numbers are kept in 32 bits.
TEST(SelectionFile, PagesEndBelow32Bits) {
    Json json = Json::parse(write_selection(small_record()));
    json["page_tokens"] = 1, json["chunk_tokens"] = 1 << 30;
    json["layers"] = 1, json["chunks"] = 4;
    json["rows"] = {Json::array(), Json::array(), Json::array(), {int64_t{3} << 30}};
    const auto r = parse_selection(json.dump(), "s.json");
    ASSERT_FALSE(r);
    EXPECT_NE(r.error().found.find("4294967296 pages"), std::string::npos) << r.error().text();
    json["chunks"] = 3, json["rows"].erase(0);
    json["rows"][2][0] = (int64_t{2} << 30) - 1;
    const auto most = parse_selection(json.dump(), "s.json");
    ASSERT_TRUE(most) << most.error().text();
    EXPECT_EQ(most->pages, std::vector<uint32_t>{0x7fffffff});
}

TEST(SelectionFile, BrokenTextIsAnError) {
    const std::string text = write_selection(small_record()), packed = gzip(text);
    for (size_t size = 0; size + 2 < text.size(); ++size) {
        ASSERT_FALSE(parse_selection(std::string_view(text).substr(0, size), "s.json")) << size;
    }
    for (size_t size = 2; size < packed.size(); ++size) {
        ASSERT_FALSE(parse_selection(std::string_view(packed).substr(0, size), "s.json.gz")) << size;
    }
}

}  // namespace
}  // namespace headroom
