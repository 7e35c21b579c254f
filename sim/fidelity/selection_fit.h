// Parameters of the model of selections, fitted to what runs selected.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fidelity/run_summary.h"
#include "fidelity/selection_sample.h"
#include "plan/plan.h"

namespace headroom::fidelity {

// One run: what it had to choose from, and what of its choice a fit goes by, in pages of one layer. The sums
// are over the chunks from first_choice on.
struct SelectionCase {
    Attention attention;
    int64_t chunks = 0, chunk_tokens = 0, page_tokens = 0;
    double distinct = 0, shared = 0;
    double touched = 0;  // selected by any chunk; 0: not known
    double waiting = 0;  // the most that have gradients and wait for their own chunk; 0: not known
    double runs = 0;     // of neighbours that the distinct pages are; 0: not known
};

// The first chunk that has a choice and so had the one before.
int64_t first_choice(const Attention& attention, int64_t pages_per_chunk);

// Chunks that the sample has.
SelectionCase case_of(const SelectionSample& sample, const Attention& attention, int64_t chunk_tokens,
                      int64_t page_tokens);

// Of a sparse run. Where its sample was taken before touched and waiting were kept, they come from the run's
// figures: first touches, and the peaks of the pages of dK and dV. Empty: not sparse, no sample, nothing to
// choose.
std::optional<SelectionCase> case_of(const RunSummary& run);

// The parameters with which the model (draw_selections) draws, relative to what was found, the least squares
// away in distinct, shared, runs, touched and waiting pages over all cases; to 1/1000.
// Not fitted, and at their defaults: block_reuse where every chunk has one block; popularity and recency
// where touched or waiting is not known; neighbours where runs are not; all of them without cases. A small
// weight keeps popularity and recency near 0 where they matter little. Draws are averaged over as many seeds
// as 256 chunks of each case take. A pattern search (Hooke and Jeeves, "Direct search", 1961) from two
// starts, since the counts are whole pages. Cost: some thousand draws of each case.
SelectionModel fit_selection(std::span<const SelectionCase> cases);
SelectionModel fit_selection(const RecordedSelection& recorded, const Attention& attention);

}  // namespace headroom::fidelity
