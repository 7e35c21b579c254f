#include "plan/check.h"

#include <gtest/gtest.h>

#include <functional>

#include "sim/plan/fixture.h"

namespace headroom {
namespace {

using Change = std::function<void(Plan&)>;
using D = Decisions&;

Change decide(std::function<void(D)> change) {
    return [change](Plan& p) { change(p.decisions); };
}
Change sparse(std::function<void(Attention&)> change) {
    return [change](Plan& p) {
        p.decisions.attention = {.sparse = true, .budget = 64, .block = 128, .sink = 1, .local = 8};
        change(p.decisions.attention);
    };
}
Change recorded(std::function<void(RecordedSelection&, Plan&)> change) {
    return [change](Plan& p) {
        p.decisions.attention.sparse = true;
        auto r = std::make_shared<RecordedSelection>();
        r->page = 128, r->chunk = 4096, r->budget = 64, r->block = 128, r->layers = 1, r->chunks = 4;
        change(*r, p);
        p.selection.recorded = r;
    };
}

// Each bound from both sides: `good` is the last value that is allowed, `bad` the first that is not.
struct Case {
    const char* name;
    Change good, bad;
    const char *key, *found, *allowed;  // parts of the message about `bad`
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.name;
}

const Case cases[] = {
    {"context_zero", [](Plan& p) { p.context = Tokens(1); }, [](Plan& p) { p.context = Tokens(0); },
     "context", "0", "1 to 1073741824 tokens"},
    {"context_long", [](Plan& p) { p.context = Tokens(kMaxContext); },
     [](Plan& p) { p.context = Tokens(kMaxContext + 1); }, "context", "1073741825", "tokens"},
    {"model", [](Plan& p) { p.model.not_trainable = ""; },
     [](Plan& p) { p.model.not_trainable = "latent attention"; }, "model",
     "small cannot be planned in training: latent attention (it has ", "trainable"},
    {"gpus",
     [](Plan& p) {
         p.gpus = 4;
         p.decisions.ring_ranks = 4;
     },
     [](Plan& p) {
         p.gpus = 5;
         p.decisions.ring_ranks = 5;
     },
     "gpus", "5", "1 to 4"},
    {"device_budget", [](Plan& p) { p.budget.device = p.hardware.device_memory; },
     [](Plan& p) { p.budget.device = p.hardware.device_memory + Bytes(1); }, "budget.device", "16.00 GiB",
     "box"},
    {"device_budget_none", [](Plan& p) { p.budget.device = Bytes(1); },
     [](Plan& p) { p.budget.device = Bytes(0); }, "budget.device", "0 B", "1 byte"},
    {"host_budget", [](Plan& p) { p.budget.host = Bytes(kTiB); }, [](Plan& p) { p.budget.host = Bytes(-1); },
     "budget.host", "-1", "bytes"},
    {"disk_budget", [](Plan& p) { p.budget.disk = Bytes(0); }, [](Plan& p) { p.budget.disk = Bytes(-1); },
     "budget.disk", "-1", "bytes"},
    {"batch", [](Plan& p) { p.recipe.batch = 1; }, [](Plan& p) { p.recipe.batch = 0; }, "training.batch", "0",
     "sequences"},
    {"states", [](Plan& p) { p.recipe.states = Dtype::bf16; }, [](Plan& p) { p.recipe.states = Dtype::fp16; },
     "training.states", "'fp16'", "'fp64', 'fp32' or 'bf16'"},
    {"gradients", [](Plan& p) { p.recipe.gradients = Dtype::bf16; },
     [](Plan& p) { p.recipe.gradients = Dtype::int8; }, "training.gradients", "'int8'",
     "'fp64', 'fp32' or 'bf16'"},
    {"lora",
     [](Plan& p) {
         p.recipe.lora_rank = 512;
         p.recipe.lora_targets = {"q", "down"};
     },
     [](Plan& p) {
         p.recipe.lora_rank = 513;
         p.recipe.lora_targets = {"q"};
     },
     "training.trainable.lora", "513", "1 to 512"},
    {"lora_target",
     [](Plan& p) {
         p.recipe.lora_rank = 8;
         p.recipe.lora_targets = {"gate"};
     },
     [](Plan& p) {
         p.recipe.lora_rank = 8;
         p.recipe.lora_targets = {"gates"};
     },
     "training.trainable.targets", "'gates' (did you mean 'gate'?)", "'down'"},
    {"lora_twice",
     [](Plan& p) {
         p.recipe.lora_rank = 8;
         p.recipe.lora_targets = {"q", "v"};
     },
     [](Plan& p) {
         p.recipe.lora_rank = 8;
         p.recipe.lora_targets = {"q", "v", "q"};
     },
     "training.trainable.targets", "'q' twice", "once"},
    {"lora_nothing",
     [](Plan& p) {
         p.recipe.lora_rank = 8;
         p.recipe.lora_targets = {"o"};
     },
     [](Plan& p) { p.recipe.lora_rank = 8; }, "training.trainable.targets", "an empty list", "'q'"},
    {"tensor_ranks_heads",
     [](Plan& p) {
         p.gpus = 2;
         p.decisions.tensor_ranks = 2;
     },
     [](Plan& p) {
         p.gpus = 3;
         p.decisions.tensor_ranks = 3;
     },
     "plan.tensor_ranks", "3", "8 query heads"},
    {"tensor_ranks_kv_heads",
     [](Plan& p) {
         p.gpus = 4;
         p.decisions.tensor_ranks = 4;
     },
     [](Plan& p) {
         p.gpus = 4;
         p.decisions.tensor_ranks = 4;
         p.model.kv_heads = 2;
     },
     "plan.tensor_ranks", "4", "2 KV heads"},
    {"tensor_ranks_mlp",
     [](Plan& p) {
         p.gpus = 4;
         p.decisions.tensor_ranks = 4;
     },
     [](Plan& p) {
         p.gpus = 4;
         p.decisions.tensor_ranks = 4;
         p.model.intermediate = 1022;
     },
     "plan.tensor_ranks", "4", "1022 MLP columns"},
    {"ranks_product",
     [](Plan& p) {
         p.gpus = 4;
         p.decisions.tensor_ranks = p.decisions.ring_ranks = 2;
     },
     [](Plan& p) {
         p.gpus = 4;
         p.decisions.tensor_ranks = 2;
     },
     "plan.tensor_ranks", "2 x 1", "the number of GPUs, 4"},
    {"page_small", decide([](D d) { d.page = Tokens(8); }), decide([](D d) { d.page = Tokens(7); }),
     "plan.page", "7", "8 to 4096"},
    {"page_odd", decide([](D d) { d.page = Tokens(64); }), decide([](D d) { d.page = Tokens(68); }),
     "plan.page", "68", "multiple of 8"},
    {"page_large", decide([](D d) { d.page = Tokens(4096); }), decide([](D d) {
         d.page = Tokens(4104);
         d.chunk = d.segment = Tokens(41040);
     }),
     "plan.page", "4104", "4096"},
    {"chunk_page", decide([](D d) { d.chunk = Tokens(128); }), decide([](D d) { d.chunk = Tokens(192); }),
     "plan.chunk", "192", "positive multiple of the page, 128"},
    {"chunk_none", decide([](D d) { d.chunk = Tokens(256); }), decide([](D d) { d.chunk = Tokens(0); }),
     "plan.chunk", "0", "positive"},
    {"chunk_long",
     [](Plan& p) {
         p.context = Tokens(1 << 22);
         p.decisions.chunk = Tokens(1 << 20);
     },
     [](Plan& p) {
         p.context = Tokens(1 << 22);
         p.decisions.chunk = Tokens((1 << 20) + 128);
     },
     "plan.chunk", "1048704", "whole context"},
    {"chunk_whole_context",
     [](Plan& p) {
         p.context = Tokens(1 << 22);
         p.decisions.chunk = Tokens(1 << 22);
     },
     [](Plan& p) {
         p.context = Tokens(1 << 22);
         p.decisions.chunk = Tokens((1 << 22) + 128);
     },
     "plan.chunk", "4194432", "at most 4194304"},
    // 2^30 tokens in chunks of 128 are 2^23 chunks; times 4 layers the limit, 2^25.
    {"chunk_layers",
     [](Plan& p) {
         p.context = Tokens(kMaxContext);
         p.decisions.chunk = Tokens(128);
     },
     [](Plan& p) {
         p.context = Tokens(kMaxContext);
         p.decisions.chunk = Tokens(128);
         p.recipe.batch = 2;
     },
     "plan.chunk", "8,388,608 chunks of 4 layers", "use a larger chunk"},
    {"segment", decide([](D d) { d.segment = Tokens(128); }), decide([](D d) { d.segment = Tokens(200); }),
     "plan.segment", "200", "multiple of the page, 128"},
    {"weights_dtype", decide([](D d) { d.weights = Dtype::fp16; }),
     decide([](D d) { d.weights = Dtype::q8_0; }), "plan.weights_dtype", "'q8_0'", "'bf16'"},
    {"kv_dtype", decide([](D d) { d.kv = Dtype::fp8; }), decide([](D d) { d.kv = Dtype::int8; }),
     "plan.kv_dtype", "'int8'", "'fp8'"},
    {"kv_gradients_dtype", decide([](D d) { d.kv_gradients = Dtype::fp32; }),
     decide([](D d) { d.kv_gradients = Dtype::fp8; }), "plan.kv_gradients_dtype", "'fp8'",
     "'fp64', 'fp32' or 'bf16'"},
    {"device_layers", decide([](D d) { d.kv_residency.device_layers = 4; }),
     decide([](D d) { d.kv_residency.device_layers = 5; }), "plan.kv.device_layers", "5", "0 to 4 layers"},
    {"device_chunks", decide([](D d) { d.kv_residency.device_chunks = 4; }),
     decide([](D d) { d.kv_residency.device_chunks = 5; }), "plan.kv.device_chunks", "5", "0 to 4 chunks"},
    {"disk_chunks", decide([](D d) {
         d.kv_gradient_residency = {0, 1, 3};
     }),
     decide([](D d) {
         d.kv_gradient_residency = {0, 1, 4};
     }),
     "plan.kv_gradients.disk_chunks", "4", "0 to 3 chunks"},
    {"prefetch", decide([](D d) { d.prefetch = 1; }), decide([](D d) { d.prefetch = 2; }), "plan.prefetch",
     "2", "less than the 2 staging_slots"},
    {"staging_slots", decide([](D d) {
         d.staging_slots = 1;
         d.prefetch = 0;
     }),
     decide([](D d) {
         d.staging_slots = 0;
         d.prefetch = 0;
     }),
     "plan.staging_slots", "0", "slots"},
    // K and V of one page of one layer: 128 tokens x 2 x 4 heads x 64 values x 2 bytes.
    {"staging_slot", decide([](D d) { d.staging_slot = Bytes(131072); }),
     decide([](D d) { d.staging_slot = Bytes(131071); }), "plan.staging_slot", "131071", "131072 to"},
    {"page_cache", decide([](D d) { d.page_cache = Bytes(16 * kGiB); }),
     decide([](D d) { d.page_cache = Bytes(16 * kGiB + 1); }), "plan.page_cache", "17179869185", "bytes"},
    {"wavefront", decide([](D d) { d.wavefront = 2; }), decide([](D d) { d.wavefront = 3; }),
     "plan.wavefront", "3", "1 to 2"},
    {"loss_tile", decide([](D d) { d.loss_tile = Tokens(0); }), decide([](D d) { d.loss_tile = Tokens(-1); }),
     "plan.loss_tile", "-1", "tokens"},
    {"mlp_tile", decide([](D d) { d.mlp_tile = Tokens(1); }), decide([](D d) { d.mlp_tile = Tokens(-1); }),
     "plan.mlp_tile", "-1", "tokens"},
    // 2^20 / 65535 = 16.0002.
    {"mlp_tiles",
     [](Plan& p) {
         p.context = Tokens(1 << 22);
         p.decisions.chunk = Tokens(1 << 20);
         p.decisions.mlp_tile = Tokens(17);
     },
     [](Plan& p) {
         p.context = Tokens(1 << 22);
         p.decisions.chunk = Tokens(1 << 20);
         p.decisions.mlp_tile = Tokens(16);
     },
     "plan.mlp_tile", "16", "17 to"},
    {"logits_fp32", decide([](D d) { d.logits_fp32 = 0; }), decide([](D d) { d.logits_fp32 = -1; }),
     "plan.logits_fp32", "-1", "copies"},
    {"strategy", decide([](D d) { d.strategy = "x"; }), decide([](D d) { d.strategy = ""; }), "plan.strategy",
     "an empty name", "strategy"},
    {"attention_budget", sparse([](Attention& a) { a.budget = 10; }),
     sparse([](Attention& a) { a.budget = 9; }), "plan.attention.budget", "9 pages",
     "more than sink and local together, 9"},
    {"attention_block", sparse([](Attention& a) { a.block = 4096; }),
     sparse([](Attention& a) { a.block = 8192; }), "plan.attention.block", "8192",
     "a divisor of the chunk, 4096"},
    {"attention_sink", sparse([](Attention& a) { a.sink = 0; }), sparse([](Attention& a) { a.sink = -1; }),
     "plan.attention.sink", "-1", "pages"},
    {"attention_local", sparse([](Attention& a) { a.local = 0; }), sparse([](Attention& a) { a.local = -1; }),
     "plan.attention.local", "-1", "pages"},
    {"waiting", sparse([](Attention& a) { a.waiting = 64; }), sparse([](Attention& a) { a.waiting = 63; }),
     "plan.attention.waiting", "63 pages", "0 (any number), or at least the budget, 64"},
    {"waiting_sign", sparse([](Attention& a) { a.waiting = 0; }),
     sparse([](Attention& a) { a.waiting = -1; }), "plan.attention.waiting", "-1", "pages"},
    // 2^30 tokens in blocks of 128 are 2^23 blocks; 128 pages each make 2^30 picks.
    {"attention_picks",
     [](Plan& p) {
         sparse([](Attention& a) { a.budget = 128; })(p);
         p.context = Tokens(kMaxContext);
     },
     [](Plan& p) {
         sparse([](Attention& a) { a.budget = 129; })(p);
         p.context = Tokens(kMaxContext);
     },
     "plan.attention.budget", "129 pages for each of 8,388,608 blocks", "larger block or a smaller budget"},
    {"block_reuse", [](Plan& p) { p.selection.block_reuse = 1; },
     [](Plan& p) { p.selection.block_reuse = 1.01; }, "selection.block_reuse", "1.01", "0 to 1"},
    {"chunk_reuse", [](Plan& p) { p.selection.chunk_reuse = 0; },
     [](Plan& p) { p.selection.chunk_reuse = -0.1; }, "selection.chunk_reuse", "-0.1", "0 to 1"},
    {"neighbours", [](Plan& p) { p.selection.neighbours = 0.95; },
     [](Plan& p) { p.selection.neighbours = 1; }, "selection.neighbours", "1", "0 to 0.95"},
    {"spread", [](Plan& p) { p.selection.spread = 4; }, [](Plan& p) { p.selection.spread = -0.1; },
     "selection.spread", "-0.1", "0 to 4"},
    {"record_chunks", recorded([](auto&, Plan&) {}),
     recorded([](auto&, Plan& p) { p.context = p.context + Tokens(1); }), "context",
     "16385 tokens are 5 chunks", "at most the 4 chunks"},
    {"record_page", recorded([](auto&, Plan&) {}), recorded([](auto& r, Plan&) { r.page = 64; }), "plan.page",
     "128", "64, the page of the recorded selection"},
    {"record_chunk", recorded([](auto&, Plan&) {}), recorded([](auto& r, Plan&) { r.chunk = 2048; }),
     "plan.chunk", "4096", "2048"},
    {"record_budget", recorded([](auto&, Plan&) {}), recorded([](auto& r, Plan&) { r.budget = 32; }),
     "plan.attention.budget", "64", "32"},
    {"record_block", recorded([](auto&, Plan&) {}), recorded([](auto& r, Plan&) { r.block = 64; }),
     "plan.attention.block", "128", "64"},
};

class CheckPlan : public testing::TestWithParam<Case> {};

TEST_P(CheckPlan, AllowsTheLastGoodValueAndNamesTheFirstBad) {
    Plan good = test::small_plan(), bad = test::small_plan();
    GetParam().good(good);
    GetParam().bad(bad);
    const auto passed = check_plan(good, "a.toml");
    EXPECT_TRUE(passed) << passed.error().text();
    const auto refused = check_plan(bad, "a.toml");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::bad_input);
    EXPECT_EQ(refused.error().where, "a.toml, key '" + std::string(GetParam().key) + "'");
    EXPECT_NE(refused.error().found.find(GetParam().found), std::string::npos) << refused.error().text();
    EXPECT_NE(refused.error().allowed.find(GetParam().allowed), std::string::npos) << refused.error().text();
}

INSTANTIATE_TEST_SUITE_P(Bounds, CheckPlan, testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CheckPlan, DenseAttentionIgnoresTheSparseNumbers) {
    Plan p = test::small_plan();
    p.decisions.attention = {.sparse = false, .budget = 1, .block = 100, .sink = 5, .local = 5};
    EXPECT_TRUE(check_plan(p, ""));
}

TEST(CheckPlan, AbsurdSizesAreAnErrorNotAWrap) {
    Plan p = test::small_plan();
    p.model.kv_heads = p.model.heads = p.model.head_dim = int64_t{1} << 25;  // 2^51 values a token
    p.decisions.page = p.decisions.chunk = Tokens(4096);                     // 2^63 a page
    const auto refused = check_plan(p, "a.toml");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().found.find("2^63"), std::string::npos);
}

}  // namespace
}  // namespace headroom
