#include "gui/app/sidecar.h"

#include <gtest/gtest.h>

namespace headroom::gui::test {
namespace {

TEST(Sidecar, ReadsWhatItWrote) {
    Sidecar s{
        "memory", {{"context", "2Mi"}, {"plan.chunk", "8Ki"}}, TimeRange{5, 900}, TimeRange{10, 20}, 42};
    const Result<Sidecar> back = parse_sidecar(format_sidecar(s), "f");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, s);
    const Result<Sidecar> none = parse_sidecar(format_sidecar({}), "f");
    ASSERT_TRUE(none);
    EXPECT_EQ(*none, Sidecar{});
}

TEST(Sidecar, WrongOnesNameTheKey) {
    const std::pair<const char*, const char*> wrong[] = {
        {"", "f"},
        {"[]", "f"},
        {"{}", "schema_version"},
        {"{\"schema_version\": 2}", "schema_version"},
        {"{\"schema_version\": 1, \"view\": 3}", "view"},
        {"{\"schema_version\": 1, \"knobs\": {\"a\": 1}}", "a"},
        {"{\"schema_version\": 1, \"range_ns\": [9, 3]}", "range_ns"},
        {"{\"schema_version\": 1, \"marked_ns\": [1, 2, 3]}", "marked_ns"},
        {"{\"schema_version\": 1, \"selected_op\": -1}", "selected_op"},
        {"{\"schema_version\": 1, \"selectd_op\": 1}", "selectd_op"}};
    for (const auto& [text, key] : wrong) {
        const Result<Sidecar> read = parse_sidecar(text, "f");
        ASSERT_FALSE(read) << text;
        EXPECT_NE(read.error().text().find(key), std::string::npos) << read.error().text();
    }
}

}  // namespace
}  // namespace headroom::gui::test
