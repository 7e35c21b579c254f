// What holds for every strategy and every plan that it accepts, on plans drawn at random.
#include "program/check.h"
#include "sim/strategy/draw_plan.h"
#include "simulate/simulate.h"
#include "strategy/strategy.h"

namespace headroom::test {
namespace {

struct Properties : ::testing::TestWithParam<std::string> {};

Program lowered(const Plan& plan) {
    const Result<void> checked = check_plan(plan, "");
    if (!checked) RC_FAIL(checked.error().text());
    Result<Program> program = lower(plan);
    if (!program) RC_FAIL(program.error().text());
    return std::move(*program);
}

TEST_P(Properties, ProgramsKeepTheirContract) {
    rc::detail::checkGTest([] {
        const Plan plan = draw_plan(GetParam());
        RC_LOG() << write_plan(plan);
        const Program program = lowered(plan);
        const Result<void> ok = check_program(program);
        if (!ok) RC_FAIL(ok.error().text());

        const Result<Simulation> run = simulate(program, draw_links(plan.hardware));
        if (!run) RC_FAIL(run.error().text());
        for (size_t s = 0; s < kStreams; ++s) RC_ASSERT(run->duration_ns >= run->busy_ns[s]);
        RC_ASSERT(run->busy_ns[static_cast<size_t>(Stream::compute)] > 0);
        for (size_t t = 0; t < kTiers; ++t) {
            const int64_t libraries = program.standing[t][static_cast<size_t>(Category::libraries)];
            RC_ASSERT(run->peaks[t].bytes <= program.arena[t] + libraries);
        }
    });
}

void expect_same_ops(const Program& a, const Program& b) {
    RC_ASSERT(a.size() == b.size());
    for (OpId id = 0; id < a.size(); ++id) {
        const Op &x = a.ops[id], &y = b.ops[id];
        RC_ASSERT(x.kind == y.kind && x.stream == y.stream && x.pass == y.pass && x.chunk == y.chunk &&
                  x.layer == y.layer && x.piece == y.piece && x.sequence == y.sequence);
        RC_ASSERT(waits_of(a, id) == waits_of(b, id));
    }
}

// The selection that the plan's model draws, as if a run had recorded it.
std::shared_ptr<const RecordedSelection> recorded(const Plan& plan) {
    const Decisions& d = plan.decisions;
    auto r = std::make_shared<RecordedSelection>();
    r->source = "drawn";
    r->page = d.page.count(), r->chunk = d.chunk.count(), r->budget = d.attention.budget,
    r->block = d.attention.block;
    r->layers = 1, r->chunks = plan.chunks();
    const Selections s = draw_selections(plan.selection, d.attention, r->chunks, r->chunk, r->page);
    r->begin = s.begin;
    r->pages = s.pages;
    return r;
}

TEST_P(Properties, OpsDoNotDependOnTheSelection) {
    rc::detail::checkGTest([] {
        Plan plan = draw_plan(GetParam());
        RC_LOG() << write_plan(plan);
        const Program program = lowered(plan);
        Plan other = plan;
        other.selection.seed += 1;
        other.selection.block_reuse = 1 - plan.selection.block_reuse;
        expect_same_ops(program, lowered(other));
        if (!plan.decisions.attention.sparse) return;

        // The same pages, drawn or recorded: the same program to the byte.
        plan.selection.recorded = recorded(plan);
        const Program again = lowered(plan);
        expect_same_ops(program, again);
        RC_ASSERT(program.works == again.works);
        RC_ASSERT(program.arena == again.arena);
        for (OpId id = 0; id < program.size(); ++id) RC_ASSERT(program.ops[id].work == again.ops[id].work);
    });
}

INSTANTIATE_TEST_SUITE_P(Strategies, Properties,
                         ::testing::Values("chunked", "whole-sequence", "layer-major", "ring",
                                           "tensor-parallel"),
                         [](const auto& of) {
                             std::string name = of.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace headroom::test
