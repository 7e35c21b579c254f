#include "fidelity/selection_sample.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

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

Pages row(const std::vector<uint32_t>& begin, const std::vector<uint32_t>& pages, int64_t i) {
    return Pages(pages).subspan(begin[i], begin[i + 1] - begin[i]);
}

double hundredths(double v) {
    return std::round(v * 100) / 100;
}

// Sums over the chunks from `first` on.
struct Sums {
    double distinct = 0, shared = 0;
};

Sums sums_of(const SelectionModel& model, const Attention& attention, const RecordedSelection& r,
             int64_t first) {
    const Selections drawn = draw_selections(model, attention, r.chunks, r.chunk, r.page);
    Sums s;
    for (int64_t c = first; c < r.chunks; ++c) {
        const Pages own = row(drawn.begin, drawn.pages, c);
        s.distinct += static_cast<double>(own.size());
        s.shared += static_cast<double>(common(own, row(drawn.begin, drawn.pages, c - 1)));
    }
    return s;
}

// The share in [0, 1], to 1/1024, at which an ascending `value` reaches `wanted`.
template <class Value>
double where_reached(double wanted, const Value& value) {
    double low = 0, high = 1;
    if (value(low) >= wanted) return low;
    if (value(high) <= wanted) return high;
    for (int i = 0; i < 10; ++i) {
        const double middle = (low + high) / 2;
        (value(middle) < wanted ? low : high) = middle;
    }
    return std::round((low + high) / 2 * 1000) / 1000;
}

SelectionSample counts_of(const RecordedSelection& s) {
    SelectionSample out;
    for (int64_t c = 0; c < s.chunks; ++c) {
        double distinct = 0, shared = 0;
        for (int64_t l = 0; l < s.layers; ++l) {
            const Pages own = row(s.begin, s.pages, c * s.layers + l);
            distinct += static_cast<double>(own.size());
            if (c > 0)
                shared += static_cast<double>(common(own, row(s.begin, s.pages, (c - 1) * s.layers + l)));
        }
        const auto layers = static_cast<double>(std::max<int64_t>(1, s.layers));
        out.distinct.push_back(hundredths(distinct / layers));
        out.shared.push_back(hundredths(shared / layers));
    }
    return out;
}

}  // namespace

SelectionSample sample_of(const RecordedSelection& s, const Attention& attention) {
    SelectionSample out = counts_of(s);
    const SelectionModel fitted = fit_selection(s, attention);
    out.block_reuse = fitted.block_reuse;
    out.chunk_reuse = fitted.chunk_reuse;
    return out;
}

Json selection_json(const SelectionSample& s) {
    return {{"distinct_pages", s.distinct},
            {"shared_with_chunk_before", s.shared},
            {"fitted_block_reuse", s.block_reuse},
            {"fitted_chunk_reuse", s.chunk_reuse}};
}

Result<SelectionSample> read_selection_sample(ConfigTable table) {
    SelectionSample s;
    HEADROOM_TRY(s.distinct, table.need<std::vector<double>>("distinct_pages"));
    HEADROOM_TRY(s.shared, table.need<std::vector<double>>("shared_with_chunk_before"));
    HEADROOM_TRY(s.block_reuse, table.need<double>("fitted_block_reuse"));
    HEADROOM_TRY(s.chunk_reuse, table.need<double>("fitted_chunk_reuse"));
    HEADROOM_CHECK(table.finish());
    return s;
}

SelectionModel fit_selection(const RecordedSelection& r, const Attention& attention) {
    SelectionModel model;
    model.source = r.source;
    if (r.page <= 0 || r.chunks < 2) return model;
    // Both chunks of a pair had a choice.
    const int64_t pages_per_chunk = r.chunk / r.page;
    const int64_t first = attention.budget / std::max<int64_t>(1, pages_per_chunk) + 2;
    if (first >= r.chunks) return model;
    const SelectionSample recorded = counts_of(r);
    Sums wanted;
    for (int64_t c = first; c < r.chunks; ++c) {
        wanted.distinct += recorded.distinct[c];
        wanted.shared += recorded.shared[c];
    }
    const auto reuse = [&](double SelectionModel::*member, double Sums::*sum, double sign) {
        model.*member = where_reached(sign * (wanted.*sum), [&](double share) {
            SelectionModel tried = model;
            tried.*member = share;
            return sign * (sums_of(tried, attention, r, first).*sum);
        });
    };
    if (attention.block < r.chunk) reuse(&SelectionModel::block_reuse, &Sums::distinct, -1);
    reuse(&SelectionModel::chunk_reuse, &Sums::shared, 1);
    return model;
}

}  // namespace headroom::fidelity
