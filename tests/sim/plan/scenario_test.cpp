#include <unistd.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "plan/names.h"
#include "plan/plan.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

const std::string kWhat = "model = 'Qwen2.5-7B'\nhardware = 'h200-sxm-pcie5'\ncontext = '1Mi'\n";

Result<Scenario> parse(const std::string& rest, const std::vector<std::string>& overrides = {}) {
    return parse_scenario(kWhat + rest, "dir/a.toml", "dir", HEADROOM_SOURCE_DIR, overrides);
}

Scenario good(const std::string& rest, const std::vector<std::string>& overrides = {}) {
    const auto s = parse(rest, overrides);
    EXPECT_TRUE(s) << rest << "\n" << s.error().text();
    return s ? *s : Scenario{};
}

// Long attention calls, unless they are deterministic.
Decisions defaults() {
    Decisions d;
    d.segment = Tokens(131072);
    return d;
}

TEST(Scenario, WhatIsLeftOutHasItsDefault) {
    const Scenario s = good("");
    const auto hardware = read_hardware("h200-sxm-pcie5", HEADROOM_SOURCE_DIR);
    ASSERT_TRUE(hardware);
    EXPECT_EQ(s.path, "dir/a.toml");
    EXPECT_EQ(s.name, "a");
    EXPECT_EQ(s.plan.name, "a");
    EXPECT_EQ(s.plan.context, Tokens(1 << 20));
    EXPECT_EQ(s.plan.model.layer_count(), 28);
    EXPECT_EQ(s.plan.hardware, *hardware);
    EXPECT_EQ(s.plan.budget,
              (Budget{hardware->device_memory, hardware->pinnable_memory, hardware->disk_memory}));
    EXPECT_EQ(s.plan.recipe, Recipe{});
    EXPECT_EQ(s.plan.decisions, defaults());
    SelectionModel selection;
    selection.spread = kSpread;
    EXPECT_EQ(s.plan.selection, selection);
    EXPECT_EQ(s.gpus, 1);
    EXPECT_TRUE(s.fixed.empty());
    EXPECT_TRUE(s.may_change.empty());
}

TEST(Scenario, ReadsEveryKeyOutsidePlan) {
    const Scenario s = parse_scenario(R"(
title = "a title"
model = "Qwen2.5-7B"
hardware = "h200-sxm-pcie5"
context = 65_536
gpus = 2
[budget]
device = "64GiB"
host = "1024GiB"
disk = 4096
[training]
optimizer = "adamw8bit"
states = "bf16"
master = true
gradients = "bf16"
trainable = { lora = 16, alpha = 32, targets = ["q", "gate"] }
batch = 3
[search]
may_change = ["chunk", "kv_dtype"]
[selection]
block_reuse = 0.25
chunk_reuse = 1
popularity = 0.75
recency = -0.5
neighbours = 0.75
spread = 0.5
seed = 7
source = "guess"
)",
                                      "x.toml", ".", HEADROOM_SOURCE_DIR)
                           .value();
    EXPECT_EQ(s.title, "a title");
    EXPECT_EQ(s.plan.context, Tokens(65536));
    EXPECT_EQ(s.gpus, 2);
    EXPECT_EQ(s.plan.gpus, 1);
    EXPECT_EQ(s.plan.budget, (Budget{Bytes(64 * kGiB), Bytes(kTiB), Bytes(4096)}));
    EXPECT_EQ(s.plan.recipe,
              (Recipe{Optimizer::adamw8bit, Dtype::bf16, true, Dtype::bf16, 16, 32, {"q", "gate"}, 3}));
    EXPECT_EQ(s.may_change, (std::set<std::string>{"chunk", "kv_dtype"}));
    SelectionModel selection;
    selection.block_reuse = 0.25, selection.chunk_reuse = 1, selection.popularity = 0.75;
    selection.recency = -0.5, selection.neighbours = 0.75, selection.spread = 0.5, selection.seed = 7,
    selection.source = "guess";
    EXPECT_EQ(s.plan.selection, selection);
}

