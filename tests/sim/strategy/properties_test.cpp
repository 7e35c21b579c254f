// What holds for every strategy and every plan that it accepts, on plans drawn at random.
#include <boost/graph/topological_sort.hpp>
#include <iterator>

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

// The waits and the order of each stream as one graph, by Boost.Graph's own means and whatever ids say: it
// has no cycle, and executing ops in an order that it gives keeps every wait.
TEST_P(Properties, SizesWithoutOpsAreThoseWithThem) {
    rc::detail::checkGTest([] {
        const Plan plan = draw_plan(GetParam());
        RC_LOG() << write_plan(plan);
        const Program whole = lowered(plan);
        const Result<Program> sizes = lower(plan, select_pages(plan), {{}, true});
        RC_ASSERT(sizes.has_value());
        RC_ASSERT(sizes->ops.empty());
        RC_ASSERT(sizes->arena == whole.arena);
        RC_ASSERT(sizes->standing == whole.standing);
        RC_ASSERT(sizes->buffers.size() == whole.buffers.size());
        for (size_t i = 0; i < whole.buffers.size(); ++i) {
            RC_ASSERT(sizes->buffers[i].bytes == whole.buffers[i].bytes);
            RC_ASSERT(sizes->buffers[i].address == whole.buffers[i].address);
        }
    });
}

TEST_P(Properties, WaitsAndStreamsTogetherHaveNoCycle) {
    rc::detail::checkGTest([] {
        const Plan plan = draw_plan(GetParam());
        RC_LOG() << write_plan(plan);
        const Program program = lowered(plan);
        std::vector<std::pair<OpId, OpId>> edges;  // from an op to one that must have ended
        std::array<OpId, kStreams> last;
        last.fill(kNone);
        for (OpId id = 0; id < program.size(); ++id) {
            for (const OpId wait : waits_of(program, id)) edges.emplace_back(id, wait);
            OpId& before = last[static_cast<size_t>(program.ops[id].stream)];
            if (before != kNone) edges.emplace_back(id, before);
            before = id;
        }
        const WaitGraph graph(boost::edges_are_sorted, edges.begin(), edges.end(),
                              static_cast<uint32_t>(program.size()), static_cast<uint32_t>(edges.size()));
        std::vector<OpId> order;  // Boost gives what an edge leads to before what it comes from
        try {
            boost::topological_sort(graph, std::back_inserter(order));
        } catch (const boost::not_a_dag&) {
            RC_FAIL("the program waits for itself");
        }
        RC_ASSERT(order.size() == program.size());
        std::vector<size_t> at(order.size());
        for (size_t i = 0; i < order.size(); ++i) at[order[i]] = i;
        for (const auto& [op, ended] : edges) RC_ASSERT(at[ended] < at[op]);
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

// Each layer reads the rows that were recorded for it; of fewer recorded layers, those of its number modulo
// them.
TEST_P(Properties, RecordedSelectionsAreByLayer) {
    rc::detail::checkGTest([] {
        Plan plan = draw_plan(GetParam());
        if (!plan.decisions.attention.sparse) return;
        auto r = std::make_shared<RecordedSelection>(*recorded(plan));
        r->layers = draw::in(2, 5);
        r->begin = {0};
        r->pages.clear();
        const int64_t per_chunk = r->chunk / r->page;
        for (int64_t c = 0; c < r->chunks; ++c) {
            for (int64_t l = 0; l < r->layers; ++l) {
                for (int64_t page = 0; page < c * per_chunk; ++page) {
                    if (draw::in(0, l + 1) == 0) r->pages.push_back(static_cast<uint32_t>(page));
                }
                r->begin.push_back(static_cast<uint32_t>(r->pages.size()));
            }
        }
        plan.selection.recorded = r;
        RC_LOG() << write_plan(plan);
        const Program program = lowered(plan);
        const Result<void> ok = check_program(program);
        if (!ok) RC_FAIL(ok.error().text());
        for (const Traffic& t : program.traffic) {
            const bool windowed = plan.decisions.honour_windows && plan.model.layers[t.layer].window > 0;
            // Dense layers attend whole windows; rows of pages written in the fill pass select none.
            if (windowed || (t.pass == Pass::fill && t.selected == 0)) continue;
            const size_t row = static_cast<size_t>(t.chunk * r->layers + t.layer % r->layers);
            RC_ASSERT(t.selected == r->begin[row + 1] - r->begin[row]);
        }
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
