// What a limit of waiting pages counts (plan/waiting_pages.h), walked through plainly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace headroom::test {

// The most pages that have gradients and wait for their own chunk after any step of the gradient pass, which
// goes from the last chunk and layer to the first: each step gives gradients to what it selected and takes in
// those of its own pages. `selected(chunk, layer)`: the pages, any container of numbers; of a layer that does
// not count none.
template <class Selected>
int64_t most_waiting(int64_t layers, int64_t chunks, int64_t pages_per_chunk, const Selected& selected) {
    std::vector<std::set<int64_t>> waiting(static_cast<size_t>(layers));
    size_t most = 0;
    for (int64_t c = chunks - 1; c >= 0; --c) {
        for (int64_t l = layers - 1; l >= 0; --l) {
            std::set<int64_t>& here = waiting[static_cast<size_t>(l)];
            const auto& pages = selected(c, l);
            here.insert(pages.begin(), pages.end());
            std::erase_if(here, [&](int64_t page) { return page / pages_per_chunk == c; });
            size_t all = 0;
            for (const auto& of_layer : waiting) all += of_layer.size();
            most = std::max(most, all);
        }
    }
    return static_cast<int64_t>(most);
}

}  // namespace headroom::test
