#include "fidelity/selection_sample.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fidelity/selection_fit.h"

namespace headroom::fidelity {
namespace {

using Json = nlohmann::ordered_json;
using Pages = std::span<const uint32_t>;

// Of two ascending lists.
int64_t common(Pages a, Pages b) {
    int64_t n = 0;
    for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
        if (a[i] == b[k]) {
            ++n, ++i, ++k;
        } else if (a[i] < b[k]) {
            ++i;
        } else {
            ++k;
        }
    }
    return n;
}

// As they travel: the pages of a chunk lie side by side.
int64_t runs_of(Pages pages, int64_t pages_per_chunk) {
    int64_t runs = 0;
    for (size_t i = 0; i < pages.size(); ++i)
        runs += i == 0 || pages[i] != pages[i - 1] + 1 || pages[i] % pages_per_chunk == 0 ? 1 : 0;
    return runs;
}

struct List {
    const char* key;
    std::vector<double> SelectionSample::*member;
};
constexpr List kLists[] = {{"distinct_pages", &SelectionSample::distinct},
                           {"shared_with_chunk_before", &SelectionSample::shared},
                           {"touched_from_chunk_on", &SelectionSample::touched},
                           {"waiting_before_chunk", &SelectionSample::waiting},
                           {"runs_of_neighbours", &SelectionSample::runs}};
constexpr size_t kAlwaysKept = 2;

}  // namespace

SelectionSample count_pages(std::span<const uint32_t> begin, std::span<const uint32_t> pages, int64_t chunks,
                            int64_t layers, int64_t pages_per_chunk) {
    SelectionSample out;
    for (const List& list : kLists) (out.*list.member).assign(chunks, 0);
    const auto row = [&](int64_t chunk, int64_t layer) {
        const int64_t i = chunk * layers + layer;
        return pages.subspan(begin[i], begin[i + 1] - begin[i]);
    };
    std::vector<uint8_t> seen;
    for (int64_t l = 0; l < layers; ++l) {
        seen.assign(chunks * pages_per_chunk, 0);
        int64_t touched = 0, waiting = 0;
        for (int64_t c = chunks - 1; c >= 0; --c) {
            const Pages own = row(c, l);
            out.distinct[c] += static_cast<double>(own.size());
            out.runs[c] += static_cast<double>(runs_of(own, pages_per_chunk));
            if (c > 0) out.shared[c] += static_cast<double>(common(own, row(c - 1, l)));
            // The chunk's own pages wait no longer.
            for (int64_t p = c * pages_per_chunk; p < (c + 1) * pages_per_chunk; ++p) waiting -= seen[p];
            for (const uint32_t p : own) {
                touched += 1 - seen[p];
                waiting += 1 - seen[p];
                seen[p] = 1;
            }
            out.touched[c] += static_cast<double>(touched);
            out.waiting[c] += static_cast<double>(waiting);
        }
    }
    for (const List& list : kLists)
        for (double& v : out.*list.member) v /= static_cast<double>(std::max<int64_t>(1, layers));
    return out;
}

SelectionSample sample_of(const RecordedSelection& s, const Attention& attention) {
    SelectionSample out = count_pages(s.begin, s.pages, s.chunks, s.layers, s.chunk / s.page);
    for (const List& list : kLists)
        for (double& v : out.*list.member) v = std::round(v * 100) / 100;
    const SelectionModel fitted = fit_selection(s, attention);
    out.block_reuse = fitted.block_reuse;
    out.chunk_reuse = fitted.chunk_reuse;
    out.popularity = fitted.popularity;
    out.recency = fitted.recency;
    out.neighbours = fitted.neighbours;
    return out;
}

Json selection_json(const SelectionSample& s) {
    Json out;
    for (const List& list : kLists)
        if (!(s.*list.member).empty() || s.distinct.empty()) out[list.key] = s.*list.member;
    out["fitted_block_reuse"] = s.block_reuse;
    out["fitted_chunk_reuse"] = s.chunk_reuse;
    out["fitted_popularity"] = s.popularity;
    out["fitted_recency"] = s.recency;
    out["fitted_neighbours"] = s.neighbours;
    return out;
}

Result<SelectionSample> read_selection_sample(ConfigTable table) {
    SelectionSample s;
    for (size_t i = 0; i < std::size(kLists); ++i) {
        const List& list = kLists[i];
        if (i < kAlwaysKept) {
            HEADROOM_TRY(s.*list.member, table.need<std::vector<double>>(list.key));
        } else {
            HEADROOM_TRY(s.*list.member, table.get_or(list.key, std::vector<double>()));
        }
        const size_t size = (s.*list.member).size();
        if (size != s.distinct.size() && (i < kAlwaysKept || size > 0))
            return fail(table.place(list.key), std::to_string(size) + " chunks",
                        std::to_string(s.distinct.size()) + ", as in distinct_pages");
    }
    HEADROOM_TRY(s.block_reuse, table.need<double>("fitted_block_reuse"));
    HEADROOM_TRY(s.chunk_reuse, table.need<double>("fitted_chunk_reuse"));
    HEADROOM_TRY(s.popularity, table.get_or("fitted_popularity", 0.0));
    HEADROOM_TRY(s.recency, table.get_or("fitted_recency", 0.0));
    HEADROOM_TRY(s.neighbours, table.get_or("fitted_neighbours", 0.0));
    HEADROOM_CHECK(table.finish());
    return s;
}

}  // namespace headroom::fidelity
