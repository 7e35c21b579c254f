#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/timeline/hand_made.h"

namespace headroom {
namespace {

using nlohmann::json;

// Another JSON library reads the text: the format is what its page says, not just what our reader takes.
json events_of(const Timeline& t, const char* type) {
    const json text = json::parse(format_timeline(t));
    json found = json::array();
    for (const json& event : text["traceEvents"]) {
        if (event["ph"] == type) found.push_back(event);
    }
    return found;
}

TEST(Format, AnOpIsACompleteEvent) {
    const json ops = events_of(small_step(), "X");
    ASSERT_EQ(ops.size(), 4u);
    EXPECT_EQ(ops[1], json::parse(R"({"ph":"X","pid":1,"tid":2,"name":"load_pages","ts":0.5,"dur":2.0,"args":
        {"id":1,"pass":"fill","chunk":3,"layer":7,"piece":2,"sequence":1,"bytes":512,"flops":0}})"));
    EXPECT_EQ(ops[2],
              json::parse(R"({"ph":"X","pid":1,"tid":1,"name":"attention_past","ts":2.5,"dur":1.501,"args":
        {"id":2,"pass":"gradient","chunk":3,"layer":7,"bytes":4096,"flops":1099511627776,"waits":[1]}})"));
    EXPECT_EQ(ops[3]["args"]["waits"], json::parse("[0,2]"));
    EXPECT_FALSE(ops[0]["args"].contains("chunk"));
}

TEST(Format, TimesAreExact) {
    HandMade made;
    made.op(Stream::compute, OpKind::embed, 7, 1000000000000000089);
    EXPECT_NE(format_timeline(made.t).find("\"ts\":0.007,\"dur\":1000000000000000.082,"), std::string::npos);
}

TEST(Format, ASampleIsACounterOfItsTier) {
    const json samples = events_of(small_step(), "C");
    ASSERT_EQ(samples.size(), 4u);
    EXPECT_EQ(samples[1], json::parse(R"({"ph":"C","pid":3,"name":"kv","ts":0.0,"args":{"bytes":5000}})"));
    EXPECT_EQ(samples[3],
              json::parse(R"({"ph":"C","pid":2,"name":"staging","ts":4.001,"args":{"bytes":0}})"));
}

TEST(Format, EveryStreamAndTierHasItsName) {
    const json names = events_of(HandMade().t, "M");
    size_t threads = 0, processes = 0;
    for (const json& event : names) {
        threads += event["name"] == "thread_name" ? 1u : 0u;
        processes += event["name"] == "process_name" ? 1u : 0u;
    }
    EXPECT_EQ(threads, kStreams);
    EXPECT_EQ(processes, 1 + kTiers);
    EXPECT_NE(
        std::find(names.begin(), names.end(), json::parse(R"({"ph":"M","pid":1,"tid":3,"name":"thread_name",
        "args":{"name":"to_host"}})")),
        names.end());
}

TEST(Format, MetadataNamesThePlanAndTheFigures) {
    const json text = json::parse(format_timeline(small_step()));
    EXPECT_EQ(text["displayTimeUnit"], "ns");
    const json& other = text["otherData"];
    EXPECT_EQ(other["schema_version"], 1);
    EXPECT_EQ(other["plan"]["chunk"], 4096);
    EXPECT_EQ(other["selection_source"], small_step().selection_source);
    EXPECT_EQ(other["results"]["gradient_norm"].get<double>(), 1e-300);
    EXPECT_EQ(other["counts"], json::parse(R"({"ops":4,"waits":3,"samples":4})"));
    EXPECT_EQ(other["traffic"]["columns"].size(), other["traffic"]["rows"][0].size());
    EXPECT_EQ(other["traffic"]["rows"][0], json::parse(R"([3,7,"fill",64,60,4,1,9,32,5,7864320,4194304])"));
    EXPECT_EQ(json::parse(format_timeline(HandMade().t))["otherData"]["plan"], nullptr);
}

TEST(Format, EscapesWhatJsonCannotHold) {
    Timeline t = HandMade().t;
    t.machine = std::string("a\"b\\c\n\x01", 7) + '\0';
    EXPECT_EQ(json::parse(format_timeline(t))["otherData"]["machine"], t.machine);
    EXPECT_NE(format_timeline(t).find("\"a\\\"b\\\\c\\u000a\\u0001\\u0000\""), std::string::npos);
}

}  // namespace
}  // namespace headroom
