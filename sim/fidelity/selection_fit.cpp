#include "fidelity/selection_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::fidelity {
namespace {

struct Parameter {
    double SelectionModel::*member;
    double low, high, start, step;
};
constexpr std::array<Parameter, 5> kParameters = {
    {{&SelectionModel::chunk_reuse, 0, 1, 0.25, 0.125},
     {&SelectionModel::block_reuse, 0, 1, 0.75, 0.125},
     {&SelectionModel::popularity, 0, kMaxPopularity, 0.5, 0.25},
     {&SelectionModel::recency, kMinRecency, kMaxRecency, 0.5, 0.25},
     {&SelectionModel::neighbours, 0, kMaxNeighbours, 0.25, 0.125}}};
constexpr int kHalvings = 6;
constexpr int64_t kDrawnChunks = 256;
constexpr double kWorthwhile = 0.95;
constexpr double kNearZero = 1e-4;

bool chooses_by_block(const SelectionCase& c) {
    return c.attention.block < c.chunk_tokens;
}
bool knows_touched(const SelectionCase& c) {
    return c.touched > 0 && c.waiting > 0;
}

SelectionCase drawn_case(const SelectionModel& model, const SelectionCase& like) {
    const Selections s =
        draw_selections(model, like.attention, like.chunks, like.chunk_tokens, like.page_tokens);
    return case_of(count_pages(s.begin, s.pages, like.chunks, 1, like.chunk_tokens / like.page_tokens),
                   like.attention, like.chunk_tokens, like.page_tokens);
}

double squared(double drawn, double found) {
    const double error = found > 0 ? drawn / found - 1 : 0;
    return error * error;
}

// Averaged over as many seeds as kDrawnChunks take.
SelectionCase mean_case(SelectionModel model, const SelectionCase& like) {
    const int64_t draws = std::clamp<int64_t>(kDrawnChunks / like.chunks, 1, 16);
    SelectionCase mean;
    for (int64_t i = 0; i < draws; ++i) {
        model.seed = static_cast<uint64_t>(i) + 1;
        const SelectionCase drawn = drawn_case(model, like);
        for (double SelectionCase::*v :
             {&SelectionCase::distinct, &SelectionCase::shared, &SelectionCase::touched,
              &SelectionCase::waiting, &SelectionCase::runs})
            mean.*v += drawn.*v / static_cast<double>(draws);
    }
    return mean;
}

double misfit(const SelectionModel& model, std::span<const SelectionCase> cases) {
    double sum = kNearZero * (model.popularity * model.popularity + model.recency * model.recency);
    for (const SelectionCase& c : cases) {
        const SelectionCase drawn = mean_case(model, c);
        sum += squared(drawn.shared, c.shared);
        if (c.runs > 0) sum += squared(drawn.runs, c.runs);
        if (chooses_by_block(c)) sum += squared(drawn.distinct, c.distinct);
        if (knows_touched(c)) sum += squared(drawn.touched, c.touched) + squared(drawn.waiting, c.waiting);
    }
    return sum;
}

struct Fitted {
    SelectionModel model;
    double misfit = 0;
};

// Of each parameter a step up or down while that is better, then half the step.
Fitted descend(SelectionModel model, std::span<const Parameter> parameters,
               std::span<const SelectionCase> cases) {
    Fitted best{model, misfit(model, cases)};
    double scale = 1;
    for (int halving = 0; halving < kHalvings;) {
        bool better = false;
        for (const Parameter& p : parameters) {
            for (const double sign : {1.0, -1.0}) {
                SelectionModel tried = best.model;
                tried.*p.member = std::clamp(best.model.*p.member + sign * scale * p.step, p.low, p.high);
                if (tried.*p.member == best.model.*p.member) continue;
                const double found = misfit(tried, cases);
                if (found >= best.misfit) continue;
                best = {tried, found};
                better = true;
                break;
            }
        }
        if (better) continue;
        scale /= 2;
        ++halving;
    }
    return best;
}

// Again with long steps from where it ended, as long as that gains.
Fitted settle(const SelectionModel& model, std::span<const Parameter> parameters,
              std::span<const SelectionCase> cases) {
    Fitted best = descend(model, parameters, cases);
    for (;;) {
        const Fitted again = descend(best.model, parameters, cases);
        if (again.misfit > kWorthwhile * best.misfit) return best;
        best = again;
    }
}

// From where all pages are alike too: there may be more than one valley.
SelectionModel search(SelectionModel model, std::span<const Parameter> parameters,
                      std::span<const SelectionCase> cases) {
    for (const Parameter& p : parameters) model.*p.member = p.start;
    double distinct = 0, runs = 0;
    for (const SelectionCase& c : cases) {
        if (c.runs == 0) continue;
        distinct += c.distinct;
        runs += c.runs;
    }
    // Runs of neighbours are 1 / (1 - neighbours) long.
    if (runs > 0) model.neighbours = std::clamp(1 - runs / distinct, 0.0, kMaxNeighbours);
    Fitted best = settle(model, parameters, cases);
    model.popularity = model.recency = 0;
    const Fitted other = settle(model, parameters, cases);
    if (other.misfit < best.misfit) best = other;
    for (const Parameter& p : parameters)
        best.model.*p.member = std::round(best.model.*p.member * 1000) / 1000;
    return best.model;
}

}  // namespace