TEST(Scenario, KeepsRoomForWiderSelectionsUnlessToldOtherwise) {
    EXPECT_EQ(good("").plan.selection.spread, kSpread);
    EXPECT_EQ(good("[selection]\nblock_reuse = 0.5\n").plan.selection.spread, kSpread);
    EXPECT_EQ(good("[selection]\nspread = 0\n").plan.selection.spread, 0);
}

TEST(Scenario, ReadsEveryDecisionAndFixesIt) {
    const Scenario s = good(R"(
gpus = 4
[plan]
strategy = "ring"
tensor_ranks = 2
ring_ranks = 2
attention = { kind = "sparse", budget = 32, block = 64, sink = 2, local = 4, waiting = 96 }
chunk = "8Ki"
page = 64
honour_windows = false
weights_dtype = "fp32"
kv_dtype = "fp8"
kv_gradients_dtype = "fp32"
segment = "4Ki"
deterministic = true
weights_home = "host"
gradients_home = "ranks"
states_home = "host"
kv = "device"
kv_gradients = { device_layers = 26, device_chunks = 3, disk_chunks = 5 }
gradient_pages = "all_at_once"
attention_outputs = "host"
activations = "checkpoint_host"
prefetch = 2
staging_slots = 4
staging_slot = "1GiB"
page_copy = "gather"
page_cache = "2GiB"
wavefront = 2
loss_tile = 512
logits_fp32 = 2
mlp_tile = 2048
fill_head = true
write_back_clean = true
load_gradients_forward = true
)");
    Decisions d;
    d.strategy = "ring", d.tensor_ranks = d.ring_ranks = 2;
    d.attention = {.sparse = true, .budget = 32, .block = 64, .sink = 2, .local = 4, .waiting = 96};
    d.chunk = Tokens(8192), d.page = Tokens(64), d.honour_windows = false;
    d.weights = Dtype::fp32, d.kv = Dtype::fp8, d.kv_gradients = Dtype::fp32;
    d.segment = Tokens(4096), d.deterministic = true;
    d.weights_home = d.states_home = Home::host, d.gradients_home = Home::ranks;
    d.kv_residency = {28, 0, 0}, d.kv_gradient_residency = {26, 3, 5};
    d.gradient_pages = GradientPages::all_at_once, d.attention_outputs = AttentionOutputs::host;
    d.activations = Activations::checkpoint_host;
    d.prefetch = 2, d.staging_slots = 4, d.staging_slot = Bytes(kGiB), d.page_copy = PageCopy::gather;
    d.page_cache = Bytes(2 * kGiB), d.wavefront = 2, d.loss_tile = Tokens(512), d.logits_fp32 = 2;
    d.mlp_tile = Tokens(2048), d.fill_head = d.write_back_clean = d.load_gradients_forward = true;
    EXPECT_EQ(s.plan.decisions, d);
    EXPECT_EQ(s.plan.gpus, 4);
    EXPECT_EQ(s.fixed, std::set<std::string>(decision_keys().begin(), decision_keys().end()));
}

TEST(Scenario, WordsStandForAttentionAndResidency) {
    EXPECT_TRUE(good("[plan]\nattention = 'sparse'").plan.decisions.attention.sparse);
    EXPECT_TRUE(good("[plan]\nattention = { budget = 32 }").plan.decisions.attention.sparse);
    EXPECT_FALSE(good("[plan]\nattention = { kind = 'dense' }").plan.decisions.attention.sparse);
    EXPECT_FALSE(good("[plan]\nattention = 'dense'").plan.decisions.attention.sparse);
    EXPECT_EQ(good("[plan]\nkv = 'host'").plan.decisions.kv_residency, Residency{});
    EXPECT_EQ(good("[plan]\nkv = 'disk'").plan.decisions.kv_residency, (Residency{0, 0, 256}));
    EXPECT_EQ(good("[plan]\nkv = 'disk'\nchunk = 8192").plan.decisions.kv_residency, (Residency{0, 0, 128}));
    EXPECT_EQ(good("[plan]\nkv_gradients = 'device'").plan.decisions.kv_gradient_residency,
              (Residency{28, 0, 0}));
}

