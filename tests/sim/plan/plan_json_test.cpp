#include <unistd.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "plan/names.h"
#include "plan/plan.h"
#include "sim/plan/fixture.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;
using test::small_plan;

// Not inlined, and functions of a dozen draws: compilers take minutes over one function of a hundred.
[[gnu::noinline]] int64_t between(int64_t low, int64_t high) {
    return *rc::gen::inRange<int64_t>(low, high + 1);
}
template <class T>
T one(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<int64_t>(values.size()) - 1)];
}
template <class E>
E any_name() {
    const auto& names = names_of<E>();
    return names[static_cast<size_t>(between(0, static_cast<int64_t>(names.size()) - 1))].first;
}
// Any finite value with a full mantissa, so that a digit lost in the text shows.
double real() {
    return static_cast<double>(between(1, 1LL << 53)) / 7.0 * 1e-9;
}

Recipe any_recipe() {
    Recipe r;
    r.optimizer = any_name<Optimizer>();
    r.states = one({Dtype::fp32, Dtype::bf16}), r.gradients = one({Dtype::fp32, Dtype::bf16});
    r.master_weights = one({true, false});
    if (one({true, false}))
        r.lora_rank = between(1, 64), r.lora_alpha = static_cast<double>(between(1, 64)),
        r.lora_targets = {"q", "down"};
    r.batch = between(1, 8);
    return r;
}

void draw_model(Model& m) {
    m.rope.theta = real(), m.norm_epsilon = real();
    m.rope.scaling = one<std::string>({"", "linear", "llama3", "yarn"});
    m.rope.mscale = real(), m.rope.mscale_all_dim = real();
    m.rope.attention_factor = real(), m.rope.truncate = one({true, false});
    m.query_scalar = real(), m.activation_limit = real();
    m.experts.normalized = one({true, false});
    m.tied_embeddings = one({true, false});
    for (Layer& layer : m.layers) layer = {between(0, 2) * 1024, one({true, false})};
}

void draw_hardware(Hardware& h) {
    h.calibrated = one({true, false});
    h.gemm.per_flop = real();
    h.attention_backward = {real(), real(), real(), real(), real(), real(), real(), real(), real(), real()};
    h.multiprocessors = static_cast<int32_t>(between(0, 200));
    h.kernels[static_cast<size_t>(between(1, kKernels - 1))] = {real(), real(), real()};
    h.to_device.batch.points = {{4096, 1 + real()}, {65536, 1 + real()}};
    h.interference[1][4] = one({0.5, 0.89, 1.0});
}

void draw_attention(Decisions& d) {
    d.page = Tokens(8 * between(1, 32));
    d.chunk = d.page * between(1, 64), d.segment = d.page * between(1, 64);
    d.attention = {.sparse = one({true, false}),
                   .budget = between(10, 99),
                   .block = d.page.count(),
                   .sink = 2,
                   .local = between(0, 7)};
    if (between(0, 1) == 1) d.attention.waiting = d.attention.budget + between(0, 99);
    d.honour_windows = one({true, false}), d.deterministic = one({true, false});
}

void draw_homes(Decisions& d, int64_t chunks) {
    d.weights = one({Dtype::fp32, Dtype::bf16, Dtype::fp16});
    d.kv = one({Dtype::bf16, Dtype::fp8}), d.kv_gradients = one({Dtype::bf16, Dtype::fp32});
    d.weights_home = any_name<Home>(), d.gradients_home = any_name<Home>(), d.states_home = any_name<Home>();
    d.kv_residency = {between(0, 4), 0, between(0, chunks)};
    d.kv_gradient_residency = {between(0, 4), between(0, chunks), 0};
}

