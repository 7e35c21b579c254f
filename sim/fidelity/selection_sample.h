// What a run's selection of pages was like, and the parameters of the model of selections that it asks for.
#pragma once

#include <nlohmann/json_fwd.hpp>
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
    double block_reuse = 0, chunk_reuse = 0;  // fit_selection()'s
    bool operator==(const SelectionSample&) const = default;
};
// Rounded to hundredths of a page.
SelectionSample sample_of(const RecordedSelection& selection, const Attention& attention);

nlohmann::ordered_json selection_json(const SelectionSample& sample);
Result<SelectionSample> read_selection_sample(ConfigTable table);

// block_reuse and chunk_reuse, to 1/1000, with which the model (draw_selections) draws as many distinct and
// as many shared pages as were recorded, over all chunks whose past is larger than the budget. One selection
// a chunk: block_reuse has no effect and stays at its default. A chunk that chooses again pages of chunks
// long before is beyond the model. Cost: about 20 draws of one layer.
SelectionModel fit_selection(const RecordedSelection& recorded, const Attention& attention);

}  // namespace headroom::fidelity
