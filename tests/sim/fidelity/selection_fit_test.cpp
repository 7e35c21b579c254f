#include "fidelity/selection_fit.h"

#include <gtest/gtest.h>

#include <string>

#include "fidelity/prediction.h"

namespace headroom::fidelity {
namespace {

// Drawn by the model itself, each layer with another seed.
RecordedSelection drawn(SelectionModel model, const Attention& a, int64_t chunks, int64_t chunk, int64_t page,
                        int64_t layers = 1) {
    std::vector<Selections> all;
    for (int64_t l = 0; l < layers; ++l) {
        all.push_back(draw_selections(model, a, chunks, chunk, page));
        ++model.seed;
    }
    RecordedSelection r;
    r.source = "drawn";
    r.page = page, r.chunk = chunk, r.budget = a.budget, r.block = a.block, r.layers = layers,
    r.chunks = chunks;
    r.begin = {0};
    for (int64_t c = 0; c < chunks; ++c) {
        for (const Selections& s : all) {
            r.pages.insert(r.pages.end(), s.pages.begin() + s.begin[c], s.pages.begin() + s.begin[c + 1]);
            r.begin.push_back(static_cast<uint32_t>(r.pages.size()));
        }
    }
    return r;
}

SelectionSample sample_counts(const RecordedSelection& r) {
    return count_pages(r.begin, r.pages, r.chunks, r.layers, r.chunk / r.page);
}

// From one seed, tried on another: what was drawn with known shares is found again.
TEST(SelectionFit, FitFindsTheSharesThatWereDrawnWith) {
    Attention a;
    a.sparse = true, a.budget = 32, a.block = 1024, a.sink = 1, a.local = 4;
    SelectionModel made;
    made.seed = 99;
    for (const double reuse : {0.0, 0.3, 0.8}) {
        made.chunk_reuse = reuse;
        const SelectionModel found = fit_selection(drawn(made, a, 64, 1024, 64, 16), a);
        EXPECT_NEAR(found.chunk_reuse, reuse, 0.06);
    }
    a.block = 128;
    for (const double reuse : {0.5, 0.9}) {
        made.chunk_reuse = 0.4;
        made.block_reuse = reuse;
        const SelectionModel found = fit_selection(drawn(made, a, 64, 1024, 64, 16), a);
        EXPECT_NEAR(found.block_reuse, reuse, 0.06);
    }
}

TEST(SelectionFit, FitFindsTheRunsThatWereDrawn) {
    Attention a;
    a.sparse = true, a.budget = 64, a.block = 4096, a.sink = 1, a.local = 8;
    SelectionModel made;
    made.seed = 99;
    made.chunk_reuse = 0.2;
    for (const double share : {0.25, 0.75}) {
        made.neighbours = share;
        const SelectionModel found = fit_selection(drawn(made, a, 64, 4096, 128, 16), a);
        EXPECT_NEAR(found.neighbours, share, 0.1);
    }
}

TEST(SelectionFit, FitNeedsChunksWithAChoice) {
    Attention a;
    a.sparse = true, a.budget = 64, a.block = 1024;
    const SelectionModel found = fit_selection(drawn({}, a, 3, 1024, 64), a);
    EXPECT_EQ(found.chunk_reuse, SelectionModel().chunk_reuse);
}

// Made on one context; what is found draws other seeds and twice the context alike.
TEST(SelectionFit, FitPredictsAnotherSeedAndContext) {
    Attention a;
    a.sparse = true, a.budget = 64, a.block = 4096, a.sink = 1, a.local = 8;
    const struct {
        double chunk_reuse, popularity, recency;
    } all[] = {{0.2, 0.9, 1.0}, {0, 0.6, 0}, {0.3, 0, 1.5}, {0.1, 0.8, -0.5}};
    for (const auto& m : all) {
        SelectionModel made;
        made.seed = 77;
        made.chunk_reuse = m.chunk_reuse, made.popularity = m.popularity, made.recency = m.recency;
        SelectionModel found = fit_selection(drawn(made, a, 32, 4096, 128, 16), a);
        SCOPED_TRACE(::testing::Message()
                     << found.chunk_reuse << " " << found.popularity << " " << found.recency);
        SelectionCase wanted, seen;
        for (const uint64_t seed : {5, 6, 7, 8}) {
            made.seed = found.seed = seed;
            for (const auto& [model, sum] : {std::pair{&made, &wanted}, {&found, &seen}}) {
                const SelectionCase c = case_of(sample_counts(drawn(*model, a, 64, 4096, 128)), a, 4096, 128);
                sum->shared += c.shared, sum->touched += c.touched, sum->waiting += c.waiting;
            }
        }
        EXPECT_NEAR(seen.touched / wanted.touched, 1, 0.10);
        EXPECT_NEAR(seen.waiting / wanted.waiting, 1, 0.10);
        EXPECT_NEAR(seen.shared / wanted.shared, 1, 0.15);
    }
}

// A run of before touched and waiting pages were kept: they come from its figures, which traces/ has.
TEST(SelectionFit, TakesOldRunsFromTheirFigures) {
    const Result<RunSummary> run =
        read_run(std::string(HEADROOM_SOURCE_DIR) +
                 "/traces/h200-2026-11-30-first/qwen2.5-7b-64k-sparse-offload.run.json.gz");
    ASSERT_TRUE(run) << run.error().text();
    const std::optional<SelectionCase> c = case_of(*run);
    ASSERT_TRUE(c);
    EXPECT_EQ(c->chunks, 16);
    EXPECT_EQ(c->distinct, 64 * 12);  // chunks 4 to 15
    // 10,542 first touches of 28 layers; a page's dK and dV take 256 KiB.
    EXPECT_NEAR(c->touched, 376.5, 0.05);
    EXPECT_NEAR(c->waiting, 130.4, 0.05);

    const SelectionModel found = fit_selection(std::span(&*c, 1));
    SelectionCase mean;
    for (int i = 1; i <= 16; ++i) {
        SelectionModel m = found;
        m.seed = 1000 + i;
        const SelectionCase d =
            case_of(sample_counts(drawn(m, c->attention, 16, 4096, 128)), c->attention, 4096, 128);
        mean.shared += d.shared / 16, mean.touched += d.touched / 16, mean.waiting += d.waiting / 16;
    }
    EXPECT_NEAR(mean.shared / c->shared, 1, 0.05);
    EXPECT_NEAR(mean.touched / c->touched, 1, 0.05);
    EXPECT_NEAR(mean.waiting / c->waiting, 1, 0.05);
}

// What Qwen2.5-7B selects at 64Ki, without weights and with: pages of dK and dV that are on the host at once
// at 128Ki, on another machine and day. Age counts for less over twice the past than the power says, so they
// are somewhat few; without weights a third more than there were.
TEST(SelectionFit, OneContextSaysWhatAnotherTouches) {
    const std::string traces = std::string(HEADROOM_SOURCE_DIR) + "/traces/";
    const Result<RunSummary> run =
        read_run(traces + "h200-2026-11-30-first/qwen2.5-7b-64k-sparse-offload.run.json.gz");
    ASSERT_TRUE(run) << run.error().text();
    const std::optional<SelectionCase> c = case_of(*run);
    ASSERT_TRUE(c);
    const Result<Timeline> measured =
        read_timeline(traces + "h200-2026-11-30/qwen2.5-7b-128k-sparse-offload.trace.json.gz");
    ASSERT_TRUE(measured) << measured.error().text();
    const Plan plan = parse_plan(measured->plan, "128k").value();
    const auto waiting = [](const Figures& f) {
        return static_cast<double>(f.tiers[static_cast<size_t>(Tier::host)]
                                       .category_peaks[static_cast<size_t>(Category::kv_gradients)]);
    };
    const double found = waiting(figures_of(*measured, 0));
    const auto predicted = [&](const SelectionModel& m) {
        return waiting(predict_plan(plan, m, "128k", "fit").value().figures) / found - 1;
    };
    SelectionModel without;
    without.chunk_reuse = 0.355;
    EXPECT_GT(predicted(without), 0.3);
    EXPECT_NEAR(predicted(fit_selection(std::span(&*c, 1))), 0, 0.15);
}

TEST(SelectionFit, NoCaseWithoutASparseRunThatRan) {
    RunSummary run;
    EXPECT_FALSE(case_of(run));
    EXPECT_EQ(fit_selection(std::span<const SelectionCase>()), SelectionModel());
}

}  // namespace
}  // namespace headroom::fidelity