void draw_schedule(Decisions& d) {
    d.gradient_pages = any_name<GradientPages>(), d.attention_outputs = any_name<AttentionOutputs>();
    d.activations = any_name<Activations>(), d.page_copy = any_name<PageCopy>();
    d.prefetch = between(0, 3), d.staging_slots = d.prefetch + between(1, 3);
    d.staging_slot = Bytes(between(kMiB, kGiB)), d.page_cache = Bytes(between(0, kGiB));
    d.wavefront = between(1, 2), d.loss_tile = Tokens(between(0, 4096));
    d.mlp_tile = Tokens(between(0, 4096));
    d.logits_fp32 = between(0, 2);
    d.fill_head = one({true, false}), d.write_back_clean = one({true, false});
    d.load_gradients_forward = one({true, false});
}

// Any plan that check_plan() allows.
Plan any_plan() {
    Plan p = small_plan();
    p.name = *rc::gen::container<std::string>(rc::gen::inRange<char>(32, 127));
    p.context = Tokens(between(1, 1 << 20));
    draw_model(p.model);
    draw_hardware(p.hardware);
    p.budget = {Bytes(between(1, 16 * kGiB)), Bytes(between(0, kTiB)), Bytes(between(0, kTiB))};
    p.recipe = any_recipe();
    Decisions& d = p.decisions;
    d.strategy = one<std::string>({"chunked", "ring"});
    d.tensor_ranks = one<int64_t>({1, 2}), d.ring_ranks = one<int64_t>({1, 2});
    p.gpus = d.tensor_ranks * d.ring_ranks;
    draw_attention(d);
    draw_homes(d, p.chunks());
    draw_schedule(d);
    p.selection.block_reuse = 1.0 / static_cast<double>(between(1, 99));
    p.selection.popularity = static_cast<double>(between(0, 6)) / 3;
    p.selection.recency = static_cast<double>(between(-1, 4));
    p.selection.neighbours = static_cast<double>(between(0, 3)) / 4;
    p.selection.spread = static_cast<double>(between(0, 4)) / 4;
    p.selection.seed = static_cast<uint64_t>(between(0, INT64_MAX - 1));
    return p;
}

Plan recorded_plan() {
    Plan p = small_plan();
    p.decisions.attention = {.sparse = true, .budget = 2, .block = 128, .sink = 1, .local = 0};
    p.context = Tokens(8192);
    RecordedSelection r{"a \"run\"", 128, 4096, 2, 128, 2, 2, {0, 0, 0, 2, 3}, {0, 31, 7}};
    p.selection.recorded = std::make_shared<const RecordedSelection>(r);
    return p;
}

RC_GTEST_PROP(PlanJson, WhatIsWrittenReadsBackEqual, ()) {
    const Plan p = any_plan();
    const std::string text = write_plan(p);
    const auto back = parse_plan(text, "p.json");
    if (!back) RC_FAIL(back.error().text());
    RC_ASSERT(*back == p);
    RC_ASSERT(write_plan(*back) == text);
}

// As plans were written before the cost model had them: constants that are not set are left out.
TEST(PlanJson, ConstantsThatAreNotSetAreLeftOut) {
    const std::string text = write_plan(small_plan());
    for (const char* key : {"latency_s", "per_pair_s", "\"blocks\"", "measured_keys", "multiprocessors",
                            "kernels", "popularity", "recency", "neighbours", "spread", "waiting_pages"})
        EXPECT_EQ(text.find(key), std::string::npos) << key;
    Plan p = small_plan();
    p.hardware.kernels[static_cast<size_t>(Kernel::norm)].efficiency = 0.5;
    std::string with = write_plan(p);
    EXPECT_NE(with.find("\"norm\""), std::string::npos);
    with.replace(with.find("\"norm\""), 6, "\"nrom\"");
    const auto back = parse_plan(with, "p.json");
    ASSERT_FALSE(back);
    EXPECT_NE(back.error().text().find("nrom"), std::string::npos) << back.error().text();
}

TEST(PlanJson, RecordedSelectionsAreEmbedded) {
    const Plan p = recorded_plan();
    const auto back = parse_plan(write_plan(p), "p.json");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, p);
    EXPECT_EQ(write_plan(*back), write_plan(p));
}

