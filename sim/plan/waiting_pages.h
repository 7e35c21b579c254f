// A limit on the gradient pages that wait at once (attention.waiting): which pages a chunk may still select.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

// The gradient pass goes from the last chunk and layer to the first. A page that chunk c of a layer selects
// has gradients from the step of (c, layer) on until the step of its own chunk a in that layer: it waits
// after each step (chunk, layer) in ((a, layer), (c, layer)]. Of all chunks that select it the last one
// counts. Selections are made before, in order of chunks (in a forward pass, layer by layer).
//
// Contract: for each chunk and layer enter(), then select() of each page of its selection; a page has room
// where no step that it would add to has its `limit` of waiting pages. Cost: has_room() of a comparison,
// select() of the chunks between a (or the last that selected the page) and c, and of the layers.
class WaitingPages {
public:
    WaitingPages() = default;
    // Of all `layers` together.
    WaitingPages(int64_t limit, int64_t layers, int64_t chunks, int64_t pages_per_chunk);
    void enter(int64_t chunk, int64_t layer);
    bool has_room(int64_t page) const { return since_[static_cast<size_t>(row_ + page)] >= need_; }
    void select(int64_t page);
    // The most that wait after any step so far.
    int64_t most() const {
        return most_of_chunk_.empty() ? 0 : *std::max_element(most_of_chunk_.begin(), most_of_chunk_.end());
    }

private:
    // Adds one to the steps [first, end) of a chunk.
    void add(int64_t chunk, int64_t first, int64_t end);
    // The chunk's last step up to the layer that has its limit, if any, is full.
    void look_for_full(int64_t chunk);
    int64_t limit_ = 0, layers_ = 0, pages_ = 0;
    int64_t chunk_ = 0, layer_ = 0, row_ = 0;
    // Pages that were selected by (or belong to) a chunk from this one on add to no step that has its limit.
    int64_t need_ = 0;
    std::vector<int32_t> since_;  // by layer and page: the last chunk that selected it, its own before
    // Pages that wait after a step: those of the step itself and those of the whole chunk.
    std::vector<int32_t> of_step_, of_chunk_;
    std::vector<int32_t> most_of_chunk_;  // of its steps, both together
};

}  // namespace headroom
