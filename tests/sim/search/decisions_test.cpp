// What the search may decide and what not, on random scenarios; and that more memory never means a shorter
// context.
#include <gtest/gtest.h>
// After GoogleTest, which it needs.
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/names.h"
#include "search/answer.h"
#include "search/search.h"
#include "sim/search/fixture.h"

namespace headroom {
namespace {

using namespace test;

template <class T>
T one(std::initializer_list<T> values) {
    return *rc::gen::elementOf(std::vector<T>(values));
}

// Keys of the decisions that differ.
std::set<std::string> differing(const Decisions& a, const Decisions& b) {
    std::vector<std::string> left, right;
    const auto into = [](std::vector<std::string>& out) {
        return [&out](const char*, const auto& value) {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, Tokens> || std::is_same_v<T, Bytes>) {
                out.push_back(std::to_string(value.count()));
            } else if constexpr (std::is_same_v<T, Attention>) {
                out.push_back(std::to_string(value.sparse) + "," + std::to_string(value.budget) + "," +
                              std::to_string(value.block) + "," + std::to_string(value.sink) + "," +
                              std::to_string(value.local));
            } else if constexpr (std::is_same_v<T, Residency>) {
                out.push_back(std::to_string(value.device_layers) + "," +
                              std::to_string(value.device_chunks) + "," + std::to_string(value.disk_chunks));
            } else if constexpr (std::is_same_v<T, std::string>) {
                out.push_back(value);
            } else {
                out.push_back(std::to_string(static_cast<int64_t>(value)));
            }
        };
    };
    visit_decisions(a, into(left));
    visit_decisions(b, into(right));
    std::set<std::string> keys;
    for (size_t i = 0; i < left.size(); ++i) {
        if (left[i] != right[i]) keys.insert(decision_keys()[i]);
    }
    return keys;
}

// A tiny model with any recipe of what is trained, most decisions fixed at random values.
Scenario random_scenario() {
    Scenario s = tiny("", *rc::gen::inRange<int64_t>(1, 12) * 1024);
    Decisions& d = s.plan.decisions;
    const std::vector<std::string> often{"activations", "attention_outputs", "weights_home", "gradients_home",
                                         "states_home", "staging_slot",      "page_copy",    "strategy",
                                         "kv",          "kv_gradients",      "page_cache",   "wavefront"};
    for (const std::string& key : often) {
        if (*rc::gen::inRange(0, 4) > 0) s.fixed.insert(key);
    }
    d.attention.sparse = one({true, false});
    d.attention.budget = *rc::gen::inRange<int64_t>(4, 20);
    d.attention.sink = *rc::gen::inRange<int64_t>(0, 2);
    d.attention.local = *rc::gen::inRange<int64_t>(0, 3);
    d.page = Tokens(one<int64_t>({64, 128, 256}));
    d.chunk = Tokens(one<int64_t>({1024, 2048, 4096}));
    d.attention.block = one<int64_t>({128, 512, 1024});
    d.honour_windows = one({true, false});
    d.weights = one({Dtype::bf16, Dtype::fp32});
    d.kv = one({Dtype::fp8, Dtype::bf16, Dtype::fp32});
    d.kv_gradients = one({Dtype::bf16, Dtype::fp32});
    d.page_copy = one({PageCopy::loop, PageCopy::gather});
    d.states_home = one({Home::device, Home::host});
    for (const std::string& key : trained_result_keys()) {
        const int64_t roll = *rc::gen::inRange(0, 4);
        if (roll == 0) s.fixed.insert(key);
        if (roll == 1) s.may_change.insert(key);
    }
    // Often too little of something.
    s.plan.budget.device = Bytes(*rc::gen::inRange<int64_t>(100, 4000) * kMiB);
    s.plan.budget.host = Bytes(*rc::gen::inRange<int64_t>(0, 2000) * kMiB);
    return s;
}

// Chunk and page change the result where pages are selected, the other trained-result keys always.
RC_GTEST_PROP(Decided, OnlyWhatTheScenarioLeavesOpen, ()) {
    const Scenario s = random_scenario();
    Searcher searcher(s);
    SearchOptions options;
    options.exact = false;
    const Result<Found> found = searcher.best(s.plan.budget, options);
    if (!found) RC_DISCARD(found.error().text());
    const std::set<std::string> changed = differing(s.plan.decisions, found->plan.decisions);
    RC_TAG(changed.empty() ? "nothing" : "something decided");
    for (const std::string& key : changed) {
        RC_LOG() << key << "\n";
        RC_ASSERT(!s.fixed.contains(key));
        const auto& trained = trained_result_keys();
        const bool free_when_dense = (key == "chunk" || key == "page") && !s.plan.decisions.attention.sparse;
        if (std::find(trained.begin(), trained.end(), key) == trained.end() || free_when_dense) continue;
        RC_ASSERT(s.may_change.contains(key));
    }
    RC_ASSERT(found->plan.recipe == s.plan.recipe);
    RC_ASSERT(found->plan.model == s.plan.model);
    RC_ASSERT(found->plan.context == s.plan.context);
}

// What may change does, where that is faster: the chunk of a sparse scenario.
TEST(Decided, WhatMayChangeIsVaried) {
    Scenario s = tiny(
        "strategy = \"chunked\"\nattention = { kind = \"sparse\", budget = 16, block = 1024 }\nchunk = "
        "1024",
        16384);
    const auto chunks_seen = [&] {
        std::set<int64_t> chunks;
        for (const int64_t mib : {200, 400, 8000}) {
            s.plan.budget.device = Bytes(mib * kMiB);
            Searcher searcher(s);
            SearchOptions options;
            options.exact = false;
            const Result<Found> found = searcher.best(s.plan.budget, options);
            EXPECT_TRUE(found) << found.error().text();
            if (found) chunks.insert(found->plan.decisions.chunk.count());
        }
        return chunks;
    };
    s.fixed.erase("chunk");
    EXPECT_EQ(chunks_seen(), std::set<int64_t>{1024});
    s.may_change.insert("chunk");
    EXPECT_NE(chunks_seen(), std::set<int64_t>{1024});
}

constexpr const char* kOffloading =
    "strategy = \"chunked\"\nchunk = 1024\nactivations = \"keep\"\nattention_outputs = \"recompute\"\n"
    "staging_slots = 2\nprefetch = 1\nstaging_slot = \"1MiB\"\npage_copy = \"batch\"\n";

void expect_monotone(const char* plan, Bytes Budget::*tier, std::vector<int64_t> mib,
                     size_t at_least_distinct) {
    Scenario s = tiny(plan, 2048);
    s.plan.budget = {Bytes(500 * kMiB), Bytes(128 * kMiB), Bytes(0)};
    std::set<int64_t> contexts;
    int64_t before = 0;
    for (const int64_t m : mib) {
        s.plan.budget.*tier = Bytes(m * kMiB);
        const Result<MaxContext> most = max_context(s);
        ASSERT_TRUE(most) << most.error().text();
        EXPECT_GE(most->context.count(), before) << m << " MiB";
        before = most->context.count();
        contexts.insert(before);
    }
    EXPECT_GE(contexts.size(), at_least_distinct);
}

TEST(MaxContext, GrowsWithDeviceMemory) {
    expect_monotone(kOffloading, &Budget::device, {300, 340, 400, 600}, 3);
}
TEST(MaxContext, GrowsWithHostMemory) {
    expect_monotone((std::string(kOffloading) + "kv = \"host\"\nkv_gradients = \"host\"\n").c_str(),
                    &Budget::host, {16, 24, 48, 100}, 3);
}
TEST(MaxContext, GrowsWithDisk) {
    expect_monotone((std::string(kOffloading) + "kv = \"disk\"\nkv_gradients = \"disk\"\n").c_str(),
                    &Budget::disk, {16, 24, 48, 100}, 3);
}

}  // namespace
}  // namespace headroom
