// Loss and every gradient of the engine against whole-sequence autograd.
#include <cstdio>
#include <deque>
#include <span>

#include "decoder/adapters.h"
#include "decoder/parameters.h"
#include "engine/run/small_model.h"
#include "program/page_units.h"
#include "program/selected.h"
#include "sim/plan/most_waiting.h"

namespace headroom::engine::test {
namespace {

const Family kFamilies[] = {{"qwen2", true, false, 0, ""},
                            {"qwen2", true, true, 0, ""},
                            {"llama", false, false, 0, "llama3"},
                            {"mistral", false, false, 20, ""},
                            {"qwen3", false, true, 0, "", true},
                            {"gemma3_text", false, true, 20, "linear", true, true},
                            {"gpt_oss", true, false, 20, "yarn", false, false, true}};

struct Errors {
    double worst = 0;  // of the loss and of any parameter's gradient
    double whole = 0;  // of all gradients as one vector
};

// Of weights and adapters as `type` holds them. Computed once for a model, a recipe, a context and a type.
const ReferenceResult& truth_of(const Plan& plan, at::ScalarType type, const ReferenceSelection& selection) {
    ReferencePages pages;
    if (unpacks_pages(plan))
        pages = {plan.decisions.page.count(), plan.decisions.chunk.count(), packs_pages(plan)};
    struct Known {
        Model model;
        Recipe recipe;
        int64_t context;
        at::ScalarType type;
        ReferenceSelection selection;
        ReferencePages pages;
        ReferenceResult result;
    };
    static std::deque<Known> known;
    for (const Known& k : known) {
        if (k.model == plan.model && k.recipe == plan.recipe && k.context == plan.context.count() &&
            k.type == type && k.selection == selection && k.pages == pages)
            return k.result;
    }
    const auto as_stored = [&](const at::Tensor& values) { return values.to(type).to(at::kDouble); };
    const at::Tensor adapters = plan.recipe.lora_rank > 0 ? as_stored(random_adapters(plan)) : at::Tensor();
    known.push_back(
        {plan.model, plan.recipe, plan.context.count(), type, selection, pages,
         reference_step(plan.model, as_stored(random_weights(plan)),
                        random_tokens(plan).view({plan.recipe.batch, -1}), plan.decisions.honour_windows,
                        selection, {plan.recipe, adapters}, pages)});
    return known.back().result;
}

// What the run selected, as the mask that the truth is computed under; empty where attention is dense.
ReferenceSelection selection_of(const SmallRun& run) {
    const Decisions& d = run.plan.decisions;
    ReferenceSelection selection;
    if (!d.attention.sparse) return selection;
    selection.page = d.page.count();
    selection.chunk = d.chunk.count();
    selection.block = d.attention.block;
    selection.pages.resize(run.plan.model.layers.size());
    for (int64_t l = 0; l < run.plan.model.layer_count(); ++l) {
        if (run.plan.model.layers[static_cast<size_t>(l)].window > 0) continue;
        auto& rows = selection.pages[static_cast<size_t>(l)];
        for (int64_t c = 0; c < run.plan.chunks(); ++c) {
            const int64_t tokens = run.plan.chunk_tokens(c), blocks = ceil_div(tokens, d.attention.block);
            const at::Tensor of_chunk =
                c > 0 ? run.executor->selected(c, l) : at::empty({blocks, 0}, at::kInt);
            for (int64_t b = 0; b < of_chunk.size(0); ++b) {
                const int32_t* first = of_chunk.const_data_ptr<int32_t>() + b * of_chunk.size(1);
                rows.emplace_back(first, first + of_chunk.size(1));
            }
        }
    }
    return selection;
}

// `most`: above which a single parameter's error is a fault.
Errors errors_of(const Plan& plan, const at::Device& device = at::kCPU, double most = 0.1) {
    SmallRun run(plan, {}, device);
    const StepResult got = run.step();
    const bool lora = plan.recipe.lora_rank > 0;
    const ReferenceResult& truth = truth_of(plan, run.executor->weights().scalar_type(), selection_of(run));
    const at::Tensor gradients = run.executor->weight_gradients().cpu();
    Errors errors{std::abs(got.loss - truth.loss) / truth.loss, relative_error(gradients, truth.gradients)};
    for (const Parameter& p : lora ? adapter_list(plan.model, plan.recipe) : parameter_list(plan.model)) {
        const double error = relative_error(gradients.narrow(0, p.offset, p.elements()),
                                            truth.gradients.narrow(0, p.offset, p.elements()));
        if (!(error <= errors.worst)) errors.worst = error;  // NaN too
        EXPECT_LT(error, most) << p.weight.name;
    }
    return errors;
}

double worst_error(const Plan& plan, const at::Device& device = at::kCPU) {
    return errors_of(plan, device).worst;
}

TEST(Truth, EveryFamilyChunkAndPage) {
    for (const Family& family : kFamilies) {
        for (const auto& [context, chunk, page] :
             {std::array<int64_t, 3>{96, 32, 8}, {96, 96, 8}, {100, 32, 16}, {100, 24, 8}, {70, 64, 64}}) {
            const Plan plan = small_plan(family, Dtype::fp64, context, chunk, page);
            EXPECT_LT(worst_error(plan), 1e-10) << family.type << " " << family.window << " context "
                                                << context << " chunk " << chunk << " page " << page;
        }
    }
}

TEST(Truth, EveryRecomputeChoice) {
    for (const Family& family : kFamilies) {
        for (const Activations activations : {Activations::keep, Activations::checkpoint_device}) {
            for (const AttentionOutputs outputs : {AttentionOutputs::recompute, AttentionOutputs::chunk}) {
                for (const int64_t segment : {16, 40, 4096}) {
                    if (segment != 40 && &family != &kFamilies[0]) continue;  // segments know no family
                    Plan plan = small_plan(family, Dtype::fp64, 150, 40, 8);
                    plan.decisions.activations = activations;
                    plan.decisions.attention_outputs = outputs;
                    plan.decisions.segment = Tokens(segment);
                    plan.decisions.loss_tile = Tokens(segment == 40 ? 16 : 0);
                    EXPECT_LT(worst_error(plan), 1e-10) << family.type;
                }
            }
        }
    }
}

Plan with_adapters(Plan plan, int64_t rank, std::vector<std::string> targets) {
    plan.recipe.lora_rank = rank;
    plan.recipe.lora_alpha = 12;
    plan.recipe.lora_targets = std::move(targets);
    return plan;
}
const std::vector<std::string> kTargets[] = {
    {"q", "k", "v", "o"}, {"down", "v", "q", "up"}, {"k"}, {"q", "k", "v", "o", "gate", "up", "down"}};

TEST(Truth, Adapters) {
    for (const std::vector<std::string>& targets : kTargets) {
        for (const auto& [context, chunk, page] :
             {std::array<int64_t, 3>{96, 32, 8}, {100, 32, 16}, {70, 64, 64}}) {
            const Plan base = small_plan(kFamilies[context % 2], Dtype::fp64, context, chunk, page);
            EXPECT_LT(worst_error(with_adapters(base, 4, targets)), 1e-10) << targets[0];
        }
    }
    for (const Family& family : kFamilies) {
        for (const Activations activations : {Activations::keep, Activations::checkpoint_device}) {
            for (const AttentionOutputs outputs : {AttentionOutputs::recompute, AttentionOutputs::chunk}) {
                Plan plan = with_adapters(small_plan(family, Dtype::fp64, 90, 40, 8), 3, kTargets[3]);
                plan.decisions.activations = activations;
                plan.decisions.attention_outputs = outputs;
                EXPECT_LT(worst_error(plan), 1e-10) << family.type;
            }
        }
    }
}

// One sequence after the other; the loss is the mean over the targets of all.
TEST(Truth, Batch) {
    for (const int64_t batch : {2, 3}) {
        for (const auto& [context, chunk, page] :
             {std::array<int64_t, 3>{96, 32, 8}, {100, 32, 16}, {60, 64, 64}}) {
            Plan plan = small_plan(kFamilies[3], Dtype::fp64, context, chunk, page);
            plan.recipe.batch = batch;
            plan.decisions.activations = batch == 2 ? Activations::keep : Activations::checkpoint_device;
            EXPECT_LT(worst_error(plan), 1e-10) << batch << " x " << context;
            EXPECT_LT(worst_error(with_adapters(plan, 4, kTargets[3])), 1e-10) << batch << " x " << context;
        }
    }
}

// Pages and outputs that travel: by layer, by chunk, both halves of a piece's way (K and V, their gradients)
// apart, through two slots and three.
TEST(Truth, EveryResidency) {
    const Residency device{3, 0, 0}, host{0, 0, 0}, layer{1, 0, 0}, chunks{0, 2, 0};
    for (const Family& family : {kFamilies[0], kFamilies[3]}) {
        for (const Residency& kv : {device, host, layer, chunks}) {
            for (const Residency& gradients : {device, host, layer, chunks}) {
                Plan plan = small_plan(family, Dtype::fp64, 150, 32, 8);
                plan.decisions.kv_residency = kv;
                plan.decisions.kv_gradient_residency = gradients;
                plan.decisions.staging_slot = Bytes(32 * 2 * 32 * 8);  // one chunk
                plan.decisions.segment = Tokens(16);
                EXPECT_LT(worst_error(plan), 1e-10)
                    << family.type << " kv " << kv.device_layers << "/" << kv.device_chunks << " gradients "
                    << gradients.device_layers << "/" << gradients.device_chunks;
                plan.decisions.staging_slots = 3;
                plan.decisions.prefetch = 2;
                plan.decisions.wavefront = 2;
                plan.decisions.page_copy = PageCopy::loop;
                EXPECT_LT(worst_error(plan), 1e-10) << family.type << ", three slots, wavefront";
            }
        }
    }
}

// Under the mask of what was selected the gradients are exact, whatever was selected; pages on the device, on
// the host, in part; by one choice a chunk and by several.
TEST(Truth, SelectedPages) {
    const Residency device{3, 0, 0}, host{0, 0, 0}, layer{1, 0, 0}, chunks{0, 2, 0};
    for (const int64_t block : {32, 8}) {
        for (const auto& [kv, gradients] :
             {std::pair{device, device}, {host, host}, {layer, chunks}, {chunks, host}, {device, host}}) {
            Plan plan = sparse(small_plan(kFamilies[0], Dtype::fp64, 150, 32, 8), 5, block, 1, 2);
            plan.decisions.kv_residency = kv;
            plan.decisions.kv_gradient_residency = gradients;
            plan.decisions.wavefront = block == 32 ? 1 : 2;
            EXPECT_LT(worst_error(plan), 1e-10) << "block " << block << " kv " << kv.device_layers;
            plan.decisions.attention_outputs = AttentionOutputs::host;
            plan.decisions.activations = Activations::checkpoint_device;
            plan.decisions.page_copy = PageCopy::gather;
            EXPECT_LT(worst_error(plan), 1e-10)
                << "block " << block << " kv " << kv.device_layers << ", outputs";
        }
    }
    Plan half = sparse(small_plan(kFamilies[0], Dtype::bf16, 100, 32, 8), 5, 16, 1, 2);
    half.recipe.gradients = Dtype::fp32;
    half.decisions.kv_residency = half.decisions.kv_gradient_residency = host;
    EXPECT_LT(errors_of(half).whole, 3e-2);
}

// The longest of the lists of pages may be that of the chunk's own sums, or that of what the cache gives up.
TEST(Truth, ChunksOfMorePagesThanASelection) {
    const int64_t page = 8 * 2 * 32 * 8;  // bytes of K and V, or of dK and dV
    for (const int64_t cached : {0, 8, 12}) {
        for (const PageCopy copy : {PageCopy::batch, PageCopy::gather}) {
            Plan plan = sparse(small_plan(kFamilies[0], Dtype::fp64, 500, 128, 8), 16, 128, 1, 2);
            plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = {0, 0, 0};
            plan.decisions.page_cache = Bytes(3 * cached * 2 * page);
            plan.decisions.page_copy = copy;
            EXPECT_LT(worst_error(plan), 1e-10) << cached << " pages cached";
        }
    }
}

// What travels is what the program says of the selection that was made, to the byte.
void expect_planned_traffic(const SmallRun& run, const StepResult& result, const std::string& what) {
    Plan seen = run.plan;
    seen.selection.recorded = std::make_shared<RecordedSelection>(run.executor->selection());
    const Result<Program> program = lower(run.plan, headroom::select_pages(seen));
    ASSERT_TRUE(program) << program.error().text();
    int64_t loaded = 0, stored = 0;
    for (OpId op = 0; op < program->size(); ++op) {
        const OpKind kind = program->ops[op].kind;
        const int64_t bytes = program->work_of(op).bytes;
        if (kind == OpKind::load_pages || kind == OpKind::load_page_gradients) loaded += bytes;
        if (kind == OpKind::store_pages || kind == OpKind::store_page_gradients) stored += bytes;
    }
    EXPECT_EQ(result.loaded_page_bytes, loaded) << what;
    EXPECT_EQ(result.stored_page_bytes, stored) << what;
}

// Over all layers whose pages of dK and dV stay on the device (or the others).
int64_t most_waiting(const SmallRun& run, bool on_device) {
    const RecordedSelection s = run.executor->selection();
    const Residency& home = run.plan.decisions.kv_gradient_residency;
    return headroom::test::most_waiting(
        s.layers, s.chunks, s.chunk / s.page, [&](int64_t chunk, int64_t layer) -> std::span<const uint32_t> {
            if (Plan::device_layer(home, layer, s.layers) != on_device) return {};
            const auto row = static_cast<size_t>(chunk * s.layers + layer);
            return {s.pages.begin() + s.begin[row], s.pages.begin() + s.begin[row + 1]};
        });
}

// With a limit no more pages wait than may, in each tier, however pages travel; the gradients stay exact
// under the mask of what was selected.
void expect_limited(Plan plan, double bound, const at::Device& device, const std::string& what) {
    const int64_t layers = plan.model.layer_count(),
                  here = plan.decisions.kv_gradient_residency.device_layers;
    SmallRun free(plan, {}, device);
    free.step();
    const int64_t limit = plan.decisions.attention.waiting = 2 * plan.decisions.attention.budget;
    EXPECT_LT(errors_of(plan, device).whole, bound) << what;
    SmallRun run(plan, {}, device);
    expect_planned_traffic(run, run.step(), what);
    for (const bool on_device : {true, false}) {
        const int64_t most = most_waiting(run, on_device), share = limit * (on_device ? here : layers - here);
        EXPECT_EQ(most, share) << what;
        if (share > 0) {
            EXPECT_GT(most_waiting(free, on_device), share) << what << ": nothing to limit";
        }
    }
    const StepResult again = run.step();  // the second step begins with none that waits
    EXPECT_GT(again.loss, 0) << what;
    EXPECT_LE(most_waiting(run, here > 0), limit * (here > 0 ? here : layers)) << what;
}

TEST(Truth, LimitedWaitingPages) {
    const Residency device{3, 0, 0}, host{0, 0, 0}, layer{1, 0, 0};
    for (const int64_t block : {32, 16}) {
        for (const auto& [kv, gradients] :
             {std::pair{device, device}, {host, host}, {layer, layer}, {device, host}}) {
            Plan plan = sparse(small_plan(kFamilies[0], Dtype::fp64, 620, 32, 8), 5, block, 1, 2);
            plan.decisions.kv_residency = kv;
            plan.decisions.kv_gradient_residency = gradients;
            plan.decisions.wavefront = block == 32 ? 1 : 2;
            plan.decisions.attention_outputs =
                block == 32 ? AttentionOutputs::recompute : AttentionOutputs::host;
            expect_limited(plan, 1e-10, at::kCPU,
                           "block " + std::to_string(block) + ", gradients of " +
                               std::to_string(gradients.device_layers) + " layers on the device");
        }
    }
}

// The room that such a plan keeps is enough whatever is selected: of the same plan without a limit, drawn
// narrower than it selects, the run ends.
TEST(Truth, AWaitingLimitIsARoomThatNoRunLeaves) {
    for (const int64_t on_device : {0, 3}) {
        Plan plan = small_plan(kFamilies[0], Dtype::fp64, 620, 32, 8);
        plan.decisions.attention = {true, 5, 32, 1, 2};
        plan.decisions.kv_residency = {3 - on_device, 0, 0};
        plan.decisions.kv_gradient_residency = {on_device, 0, 0};
        plan.selection.chunk_reuse = 0.5;
        plan.selection.recency = 3;
        SmallRun free(plan);
        const Result<StepResult> ended = free.executor->step(random_tokens(plan));
        ASSERT_FALSE(ended);
        EXPECT_NE(ended.error().text().find("plan.attention.waiting"), std::string::npos)
            << ended.error().text();
        plan.decisions.attention.waiting = 10;
        plan.selection.spread = kSpread;
        SmallRun limited(plan);
        limited.step();
    }
}

TEST(Truth, PageCache) {
    const Residency device{3, 0, 0}, host{0, 0, 0}, layer{1, 0, 0}, chunks{0, 2, 0};
    const int64_t page = 8 * 2 * 32 * 8;  // bytes of K and V, or of dK and dV
    for (const auto& [kv, gradients] : {std::pair{host, host},
                                        {layer, chunks},
                                        {chunks, host},
                                        {device, host},
                                        {host, device},
                                        {layer, layer}}) {
        for (const int64_t capacity : {1, 3, 7, 1000}) {  // pages of a layer in the gradient pass
            for (const int64_t block : {32, 8}) {
                Plan plan = sparse(small_plan(kFamilies[0], Dtype::fp64, 190, 32, 8), 5, block, 1, 2);
                plan.decisions.kv_residency = kv;
                plan.decisions.kv_gradient_residency = gradients;
                plan.decisions.page_cache = Bytes(3 * capacity * 2 * page);
                plan.decisions.wavefront = block == 32 ? 1 : 2;
                if (block == 8) {
                    plan.decisions.attention_outputs = AttentionOutputs::host;
                    plan.decisions.activations = Activations::checkpoint_device;
                    plan.decisions.page_copy = PageCopy::gather;
                }
                const std::string what = "capacity " + std::to_string(capacity) + ", block " +
                                         std::to_string(block) + ", kv " + std::to_string(kv.device_layers) +
                                         "/" + std::to_string(kv.device_chunks) + ", gradients " +
                                         std::to_string(gradients.device_layers) + "/" +
                                         std::to_string(gradients.device_chunks);
                EXPECT_LT(worst_error(plan), 1e-10) << what;
                SmallRun run(plan);
                const StepResult cached = run.step();
                expect_planned_traffic(run, cached, what);
                plan.decisions.page_cache = Bytes(0);
                SmallRun without(plan);
                const StepResult bare = without.step();
                expect_planned_traffic(without, bare, what + ", without");
                EXPECT_EQ(cached.loss, bare.loss) << what;
                EXPECT_TRUE(at::equal(run.executor->weight_gradients(), without.executor->weight_gradients()))
                    << what;
                if (capacity == 1000 && bare.loaded_page_bytes > 0) {
                    EXPECT_LT(cached.loaded_page_bytes, bare.loaded_page_bytes) << what;
                }
            }
        }
    }
    // The second sequence finds nothing of the first.
    Plan two = sparse(small_plan(kFamilies[0], Dtype::fp64, 150, 32, 8), 5, 8, 1, 2);
    two.recipe.batch = 2;
    two.decisions.kv_residency = two.decisions.kv_gradient_residency = host;
    SmallRun without(two);
    two.decisions.page_cache = Bytes(3 * 7 * 2 * page);
    SmallRun with(two);
    EXPECT_EQ(with.step().loss, without.step().loss);
    EXPECT_TRUE(at::equal(with.executor->weight_gradients(), without.executor->weight_gradients()));
    Plan half = sparse(small_plan(kFamilies[0], Dtype::bf16, 100, 32, 8), 5, 16, 1, 2);
    half.recipe.gradients = half.decisions.kv_gradients = Dtype::fp32;  // a slot holds pages of two sizes
    half.decisions.kv_residency = half.decisions.kv_gradient_residency = host;
    half.decisions.page_cache = Bytes(3 * 4 * (1024 + 2048));
    EXPECT_LT(errors_of(half).whole, 3e-2);
}

// Pages of dK and dV wider than those of K and V, or narrower: a page is several units of the shared pool
// then. Rounding of the sums alone separates fp64 runs from the truth: each of the fewer than 20 chunks adds
// one, of 2^-24 or 2^-9, so sqrt(20) 2^-24 = 2.7e-7 or sqrt(20) 2^-9 = 8.7e-3 are expected of a page; the
// bounds are four times that.
TEST(Truth, PagesOfTwoSizes) {
    const Residency device{3, 0, 0}, host{0, 0, 0}, layer{1, 0, 0}, chunks{0, 2, 0};
    for (const auto& [kv, gradients] :
         {std::pair{device, device}, {host, host}, {layer, chunks}, {chunks, host}, {device, host}}) {
        for (const int64_t block : {0, 32, 8}) {  // 0: dense
            Plan plan = small_plan(kFamilies[0], Dtype::fp64, 150, 32, 8);
            if (block > 0) plan = sparse(plan, 5, block, 1, 2);
            plan.decisions.kv_residency = kv;
            plan.decisions.kv_gradient_residency = gradients;
            plan.decisions.staging_slot = Bytes(32 * 2 * 32 * 8);
            plan.decisions.page_copy = block == 8 ? PageCopy::gather : PageCopy::batch;
            for (const auto& [dtype, bound] : {std::pair{Dtype::fp32, 1.1e-6}, {Dtype::bf16, 3.5e-2}}) {
                plan.decisions.kv_gradients = dtype;
                const double whole = errors_of(plan).whole;
                EXPECT_LT(whole, bound) << name_of(dtype) << ", block " << block;
                EXPECT_GT(whole, 1e-10) << "sums that were not rounded";
            }
            // K and V in bf16: sums in fp32 lose less than those in bf16, and where they live changes no bit.
            Plan half = small_plan(kFamilies[0], Dtype::bf16, 150, 32, 8);
            if (block > 0) half = sparse(half, 5, block, 1, 2);
            half.recipe.gradients = half.decisions.kv_gradients = Dtype::fp32;
            half.decisions.kv_residency = half.decisions.kv_gradient_residency = device;
            SmallRun here(half);
            half.decisions.kv_residency = kv;
            half.decisions.kv_gradient_residency = gradients;
            SmallRun there(half);
            EXPECT_EQ(here.step().loss, there.step().loss);
            EXPECT_TRUE(at::equal(here.executor->weight_gradients(), there.executor->weight_gradients()))
                << "block " << block;
            EXPECT_LT(errors_of(half).whole, 3e-2);
        }
    }
}

// Pages of K and V in fp8, under the reference's own rounding of what earlier chunks left: dense and by
// selection, by home, through slots and the cache. Values that stand on the border of two codes could fall to
// either side; among so few none does.
TEST(Truth, PackedPages) {
    const Residency device{3, 0, 0}, host{0, 0, 0}, layer{1, 0, 0}, chunks{0, 2, 0};
    const auto packed = [](Plan plan, Dtype dtype = Dtype::fp8) {
        plan.decisions.kv = dtype;
        return plan;
    };
    for (const Dtype dtype : {Dtype::fp8, Dtype::bf16}) {
        for (const Family& family : kFamilies) {
            const Plan plan = packed(small_plan(family, Dtype::fp64, 100, 32, 16), dtype);
            EXPECT_LT(worst_error(plan), 1e-10) << family.type << " " << name_of(dtype);
        }
        for (const int64_t block : {32, 8}) {
            const Plan plan =
                packed(sparse(small_plan(kFamilies[0], Dtype::fp64, 150, 32, 8), 5, block, 1, 2), dtype);
            EXPECT_LT(worst_error(plan), 1e-10) << "block " << block << " " << name_of(dtype);
        }
    }
    for (const auto& [kv, gradients] :
         {std::pair{device, device}, {host, host}, {layer, chunks}, {chunks, host}, {device, host}}) {
        for (const int64_t block : {0, 32, 8}) {  // 0: dense
            for (const int64_t cache : {0, 4}) {
                Plan plan = packed(small_plan(kFamilies[block == 0 ? 3 : 0], Dtype::fp64, 150, 32, 8));
                if (block > 0) plan = sparse(plan, 5, block, 1, 2);
                if (block == 0 && cache > 0) plan.decisions.segment = Tokens(16);
                plan.decisions.kv_residency = kv;
                plan.decisions.kv_gradient_residency = gradients;
                plan.decisions.staging_slot = Bytes(32 * 2 * 32);
                plan.decisions.wavefront = block == 8 ? 2 : 1;
                plan.decisions.page_copy = block == 8 ? PageCopy::gather : PageCopy::batch;
                if (block > 0) plan.decisions.page_cache = Bytes(cache * 3 * 9 * 8 * 2 * 32);
                const std::string what =
                    "block " + std::to_string(block) + ", kv " + std::to_string(kv.device_layers) + "/" +
                    std::to_string(kv.device_chunks) + ", cache " + std::to_string(cache);
                EXPECT_LT(worst_error(plan), 1e-10) << what;
                // The rounding is there: without it the gradients are others.
                Plan wide = plan;
                wide.decisions.kv = Dtype::fp64;
                wide.decisions.staging_slot = Bytes(32 * 2 * 32 * 8);
                SmallRun a(plan), b(wide);
                (void)a.step();
                (void)b.step();
                EXPECT_GT(relative_error(a.executor->weight_gradients(), b.executor->weight_gradients()),
                          1e-4)
                    << what;
            }
        }
    }
    // Beside weights in bf16: what rounding to fp8 does to a value, 2^-5 of it on average, is averaged over
    // the keys of a query.
    for (const int64_t block : {0, 16}) {
        Plan half = packed(small_plan(kFamilies[0], Dtype::bf16, 150, 32, 8));
        if (block > 0) half = sparse(half, 5, block, 1, 2);
        half.recipe.gradients = Dtype::fp32;
        half.decisions.kv_residency = half.decisions.kv_gradient_residency = host;
        EXPECT_LT(errors_of(half).whole, 3e-2);
    }
}

// With a budget of all pages nothing is left out.
TEST(Truth, AllPagesSelectedIsDense) {
    const Plan dense = small_plan(kFamilies[0], Dtype::fp64, 150, 32, 8);
    SmallRun a(dense), b(sparse(dense, 32, 16, 1, 2));
    EXPECT_NEAR(a.step().loss, b.step().loss, 1e-12);
    EXPECT_LT(relative_error(b.executor->weight_gradients(), a.executor->weight_gradients()), 1e-12);
}

// Op::sequence counts modulo 256.
TEST(Truth, MoreSequencesThanAnOpCounts) {
    Plan plan = small_plan(kFamilies[0], Dtype::fp64, 3, 8, 8);
    plan.recipe.batch = 258;
    EXPECT_LT(worst_error(plan), 1e-10);
}

TEST(Truth, EveryHomeOfOutputsAndActivations) {
    for (const Activations activations :
         {Activations::keep, Activations::checkpoint_device, Activations::checkpoint_host}) {
        for (const AttentionOutputs outputs : {AttentionOutputs::recompute, AttentionOutputs::chunk,
                                               AttentionOutputs::device, AttentionOutputs::host}) {
            for (const int64_t wavefront : {1, 2}) {
                Plan plan = small_plan(kFamilies[0], Dtype::fp64, 150, 40, 8);
                plan.decisions.kv_residency = Residency{1, 0, 0};
                plan.decisions.activations = activations;
                plan.decisions.attention_outputs = outputs;
                plan.decisions.wavefront = wavefront;
                plan.recipe.batch = wavefront;
                EXPECT_LT(worst_error(plan), 1e-10)
                    << name_of(activations) << " " << name_of(outputs) << " " << wavefront;
            }
        }
    }
}

TEST(Truth, WholeSequence) {
    Plan plan = small_plan(kFamilies[2], Dtype::fp64, 90, 96, 8);
    plan.decisions.strategy = "whole-sequence";
    for (const Activations activations : {Activations::checkpoint_device, Activations::checkpoint_host}) {
        plan.decisions.activations = activations;
        EXPECT_LT(worst_error(plan), 1e-10);
    }
}

// Tiles of the MLP, the last one ragged, in whole chunks and in the ragged last one.
TEST(Truth, TilesOfTheMlp) {
    for (const Family& family : kFamilies) {
        for (const Activations activations :
             {Activations::keep, Activations::checkpoint_device, Activations::checkpoint_host}) {
            for (const int64_t tile : {16, 24, 39}) {
                Plan plan = small_plan(family, Dtype::fp64, 150, 40, 8);
                plan.decisions.mlp_tile = Tokens(tile);
                plan.decisions.activations = activations;
                EXPECT_LT(worst_error(plan), 1e-10)
                    << family.type << " " << name_of(activations) << " " << tile;
                EXPECT_LT(worst_error(with_adapters(plan, 4, kTargets[3])), 1e-10)
                    << family.type << " " << name_of(activations) << " " << tile << ", adapters";
            }
        }
    }
    Plan whole = small_plan(kFamilies[2], Dtype::fp64, 90, 96, 8);
    whole.decisions.strategy = "whole-sequence";
    whole.decisions.mlp_tile = Tokens(32);
    whole.decisions.activations = Activations::checkpoint_device;
    EXPECT_LT(worst_error(whole), 1e-10);
    // Weights, gradients and states that travel by layer.
    whole.decisions.weights_home = whole.decisions.gradients_home = whole.decisions.states_home = Home::host;
    EXPECT_LT(worst_error(whole), 1e-10);
}

// fp32: sums of n products of relative error 2^-24 each; the longest chain (3 layers, forward and
// backward, 100 keys, hidden 64, 160 words) has some 2000 of them, so 2000 * 2^-24 = 1.2e-4 bounds what
// is lost, and sqrt(2000) * 2^-24 = 3e-6 is what is expected.
TEST(Truth, SinglePrecision) {
    for (const Family& family : kFamilies) {
        const double worst = worst_error(small_plan(family, Dtype::fp32, 100, 32, 16));
        std::printf("%s: %.2e\n", family.type.c_str(), worst);
        EXPECT_LT(worst, 1.2e-4);
        EXPECT_LT(worst_error(with_adapters(small_plan(family, Dtype::fp32, 100, 32, 16), 4, kTargets[3])),
                  1.2e-4);
    }
}

// bf16 rounds each stored value by up to 2^-9. A gradient passes some 20 stored values a layer, forward
// and backward, so 60 of them; independent roundings add up to sqrt(60) * 2^-9 = 1.5e-2. The bound is
// twice that, for all gradients as one vector: a single parameter's may be a small difference of large
// terms (the bias of the keys, which softmax all but ignores).
constexpr double kBf16 = 3e-2;

TEST(Truth, HalfPrecisionOnTheCpu) {
    for (const Family& family : kFamilies) {
        Plan plan = small_plan(family, Dtype::bf16, 100, 32, 16);
        plan.recipe.gradients = Dtype::fp32;
        const Errors errors = errors_of(plan);
        std::printf("%s: %.2e, worst %.2e\n", family.type.c_str(), errors.whole, errors.worst);
        EXPECT_LT(errors.whole, kBf16);
        const Errors adapters = errors_of(with_adapters(plan, 4, kTargets[3]));
        std::printf("%s, adapters: %.2e, worst %.2e\n", family.type.c_str(), adapters.whole, adapters.worst);
        EXPECT_LT(adapters.whole, kBf16);
    }
}

TEST(Truth, OnAGpu) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    for (const Family& family : kFamilies) {
        Plan plan = small_plan(family, Dtype::bf16, 300, 64, 16);
        plan.recipe.gradients = Dtype::fp32;
        const Errors errors = errors_of(plan, at::Device("cuda:0"));
        std::printf("%s bf16: %.2e, worst %.2e\n", family.type.c_str(), errors.whole, errors.worst);
        EXPECT_LT(errors.whole, kBf16);
        // Sums of five chunks in bf16: sqrt(5) 2^-9 = 4e-3 more.
        Plan rounded = plan;
        rounded.recipe.gradients = Dtype::bf16;
        EXPECT_LT(errors_of(rounded, at::Device("cuda:0")).whole, kBf16 + 1e-2);
        const Errors adapters = errors_of(with_adapters(plan, 8, kTargets[3]), at::Device("cuda:0"));
        std::printf("%s bf16, adapters: %.2e, worst %.2e\n", family.type.c_str(), adapters.whole,
                    adapters.worst);
        EXPECT_LT(adapters.whole, kBf16);
        Plan exact = small_plan(family, Dtype::fp64, 300, 64, 16);
        const double wide = worst_error(exact, at::Device("cuda:0"));
        std::printf("%s fp64: %.2e\n", family.type.c_str(), wide);
        EXPECT_LT(wide, 1e-10);
        exact.decisions.mlp_tile = Tokens(24);
        EXPECT_LT(worst_error(exact, at::Device("cuda:0")), 1e-10) << "tiles of the MLP";
    }
}

// Where the plan says deterministic, two runs give the same bits, dQ of the past included.
TEST(Truth, DeterministicPlansGiveTheSameBitsOnAGpu) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    Plan dense = small_plan(kFamilies[0], Dtype::bf16, 1000, 96, 16);
    dense.recipe.gradients = Dtype::fp32;
    dense.decisions.deterministic = true;
    dense.decisions.kv_residency = dense.decisions.kv_gradient_residency = {0, 2, 0};
    dense.decisions.staging_slot = Bytes(96 * 2 * 32 * 2);
    Plan blocks = sparse(dense, 12, 16, 1, 2);
    Plan chunks = sparse(dense, 12, 96, 1, 2);
    for (const Plan& plan : {dense, blocks, chunks}) {
        at::Tensor first;
        double loss = 0;
        for (int run = 0; run < 4; ++run) {
            SmallRun again(plan, {}, at::Device("cuda:0"));
            const StepResult result = again.step();
            const at::Tensor gradients = again.executor->weight_gradients().clone();
            if (run == 0) {
                first = gradients;
                loss = result.loss;
            }
            EXPECT_EQ(result.loss, loss);
            EXPECT_TRUE(at::equal(gradients, first)) << "run " << run;
        }
        EXPECT_LT(errors_of(plan, at::Device("cuda:0")).whole, kBf16);
    }
}