TEST(Scenario, LoraTargetsDefaultToTheAttentionProjections) {
    const Recipe r = good("[training]\ntrainable = { lora = 8 }").plan.recipe;
    EXPECT_EQ(r.lora_rank, 8);
    EXPECT_EQ(r.lora_targets, (std::vector<std::string>{"q", "k", "v", "o"}));
    EXPECT_EQ(r.lora_alpha, 8);  // PEFT's default
    EXPECT_EQ(good("[training]\ntrainable = 'all'").plan.recipe, Recipe{});
}

TEST(Scenario, DefaultsGiveWayToFixedDecisions) {
    EXPECT_EQ(good("[plan]\nprefetch = 3").plan.decisions.staging_slots, 4);
    EXPECT_EQ(good("[plan]\nstaging_slots = 1").plan.decisions.prefetch, 0);
    EXPECT_EQ(good("[plan]\npage = 96").plan.decisions.chunk, Tokens(4128));
    EXPECT_EQ(good("[plan]\npage = 96").plan.decisions.segment, Tokens(131136));
    EXPECT_EQ(good("[plan]\ndeterministic = true").plan.decisions.segment, Tokens(8192));
    EXPECT_EQ(good("[plan]\npage = 96\ndeterministic = true").plan.decisions.segment, Tokens(8256));
    EXPECT_EQ(good("[plan]\nchunk = 4000").plan.decisions.page, Tokens(32));
    const Decisions d = good("[plan]\npage = 96\nattention = 'sparse'").plan.decisions;
    EXPECT_EQ(d.chunk, Tokens(4224));  // the least multiple of 96 and 128 from 4096
}

TEST(Scenario, OverridesReplaceAndFix) {
    const std::string file =
        "[budget]\nhost = '1GiB'\n[plan]\nchunk = 2048\nattention = 'sparse'\nkv = 'device'\n";
    const Scenario s =
        good(file, {"context=2Mi", "budget.host=64GiB", "plan.segment=4096", "plan.chunk=8Ki",
                    "training.trainable.lora=4", "plan.attention.budget=32", "plan.kv.device_layers=3",
                    "plan.kv_gradients={ device_chunks = 2 }", "title=a = b", "selection.chunk_reuse=0.125"});
    EXPECT_EQ(s.plan.context, Tokens(1 << 21));
    EXPECT_EQ(s.plan.budget.host, Bytes(64 * kGiB));
    EXPECT_EQ(s.plan.decisions.chunk, Tokens(8192));
    EXPECT_EQ(s.plan.decisions.segment, Tokens(4096));
    EXPECT_EQ(s.plan.recipe.lora_rank, 4);
    EXPECT_EQ(s.plan.decisions.attention, (Attention{.sparse = true, .budget = 32}));
    EXPECT_EQ(s.plan.decisions.kv_residency, (Residency{3, 0, 0}));
    EXPECT_EQ(s.plan.decisions.kv_gradient_residency, (Residency{0, 2, 0}));
    EXPECT_EQ(s.title, "a = b");
    EXPECT_EQ(s.plan.selection.chunk_reuse, 0.125);
    EXPECT_EQ(s.fixed, (std::set<std::string>{"attention", "chunk", "kv", "kv_gradients", "segment"}));
}

TEST(Scenario, AutoLeavesADecisionOpen) {
    const Scenario s = good("[plan]\nchunk = 2048\npage = 'auto'", {"plan.chunk=auto"});
    EXPECT_EQ(s.plan.decisions, defaults());
    EXPECT_TRUE(s.fixed.empty());
}

