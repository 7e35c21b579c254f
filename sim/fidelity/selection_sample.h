// What a run's selection of pages was like, and the parameters of the model of selections that it asks for.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "plan/decisions.h"
#include "plan/selection.h"

namespace headroom::fidelity {

// Means over the layers, by chunk: distinct past pages that the chunk selected, and how many of them the
// chunk before had selected too.
struct SelectionSample {
    std::vector<double> distinct, shared;
    // fit_selection()'s (selection_fit.h).
    double block_reuse = 0, chunk_reuse = 0, popularity = 0, recency = 0, neighbours = 0;
    // Pages that this chunk and those after it selected, in all: going back from the last chunk, what has
    // gradients; and those of them that lie before the chunk: what still waits for its own. Empty: not kept
    // (runs until 2026-11-30).
    std::vector<double> touched{}, waiting{};
    // Runs of neighbours that the distinct pages are; one ends with the pages of a chunk. Empty: not kept.
    std::vector<double> runs{};
    bool operator==(const SelectionSample&) const = default;
};
// Rounded to hundredths of a page.
SelectionSample sample_of(const RecordedSelection& selection, const Attention& attention);

// The counts alone, not rounded, of rows (chunk, layer) = chunk * layers + layer. Cost: of the pages.
SelectionSample count_pages(std::span<const uint32_t> begin, std::span<const uint32_t> pages, int64_t chunks,
                            int64_t layers, int64_t pages_per_chunk);

nlohmann::ordered_json selection_json(const SelectionSample& sample);
// Errors: keys missing or unknown, lists of unequal length.
Result<SelectionSample> read_selection_sample(ConfigTable table);

}  // namespace headroom::fidelity
