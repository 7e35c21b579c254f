#include "timeline/check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sim/timeline/hand_made.h"

namespace headroom {
namespace {

struct Breach {
    const char* name;
    std::function<void(Timeline&)> breach;
    const char* message;  // part of the text of the Error
};

const Breach kBreaches[] = {
    {"source", [](Timeline& t) { t.source = "guessed"; }, "key 'source': 'guessed'"},
    {"utf8", [](Timeline& t) { t.machine = "\xC3"; }, "key 'machine'"},
    {"plan_text", [](Timeline& t) { t.plan = "{\"chunk\": }"; }, "key 'plan': not JSON"},
    {"plan_list", [](Timeline& t) { t.plan = "[1]"; }, "key 'plan'"},
    {"nan", [](Timeline& t) { t.results["loss"] = std::nan(""); }, "key 'results.loss': nan"},
    {"infinity", [](Timeline& t) { t.results["loss"] = INFINITY; }, "key 'results.loss': inf"},
    {"result_name", [](Timeline& t) { t.results["\xFF"] = 1; }, "key 'results'"},
    {"capacity", [](Timeline& t) { t.capacity_bytes[1] = -1; }, "key 'capacity_bytes.host': -1"},
    {"kind", [](Timeline& t) { t.ops[2].kind = OpKind::count_; }, "op 2"},
    {"start", [](Timeline& t) { t.ops[0].start_ns = -1; }, "op 0: a start of -1 ns"},
    {"duration", [](Timeline& t) { t.ops[3].end_ns = 4000; }, "op 3: a duration of -1 ns"},
    {"late", [](Timeline& t) { t.ops[3].end_ns = kLatest_ns + 1; }, "op 3: a duration"},
    {"bytes", [](Timeline& t) { t.ops[1].bytes = -5; }, "op 1: -5 bytes"},
    {"flops", [](Timeline& t) { t.ops[1].flops = -5; }, "op 1: -5 flops"},
    {"overlap", [](Timeline& t) { t.ops[2].start_ns = 999; },
     "op 2: it starts at 999 ns, before op 0 of the same stream (compute) ends at 1000 ns"},
    {"wait_self", [](Timeline& t) { t.waits[0] = 2; }, "op 2: it waits for op 2"},
    {"offsets", [](Timeline& t) { t.waits_begin.pop_back(); }, "4 offsets of waits for 4 ops"},
    {"no_offsets", [](Timeline& t) { t.waits_begin.clear(); }, "0 offsets of waits"},
    {"last_offset", [](Timeline& t) { t.waits_begin.back() = 2; }, "offsets of waits"},
    {"descending",
     [](Timeline& t) {
         t.waits = {0, 0, 0};
         t.waits_begin = {0, 0, 1, 0, 3};
     },
     "op 2: offsets"},
    {"beyond", [](Timeline& t) { t.waits_begin[2] = 99; }, "op 1: offsets"},
    {"time", [](Timeline& t) { t.memory[3].time_ns = 499; }, "memory sample 3: a time of 499 ns"},
    {"tier", [](Timeline& t) { t.memory[1].tier = Tier::count_; }, "memory sample 1"},
    {"sample_bytes", [](Timeline& t) { t.memory[1].bytes = -1; }, "memory sample 1: -1 bytes"},
    {"sum", [](Timeline& t) { t.memory[2].bytes = INT64_MAX - 999; }, "memory sample 2"},
    {"traffic", [](Timeline& t) { t.traffic[1].loaded_bytes = -1; }, "traffic row 1"},
};

TEST(Check, AcceptsWhatKeepsTheContract) {
    EXPECT_TRUE(check_timeline(small_step(), "t"));
    EXPECT_TRUE(check_timeline(HandMade().t, "t"));
    Timeline full = small_step();
    full.memory[2].bytes = INT64_MAX - 1000;  // with 1000 bytes of weights exactly 2^63 - 1
    EXPECT_TRUE(check_timeline(full, "t"));
    full.ops[3].end_ns = kLatest_ns;
    EXPECT_TRUE(check_timeline(full, "t"));
}

TEST(Check, NamesEveryBreach) {
    for (const Breach& b : kBreaches) {
        Timeline t = small_step();
        b.breach(t);
        const auto checked = check_timeline(t, "t");
        ASSERT_FALSE(checked) << b.name;
        EXPECT_EQ(checked.error().text().rfind("t: ", 0), 0u) << checked.error().text();
        EXPECT_NE(checked.error().text().find(b.message), std::string::npos)
            << b.name << ": " << checked.error().text();
    }
}

// Equality sees every member: a member that it forgot would let a broken round trip pass.
TEST(Timeline, EqualityCoversEveryMember) {
    const std::function<void(Timeline&)> changes[] = {
        [](Timeline& t) { t.source = "measured"; },
        [](Timeline& t) { t.plan += " "; },
        [](Timeline& t) { t.plan_hash = ""; },
        [](Timeline& t) { t.selection_source = ""; },
        [](Timeline& t) { t.machine = ""; },
        [](Timeline& t) { t.date = "2026"; },
        [](Timeline& t) { t.rates = ""; },
        [](Timeline& t) { t.results["loss"] = 1; },
        [](Timeline& t) { t.capacity_bytes[2] = 1; },
        [](Timeline& t) { t.ops[0].sequence = 1; },
        [](Timeline& t) { t.waits_begin[1] = 1; },
        [](Timeline& t) { t.waits[0] = 0; },
        [](Timeline& t) { t.memory[0].bytes = 1; },
        [](Timeline& t) { t.traffic.pop_back(); },
        [](Timeline& t) { t.traffic[0].chunk = 1; },
        [](Timeline& t) { t.traffic[0].layer = 1; },
        [](Timeline& t) { t.traffic[0].pass = Pass::update; },
        [](Timeline& t) { t.traffic[0].selected = 1; },
        [](Timeline& t) { t.traffic[0].loaded = 1; },
        [](Timeline& t) { t.traffic[0].hit = 1; },
        [](Timeline& t) { t.traffic[0].evicted = 7; },
        [](Timeline& t) { t.traffic[0].gradients_loaded = 1; },
        [](Timeline& t) { t.traffic[0].written_back = 1; },
        [](Timeline& t) { t.traffic[0].first_touched = 1; },
        [](Timeline& t) { t.traffic[0].loaded_bytes = 1; },
        [](Timeline& t) { t.traffic[0].written_bytes = 1; },
    };
    EXPECT_EQ(small_step(), small_step());
    size_t i = 0;
    for (const auto& change : changes) {
        Timeline t = small_step();
        change(t);
        EXPECT_FALSE(t == small_step()) << "change " << i;
        ++i;
    }
}

}  // namespace
}  // namespace headroom