// The largest sizes that a config.json may have.
TEST(PlanJson, LargestModelsReadBack) {
    Plan p = small_plan();
    p.model.vocabulary = int64_t{1} << 24;
    auto back = parse_plan(write_plan(p), "p.json");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, p);
    p.model.hidden = p.model.intermediate = int64_t{1} << 20;
    p.model.layers.resize(1);
    p.decisions.kv_residency = p.decisions.kv_gradient_residency = {};
    back = parse_plan(write_plan(p), "p.json");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, p);
}

// Every shipped model, with all that a real run needs of it.
TEST(PlanJson, ShippedModelsReadBackEqual) {
    const std::filesystem::path data = HEADROOM_SOURCE_DIR;
    for (const std::string& name : shipped_models(data)) {
        SCOPED_TRACE(name);
        Plan p = small_plan();
        p.model = read_model(name, data).value();
        if (!p.model.not_trainable.empty()) continue;  // such a plan is refused
        const auto back = parse_plan(write_plan(p), "p.json");
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(back->model, p.model);
    }
}

TEST(PlanJson, IsReadableWithUnitsInTheKeys) {
    const std::string text = write_plan(small_plan());
    EXPECT_TRUE(text.starts_with(
        "{\n  \"schema_version\": 2,\n  \"name\": \"small\",\n  \"context_tokens\": 16384,\n"))
        << text.substr(0, 200);
    EXPECT_NE(text.find("\n    \"device_bytes\": 17179869184,\n"), std::string::npos);
    EXPECT_NE(text.find("\n    \"chunk_tokens\": 4096,\n"), std::string::npos);
    EXPECT_NE(text.find("\n    \"staging_slot_bytes\": 536870912,\n"), std::string::npos);
    EXPECT_TRUE(text.ends_with("}\n"));
}

TEST(PlanJson, HashNamesThePlan) {
    const Plan p = small_plan();
    Plan q = p;
    EXPECT_EQ(plan_hash(p), plan_hash(q));
    EXPECT_EQ(plan_hash(p).size(), 16u);
    q.decisions.prefetch = 0;
    EXPECT_NE(plan_hash(p), plan_hash(q));
}

TEST(PlanJson, ReadsAFile) {
    const auto path =
        std::filesystem::path(testing::TempDir()) / ("headroom_plan." + std::to_string(getpid()) + ".json");
    std::ofstream(path) << write_plan(small_plan());
    const auto p = read_plan(path);
    ASSERT_TRUE(p) << p.error().text();
    EXPECT_EQ(*p, small_plan());
    std::filesystem::remove(path);
    EXPECT_FALSE(read_plan(path));
}

TEST(PlanJson, AnyTruncationIsAnError) {
    std::string text = write_plan(recorded_plan());
    for (size_t size = 0; size + 2 < text.size(); size += 7) {
        const auto p = parse_plan(std::string_view(text).substr(0, size), "p.json");
        ASSERT_FALSE(p) << size;
        EXPECT_TRUE(p.error().where.starts_with("p.json:")) << p.error().text();
    }
}

// Every key of the file, as a JSON pointer.
void pointers(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& out) {
    for (const auto& item : value.items()) {
        const auto here = value.is_array() ? at / std::stoul(item.key()) : at / item.key();
        if (value.is_object()) out.push_back(here);
        if (item.value().is_structured()) pointers(item.value(), here, out);
    }
}

// "/hardware/to_host_batch/0/bytes" -> "hardware.to_host_batch[0].bytes".
std::string dotted(const Json::json_pointer& at) {
    if (at.empty()) return "";
    const std::string before = dotted(at.parent_pointer()), key = at.back();
    if (std::isdigit(static_cast<unsigned char>(key[0]))) return before + "[" + key + "]";
    return before.empty() ? key : before + "." + key;
}