// Copies run beside compute there: what a wait misses shows as a wrong gradient.
TEST(Truth, OffloadOnAGpu) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    for (const Residency& kv : {Residency{0, 0, 0}, Residency{1, 0, 0}, Residency{0, 2, 0}}) {
        for (const AttentionOutputs outputs : {AttentionOutputs::recompute, AttentionOutputs::host}) {
            for (const Activations activations : {Activations::keep, Activations::checkpoint_host}) {
                Plan plan = small_plan(kFamilies[0], Dtype::fp64, 1000, 96, 16);
                plan.decisions.kv_residency = kv;
                plan.decisions.kv_gradient_residency = {0, kv.device_chunks, 0};
                plan.decisions.attention_outputs = outputs;
                plan.decisions.activations = activations;
                plan.decisions.staging_slot = Bytes(96 * 2 * 32 * 8);
                EXPECT_LT(worst_error(plan, at::Device("cuda:0")), 1e-10);
                plan.decisions.wavefront = 2;
                plan.decisions.staging_slots = 3;
                plan.decisions.prefetch = 2;
                EXPECT_LT(worst_error(plan, at::Device("cuda:0")), 1e-10);
            }
        }
    }
}

// bf16: kernels choose, gather and sum; copies in batches and by a kernel.
TEST(Truth, SelectedPagesOnAGpu) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    const Residency device{3, 0, 0}, host{0, 0, 0};
    for (const int64_t block : {64, 16}) {
        for (const auto& [kv, copy] :
             {std::pair{device, PageCopy::batch}, {host, PageCopy::batch}, {host, PageCopy::gather}}) {
            Plan plan = sparse(small_plan(kFamilies[0], Dtype::bf16, 1000, 64, 16), 12, block, 1, 2);
            plan.recipe.gradients = Dtype::fp32;
            plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = kv;
            plan.decisions.page_copy = copy;
            plan.decisions.wavefront = 2;
            for (const int64_t cache : {0, 1}) {  // a page cache where pages travel
                plan.decisions.page_cache = Bytes(cache * 3 * 7 * 2 * 2048);
                if (cache > 0 && kv == device) continue;
                const Errors errors = errors_of(plan, at::Device("cuda:0"));
                std::printf("block %ld: %.2e, worst %.2e\n", block, errors.whole, errors.worst);
                EXPECT_LT(errors.whole, kBf16);
            }
        }
    }
}