TEST(Scenario, FilesAreFoundBesideTheScenario) {
    const fs::path folder = fs::path(testing::TempDir()) / ("headroom_scenario." + std::to_string(getpid()));
    fs::create_directories(folder);
    RecordedSelection record;
    record.source = "a run", record.page = record.chunk = 128, record.budget = 2, record.block = 128;
    record.layers = 1, record.chunks = 2, record.begin = {0, 0, 1}, record.pages = {0};
    std::ofstream(folder / "pages.json") << write_selection(record);
    std::ofstream(folder / "s.toml") << "model = 'Qwen2.5-7B'\nhardware = 'h200-sxm-pcie5'\ncontext = 256\n"
                                        "selection.file = 'pages.json'\n[plan]\nchunk = 128\n"
                                        "attention = { kind = 'sparse', budget = 2, sink = 0, local = 1 }\n";
    const auto s = read_scenario(folder / "s.toml", HEADROOM_SOURCE_DIR);
    ASSERT_TRUE(s) << s.error().text();
    EXPECT_EQ(s->name, "s");
    ASSERT_TRUE(s->plan.selection.recorded);
    EXPECT_EQ(*s->plan.selection.recorded, record);
    EXPECT_EQ(s->plan.selection.source, "a run");
    const auto longer = read_scenario(folder / "s.toml", HEADROOM_SOURCE_DIR, {"context=257"});
    ASSERT_FALSE(longer);
    EXPECT_EQ(longer.error().where, "--set context=257");
    const auto lost = read_scenario(folder / "s.toml", HEADROOM_SOURCE_DIR, {"selection.file=none.json"});
    ASSERT_FALSE(lost);
    EXPECT_TRUE(lost.error().where.starts_with("--set selection.file=none.json: ")) << lost.error().text();
    EXPECT_FALSE(read_scenario(folder / "none.toml", HEADROOM_SOURCE_DIR));
    fs::remove_all(folder);
}

TEST(Scenario, ShippedScenariosAreRead) {
    int read = 0;
    for (const auto& file : fs::directory_iterator(fs::path(HEADROOM_SOURCE_DIR) / "scenarios")) {
        if (file.path().extension() != ".toml") continue;
        const auto s = read_scenario(file.path(), HEADROOM_SOURCE_DIR);
        EXPECT_TRUE(s) << s.error().text();
        ++read;
    }
    EXPECT_GT(read, 0);
}

TEST(Scenario, RequiredKeysAreNamed) {
    const auto s = parse_scenario("model = 'Qwen2.5-7B'\nhardware = 'x'\ncontxt = 1", "a.toml", ".", ".");
    ASSERT_FALSE(s);
    EXPECT_EQ(s.error().where, "a.toml:3, key 'contxt'");
    EXPECT_NE(s.error().found.find("did you mean 'context'"), std::string::npos) << s.error().text();
    const auto empty = parse_scenario("", "a.toml", ".", ".");
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().where, "a.toml, key 'model'");
    EXPECT_NE(empty.error().found.find("missing"), std::string::npos);
}

struct Wrong {
    const char *name, *rest, *override, *where, *found, *allowed;
};
void PrintTo(const Wrong& w, std::ostream* out) {
    *out << w.name;
}

