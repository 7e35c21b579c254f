#include "plan/waiting_pages.h"

#include <algorithm>

namespace headroom {

WaitingPages::WaitingPages(int64_t limit, int64_t layers, int64_t chunks, int64_t pages_per_chunk)
    : limit_(limit),
      layers_(layers),
      pages_(chunks * pages_per_chunk),
      since_(static_cast<size_t>(layers * pages_)),
      of_step_(static_cast<size_t>(chunks * layers), 0),
      of_chunk_(static_cast<size_t>(chunks), 0),
      most_of_chunk_(static_cast<size_t>(chunks), 0) {
    for (int64_t i = 0; i < layers * pages_; ++i)
        since_[static_cast<size_t>(i)] = static_cast<int32_t>(i % pages_ / pages_per_chunk);
}

void WaitingPages::look_for_full(int64_t chunk) {
    const auto c = static_cast<size_t>(chunk);
    const int64_t end = chunk == chunk_ ? layer_ + 1 : layers_;
    for (int64_t l = end - 1; l >= 0; --l) {
        if (of_step_[static_cast<size_t>(chunk * layers_ + l)] + of_chunk_[c] < limit_) continue;
        // Of this layer, chunk `since` adds from the step after (since, layer_) on.
        need_ = std::max(need_, l > layer_ ? chunk + 1 : chunk);
        return;
    }
}

void WaitingPages::enter(int64_t chunk, int64_t layer) {
    chunk_ = chunk;
    layer_ = layer;
    row_ = layer * pages_;
    need_ = 0;
    for (int64_t c = chunk; c >= 0 && need_ == 0; --c) {
        if (most_of_chunk_[static_cast<size_t>(c)] >= limit_) look_for_full(c);
    }
}

void WaitingPages::add(int64_t chunk, int64_t first, int64_t end) {
    if (first == end) return;
    const auto c = static_cast<size_t>(chunk);
    int32_t* const steps = of_step_.data() + chunk * layers_;
    int32_t most = 0;
    for (int64_t l = first; l < end; ++l) most = std::max(most, ++steps[l]);
    most += of_chunk_[c];
    most_of_chunk_[c] = std::max(most_of_chunk_[c], most);
    if (most >= limit_) look_for_full(chunk);
}

void WaitingPages::select(int64_t page) {
    int32_t& since = since_[static_cast<size_t>(row_ + page)];
    if (since >= chunk_) return;
    add(since, layer_ + 1, layers_);
    int32_t most = 0;
    for (int64_t c = since + 1; c < chunk_; ++c) {
        ++of_chunk_[static_cast<size_t>(c)];
        most = std::max(most, ++most_of_chunk_[static_cast<size_t>(c)]);
    }
    for (int64_t c = chunk_ - 1; most >= limit_ && c > since; --c) {
        if (most_of_chunk_[static_cast<size_t>(c)] < limit_) continue;
        look_for_full(c);
        break;
    }
    add(chunk_, 0, layer_ + 1);
    since = static_cast<int32_t>(chunk_);
}

}  // namespace headroom