TEST(PlanJson, EachMissingKeyIsNamed) {
    const Json whole = Json::parse(write_plan(recorded_plan()));
    std::vector<Json::json_pointer> all;
    pointers(whole, Json::json_pointer(), all);
    ASSERT_GT(all.size(), 120u);
    for (const auto& at : all) {
        if (at.back() == "recorded_selection") continue;  // the one key that need not be there
        Json cut = whole;
        cut[at.parent_pointer()].erase(at.back());
        const auto p = parse_plan(cut.dump(), "p.json");
        ASSERT_FALSE(p) << at.to_string();
        EXPECT_NE(p.error().found.find("missing"), std::string::npos) << p.error().text();
        EXPECT_NE(p.error().where.find("'" + dotted(at) + "'"), std::string::npos) << p.error().text();
    }
}

TEST(PlanJson, EachWrongTypeIsNamed) {
    const Json whole = Json::parse(write_plan(recorded_plan()));
    std::vector<Json::json_pointer> all;
    pointers(whole, Json::json_pointer(), all);
    for (const auto& at : all) {
        for (const Json& wrong : {Json(), Json::array({Json()}), Json(-1.5), Json("\x01?")}) {
            if (wrong.is_string() && whole[at].is_string()) continue;  // may be a name
            if (wrong.is_number() && whole[at].is_number_float()) continue;
            if (wrong.is_null() && at.back() == "recorded_selection") continue;  // null reads as absent
            Json changed = whole;
            changed[at] = wrong;
            const auto p = parse_plan(changed.dump(), "p.json");
            ASSERT_FALSE(p) << at.to_string() << " = " << wrong;
            const std::string& where = p.error().where;
            EXPECT_NE(where.find("key '" + dotted(at)), std::string::npos)
                << wrong << ": " << p.error().text();
        }
    }
}

TEST(PlanJson, EachUnknownKeyIsNamed) {
    const Json whole = Json::parse(write_plan(recorded_plan()));
    std::vector<Json::json_pointer> all;
    pointers(whole, Json::json_pointer(), all);
    for (const auto& at : all) {
        if (!whole[at].is_object()) continue;
        Json changed = whole;
        changed[at]["surprise"] = 1;
        const auto p = parse_plan(changed.dump(), "p.json");
        ASSERT_FALSE(p) << at.to_string();
        EXPECT_NE(p.error().found.find("unknown key"), std::string::npos) << p.error().text();
    }
}

// Arbitrary numbers in place of every number: an Error or a plan that the checks allow, never a crash.
TEST(PlanJson, AbsurdNumbersNeverPassUnchecked) {
    const Json whole = Json::parse(write_plan(recorded_plan()));
    std::vector<Json::json_pointer> all;
    pointers(whole, Json::json_pointer(), all);
    for (const auto& at : all) {
        if (!whole[at].is_number()) continue;
        for (const Json& number : {Json(0), Json(-1), Json(1), Json(INT64_MAX), Json(INT64_MIN),
                                   Json(UINT64_MAX), Json(1e308), Json(int64_t{1} << 40)}) {
            Json changed = whole;
            changed[at] = number;
            const auto p = parse_plan(changed.dump(), "p.json");
            if (p) {
                EXPECT_TRUE(check_plan(*p, "")) << at.to_string() << " = " << number;
            } else {
                EXPECT_FALSE(p.error().where.empty()) << at.to_string() << " = " << number;
            }
        }
    }
}

struct Wrong {
    const char *name, *pointer;
    Json value;
    const char *where, *found, *allowed;
};
void PrintTo(const Wrong& w, std::ostream* out) {
    *out << w.name;
}

