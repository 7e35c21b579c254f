// A limit on the gradient pages that wait at once (attention.waiting): which pages a chunk may still select.
#pragma once

#include <cstdint>
#include <vector>

namespace headroom {

// The gradient pass goes from the last chunk and layer to the first. A page that chunk c of a layer selects
// has gradients from the step of (c, layer) on until the step of its own chunk a in that layer: it waits
// after each step (chunk, layer) in ((a, layer), (c, layer)]. Of all chunks that select it the last one
// counts. Selections are made before, in order of chunks (in a forward pass, layer by layer).
//
// Contract: for each chunk and layer enter(), then select() of each page of its selection; a page has room
// where no step that it would add to has its `limit` of waiting pages. Cost of select(): of those steps.
class WaitingPages {
public:
    WaitingPages() = default;
    // Of all `layers` together.
    WaitingPages(int64_t limit, int64_t layers, int64_t chunks, int64_t pages_per_chunk);
    void enter(int64_t chunk, int64_t layer);
    bool has_room(int64_t page) const { return full_ <= from(page); }
    void select(int64_t page);
    // The most that wait after any step so far.
    int64_t most() const { return most_; }

private:
    // The step from which on, this one not, the page would add; the step in work where it adds to none.
    int64_t from(int64_t page) const;
    int64_t limit_ = 0, layers_ = 0, pages_ = 0, pages_per_chunk_ = 1;
    int64_t chunk_ = 0, layer_ = 0, step_ = 0;  // step = chunk layers + layer
    int64_t full_ = -1;                         // the last step up to step_ that has its limit; -1: none
    int64_t most_ = 0;
    std::vector<int32_t> waiting_;  // by step
    std::vector<int32_t> last_;     // by layer and page: the last chunk that selected it; -1: none
};

}  // namespace headroom