TEST(Truth, LimitedWaitingPagesOnAGpu) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    for (const auto& [block, on_device] : {std::pair{64, 3}, {64, 0}, {32, 0}}) {
        Plan plan = sparse(small_plan(kFamilies[0], Dtype::bf16, 2400, 64, 16), 12, block, 1, 2);
        plan.recipe.gradients = Dtype::fp32;
        plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = {on_device, 0, 0};
        plan.decisions.wavefront = 2;
        expect_limited(plan, kBf16, at::Device("cuda:0"), "block " + std::to_string(block));
    }
}

// Pages in fp8: a key that was rounded to bf16 first may fall to the neighbouring code, which one in some
// thirty does; so the bound of bf16 holds beside the reference's own rounding. Where pages live changes no
// bit of the loss.
TEST(Truth, PackedPagesOnAGpu) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    const Residency device{3, 0, 0}, host{0, 0, 0}, layer{1, 0, 0};
    for (const int64_t block : {0, 64, 16}) {  // 0: dense
        double loss = 0;
        for (const auto& [kv, copy, cache] : {std::tuple{device, PageCopy::batch, 0},
                                              {layer, PageCopy::batch, 0},
                                              {host, PageCopy::batch, 0},
                                              {host, PageCopy::gather, 0},
                                              {host, PageCopy::batch, 1}}) {
            Plan plan = small_plan(kFamilies[0], Dtype::bf16, 1000, 64, 16);
            if (block > 0) plan = sparse(plan, 12, block, 1, 2);
            if (block == 0 && (copy == PageCopy::gather || cache > 0)) continue;
            plan.decisions.kv = Dtype::fp8;
            plan.recipe.gradients = Dtype::fp32;
            plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = kv;
            plan.decisions.page_copy = copy;
            plan.decisions.wavefront = 2;
            plan.decisions.page_cache = Bytes(cache * 3 * 7 * 3 * 1024);
            // The bias of the keys, which softmax all but ignores, is a small difference of large terms.
            const Errors errors = errors_of(plan, at::Device("cuda:0"), 0.25);
            std::printf("fp8 pages, block %ld: %.2e, worst %.2e\n", block, errors.whole, errors.worst);
            EXPECT_LT(errors.whole, kBf16);
            SmallRun run(plan, {}, at::Device("cuda:0"));
            const double here = run.step().loss;
            if (loss == 0) loss = here;
            EXPECT_EQ(here, loss) << "block " << block;
        }
    }
}

}  // namespace
}  // namespace headroom::engine::test