// Lines: the rest of the file begins on line 4.
const Wrong wrongs[] = {
    {"syntax", "x = = 1", "", "dir/a.toml:4:", "", "TOML"},
    {"twice", "context = 1", "", "dir/a.toml:4:", "context", "TOML"},
    {"date", "title = 2026-11-29", "", "dir/a.toml:4", "a date", "a string"},
    {"not_finite", "[selection]\nseed = nan", "", "dir/a.toml:5", "nan", "finite"},
    {"unknown_root", "contexts = 1", "", "dir/a.toml:4, key 'contexts'", "did you mean 'context'",
     "'budget'"},
    {"unknown_decision", "[plan]\nchunks = 1", "", "dir/a.toml:5, key 'plan.chunks'", "did you mean 'chunk'",
     "'page'"},
    {"unknown_budget", "[budget]\nhosts = 1", "", "dir/a.toml:5, key 'budget.hosts'", "'host'", "'device'"},
    {"unknown_training", "[training]\nbatches = 1", "", "key 'training.batches'", "'batch'", "'optimizer'"},
    {"unknown_search", "[search]\nmay = []", "", "key 'search.may'", "unknown key", "'may_change'"},
    {"unknown_selection", "[selection]\nseeds = 1", "", "key 'selection.seeds'", "'seed'", "'file'"},
    {"unknown_attention", "[plan]\nattention = { kind = 'sparse', sinks = 1 }", "",
     "dir/a.toml:5, key 'plan.attention.sinks'", "'sink'", "'local'"},
    {"unknown_residency", "[plan]\nkv = { layers = 1 }", "", "key 'plan.kv.layers'", "unknown key",
     "'device_layers'"},
    {"unknown_trainable", "[training]\ntrainable = { lora = 1, target = [] }", "",
     "key 'training.trainable.target'", "'targets'", "'lora'"},
    {"lora_missing", "[training]\ntrainable = { targets = ['q'] }", "",
     "dir/a.toml:5, key 'training.trainable.lora'", "missing", "'training.trainable.lora'"},
    {"trainable_word", "[training]\ntrainable = 'some'", "", "key 'training.trainable'", "'some'", "\"all\""},
    {"table_as_number", "plan = 4", "", "dir/a.toml:4, key 'plan'", "4", "a table"},
    {"number_as_text", "[training]\noptimizer = 1", "", "key 'training.optimizer'", "1", "'adamw8bit'"},
    {"enum", "[training]\noptimizer = 'adam'", "", "key 'training.optimizer'", "did you mean 'adamw'",
     "'sgd'"},
    {"home", "[plan]\nweights_home = 'disk'", "", "key 'plan.weights_home'", "'disk'", "'ranks'"},
    {"dtype", "[plan]\nkv_dtype = 'float'", "", "key 'plan.kv_dtype'", "'float'", "'bf16'"},
    {"dtype_type", "[plan]\nkv_dtype = 16", "", "key 'plan.kv_dtype'", "16", "a string"},
    {"bool", "[plan]\ndeterministic = 1", "", "key 'plan.deterministic'", "1", "true or false"},
    {"count", "[plan]\nprefetch = 1.5", "", "key 'plan.prefetch'", "1.5", "whole number"},
    {"tokens", "[plan]\nchunk = true", "", "key 'plan.chunk'", "true", "tokens"},
    {"tokens_text", "[plan]\nchunk = '4Kib'", "", "key 'plan.chunk'", "'4Kib'", ""},
    {"bytes", "[budget]\ndevice = []", "", "key 'budget.device'", "a list", "bytes"},
    {"string", "title = 3", "", "key 'title'", "3", "a string"},
    {"list", "[search]\nmay_change = 'chunk'", "", "key 'search.may_change'", "'chunk'", "a list"},
    {"list_item", "[search]\nmay_change = [1]", "", "key 'search.may_change[0]'", "1", "a string"},
    {"real", "[selection]\nblock_reuse = 'x'", "", "key 'selection.block_reuse'", "'x'", "a number"},
    {"share", "[selection]\nblock_reuse = 2", "", "dir/a.toml:5, key 'selection.block_reuse'", "2", "0 to 1"},
    {"seed", "[selection]\nseed = -1", "", "key 'selection.seed'", "-1", "0 or more"},
    {"attention_word", "[plan]\nattention = 'spars'", "", "key 'plan.attention'", "did you mean 'sparse'",
     "kind"},
    {"attention_type", "[plan]\nattention = 1", "", "key 'plan.attention'", "1", "kind"},
    {"attention_kind", "[plan]\nattention = { kind = 'full' }", "", "key 'plan.attention.kind'", "'full'",
     "'sparse'"},
    {"residency_word", "[plan]\nkv = 'devise'", "", "key 'plan.kv'", "did you mean 'device'",
     "device_layers"},
    {"residency_type", "[plan]\nkv = 1", "", "key 'plan.kv'", "1", "device_layers"},
    {"search_key", "[search]\nmay_change = ['prefetch']", "", "key 'search.may_change'", "'prefetch'",
     "'chunk'"},
    {"search_fixed", "[plan]\nchunk = 4096\n[search]\nmay_change = ['chunk']", "", "key 'search.may_change'",
     "'chunk', which [plan] fixes", "open"},
    {"gpus", "gpus = 0", "", "dir/a.toml:4, key 'gpus'", "0", "1 to"},
    {"ranks", "[plan]\nring_ranks = 2", "", "dir/a.toml:5, key 'plan.ring_ranks'", "1 x 2",
     "at most the 1 GPUs"},
    {"ranks_none", "[plan]\ntensor_ranks = 0", "", "key", "0", ""},
    {"page", "[plan]\npage = 100", "", "dir/a.toml:5, key 'plan.page'", "100", "multiple of 8"},
    {"chunk", "[plan]\npage = 128\nchunk = 100", "", "dir/a.toml:6, key 'plan.chunk'", "100",
     "multiple of the page"},
    {"budget_attention", "[plan]\nattention = { kind = 'sparse', budget = 9 }", "",
     "dir/a.toml:5, key 'plan.attention.budget'", "9", "more than"},
    {"device_budget", "[budget]\ndevice = '1000GiB'", "", "dir/a.toml:5, key 'budget.device'", "1000 GiB",
     "h200"},
    {"model", "", "model=nothing", "--set model=nothing", "no shipped model", "Qwen2.5-7B"},
    {"hardware", "", "hardware=nothing", "--set hardware=nothing", "'nothing' is not known",
     "h200-sxm-pcie5"},
    {"set_value", "", "context=abc", "--set context=abc", "abc", ""},
    {"set_zero", "", "context=0", "--set context=0", "0", "tokens"},
    {"set_huge", "", "context=2Gi", "--set context=2Gi", "2147483648", "1073741824"},
    {"set_unknown", "", "foo.bar=1", "--set foo.bar=1, key 'foo'", "unknown key", "'model'"},
    {"set_unknown_decision", "[plan]\npage = 128", "plan.chunck=1", "--set plan.chunck=1",
     "did you mean 'chunk'", ""},
    {"set_no_equals", "", "context", "--set context", "no '='", "key=value"},
    {"set_no_key", "", "=1", "--set =1", "an empty key", "key=value"},
    {"set_empty_part", "", "plan..chunk=1", "--set plan..chunk=1", "an empty key", "key=value"},
    {"set_two_lines", "", "context=1\nmodel=2", "--set context=1?model=2", "1", ""},
    {"overflow", "[budget]\nhost = '9000000TiB'", "", "", "", ""},
};

class WrongScenario : public testing::TestWithParam<Wrong> {};

TEST_P(WrongScenario, IsOneClearError) {
    const Wrong& w = GetParam();
    const auto s = parse(
        w.rest, *w.override == '\0' ? std::vector<std::string>{} : std::vector<std::string>{w.override});
    ASSERT_FALSE(s);
    const Error& e = s.error();
    EXPECT_EQ(e.fault, Fault::bad_input);
    EXPECT_NE(e.where.find(w.where), std::string::npos) << e.text();
    EXPECT_NE(e.found.find(w.found), std::string::npos) << e.text();
    EXPECT_NE(e.allowed.find(w.allowed), std::string::npos) << e.text();
    EXPECT_FALSE(e.found.empty());
}

INSTANTIATE_TEST_SUITE_P(Inputs, WrongScenario, testing::ValuesIn(wrongs),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace headroom
