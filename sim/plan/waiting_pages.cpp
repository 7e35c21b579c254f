#include "plan/waiting_pages.h"

#include <algorithm>

namespace headroom {

WaitingPages::WaitingPages(int64_t limit, int64_t layers, int64_t chunks, int64_t pages_per_chunk)
    : limit_(limit),
      layers_(layers),
      pages_(chunks * pages_per_chunk),
      pages_per_chunk_(pages_per_chunk),
      waiting_(static_cast<size_t>(chunks * layers), 0),
      last_(static_cast<size_t>(layers * pages_), -1) {}

void WaitingPages::enter(int64_t chunk, int64_t layer) {
    chunk_ = chunk;
    layer_ = layer;
    step_ = chunk * layers_ + layer;
    full_ = step_;
    while (full_ >= 0 && waiting_[static_cast<size_t>(full_)] < limit_) --full_;
}

int64_t WaitingPages::from(int64_t page) const {
    const int64_t last = last_[static_cast<size_t>(layer_ * pages_ + page)];
    return std::min(std::max(page / pages_per_chunk_, last) * layers_ + layer_, step_);
}

void WaitingPages::select(int64_t page) {
    for (int64_t step = from(page) + 1; step <= step_; ++step) {
        const int64_t waiting = ++waiting_[static_cast<size_t>(step)];
        most_ = std::max(most_, waiting);
        if (waiting >= limit_) full_ = std::max(full_, step);
    }
    int32_t& last = last_[static_cast<size_t>(layer_ * pages_ + page)];
    last = std::max(last, static_cast<int32_t>(chunk_));
}

}  // namespace headroom