int64_t first_choice(const Attention& attention, int64_t pages_per_chunk) {
    return attention.budget / std::max<int64_t>(1, pages_per_chunk) + 2;
}

SelectionCase case_of(const SelectionSample& sample, const Attention& attention, int64_t chunk_tokens,
                      int64_t page_tokens) {
    SelectionCase c;
    c.attention = attention;
    c.chunks = static_cast<int64_t>(sample.distinct.size());
    c.chunk_tokens = chunk_tokens;
    c.page_tokens = page_tokens;
    for (int64_t i = first_choice(attention, chunk_tokens / page_tokens); i < c.chunks; ++i) {
        c.distinct += sample.distinct[i];
        c.shared += sample.shared[i];
        if (!sample.runs.empty()) c.runs += sample.runs[i];
    }
    if (!sample.touched.empty()) c.touched = sample.touched.front();
    if (!sample.waiting.empty()) c.waiting = *std::max_element(sample.waiting.begin(), sample.waiting.end());
    return c;
}

std::optional<SelectionCase> case_of(const RunSummary& run) {
    const Result<Plan> plan = parse_plan(run.plan, run.name);
    if (!plan || !run.ran() || !run.selection || !plan->decisions.attention.sparse) return std::nullopt;
    const Decisions& d = plan->decisions;
    SelectionCase c = case_of(*run.selection, d.attention, d.chunk.count(), d.page.count());
    if (c.distinct <= 0) return std::nullopt;
    if (!knows_touched(c) && d.gradient_pages == GradientPages::first_touch) {
        // Bytes of one page of all layers, so that this is a mean over them.
        const double page =
            static_cast<double>(kv_bytes_per_token(plan->model, d.kv_gradients).count() * d.page.count());
        double bytes = 0;
        for (const TierFigures& t : run.figures.tiers)
            bytes += static_cast<double>(t.category_peaks[static_cast<size_t>(Category::kv_gradients)]);
        c.touched = static_cast<double>(run.figures.traffic.first_touched) /
                    static_cast<double>(plan->model.layer_count());
        c.waiting = bytes / page;
    }
    return c;
}

SelectionModel fit_selection(std::span<const SelectionCase> cases) {
    SelectionModel model;
    std::vector<SelectionCase> chosen;
    for (const SelectionCase& c : cases)
        if (c.distinct > 0) chosen.push_back(c);
    if (chosen.empty()) return model;
    std::vector<Parameter> parameters;
    const bool by_block = std::any_of(chosen.begin(), chosen.end(), chooses_by_block);
    const bool touched = std::any_of(chosen.begin(), chosen.end(), knows_touched);
    const bool runs = std::any_of(chosen.begin(), chosen.end(), [](const auto& c) { return c.runs > 0; });
    for (const Parameter& p : kParameters) {
        const bool reuse_of_blocks = p.member == &SelectionModel::block_reuse;
        const bool weight = p.member == &SelectionModel::popularity || p.member == &SelectionModel::recency;
        const bool neighbours = p.member == &SelectionModel::neighbours;
        if ((by_block || !reuse_of_blocks) && (touched || !weight) && (runs || !neighbours))
            parameters.push_back(p);
    }
    return search(model, parameters, chosen);
}

SelectionModel fit_selection(const RecordedSelection& r, const Attention& attention) {
    const SelectionSample counts = count_pages(r.begin, r.pages, r.chunks, r.layers, r.chunk / r.page);
    const SelectionCase one = case_of(counts, attention, r.chunk, r.page);
    SelectionModel model = fit_selection(std::span(&one, 1));
    model.source = r.source;
    return model;
}

}  // namespace headroom::fidelity