const Wrong wrongs[] = {
    {"version", "/schema_version", 1, "p.json:1, key 'schema_version'", "1", "2, the version"},
    {"decision", "/plan/chunk_tokens", 100, "p.json, key 'plan.chunk'", "100", "multiple of the page"},
    {"name", "/plan/activations", "kep", "key 'plan.activations'", "did you mean 'keep'",
     "'checkpoint_host'"},
    {"kv_heads", "/model/kv_heads", 3, "key 'model.kv_heads'", "3", "a divisor of the 8"},
    {"heads_none", "/model/heads", 0, "key 'model.heads'", "0", "1 to"},
    {"vocabulary", "/model/vocabulary", (1 << 24) + 1, "key 'model.vocabulary'", "16777217", "16777216"},
    {"intermediate", "/model/intermediate", (1 << 20) + 1, "key 'model.intermediate'", "1048577", "1048576"},
    {"all_heads", "/model/head_dim", 1 << 20, "key 'model.heads'", "8 heads of 1,048,576",
     "1,048,576 values"},
    {"mscale", "/model/rope/mscale", -1, "key 'model.rope.mscale'", "-1", "0 to"},
    {"truncate", "/model/rope/truncate", 1, "key 'model.rope.truncate'", "1", "true or false"},
    {"query_scalar", "/model/query_scalar", "256", "key 'model.query_scalar'", "'256'", "a number"},
    {"experts", "/model/experts/per_token", 1, "key 'model.experts.per_token'", "1", "at most the 0"},
    {"no_layers", "/model/layers", Json::array(), "key 'model.layers'", "a list of 0", "1 to"},
    {"layers", "/model/layers/0/count", 20000, "key 'model.layers[0].count'", "20000", "4096"},
    {"curve", "/hardware/to_host_batch/0/bytes", 0, "key 'hardware.to_host_batch[0].bytes'", "0", "1 to"},
    {"bandwidth", "/hardware/to_host_batch/0/bytes_per_s", 0.0, "to_host_batch[0].bytes_per_s'", "0", "1"},
    {"interference", "/hardware/interference/gemm", Json{{"to_device", 1.5}},
     "key 'hardware.interference.gemm.to_device'", "1.5", "1"},
    {"row", "/recorded_selection/rows/2", Json::array({1, 1}), "key 'recorded_selection.rows[2]'", "1",
     "2 to 31"},
    {"budget", "/budget/device_bytes", kTiB, "p.json, key 'budget.device'", "1 TiB", "box"},
};

class WrongPlan : public testing::TestWithParam<Wrong> {};

TEST_P(WrongPlan, IsOneClearError) {
    const Wrong& w = GetParam();
    Json json = Json::parse(write_plan(recorded_plan()));
    json[Json::json_pointer(w.pointer)] = w.value;
    const auto p = parse_plan(json.dump(), "p.json");
    ASSERT_FALSE(p);
    EXPECT_NE(p.error().where.find(w.where), std::string::npos) << p.error().text();
    EXPECT_NE(p.error().found.find(w.found), std::string::npos) << p.error().text();
    EXPECT_NE(p.error().allowed.find(w.allowed), std::string::npos) << p.error().text();
}

INSTANTIATE_TEST_SUITE_P(Inputs, WrongPlan, testing::ValuesIn(wrongs),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(PlanJson, TextThatIsNoPlanIsAnError) {
    const std::string deep(100000, '[');
    for (const std::string& text :
         {std::string(), std::string("[]"), std::string("null"), std::string("{\"a\": \"\xff\"}"), deep,
          std::string("{\"schema_version\": 1e999}"), std::string("\0", 1), std::string("{}")}) {
        const auto p = parse_plan(text, "p.json");
        ASSERT_FALSE(p) << text.substr(0, 20);
        EXPECT_TRUE(p.error().where.starts_with("p.json")) << p.error().text();
        EXPECT_LT(p.error().text().size(), 400u);
    }
}

TEST(PlanJson, SyntaxErrorsNameLineAndColumn) {
    const auto p = parse_plan("{\n  \"a\": ?\n}", "p.json");
    ASSERT_FALSE(p);
    EXPECT_TRUE(p.error().where.starts_with("p.json:2:")) << p.error().text();
}

}  // namespace
}  // namespace headroom
