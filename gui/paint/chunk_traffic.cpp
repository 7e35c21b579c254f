#include "gui/paint/chunk_traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom::gui {

void ChunkTraffic::add(const ChunkTraffic& o) {
    selected += o.selected;
    loaded += o.loaded;
    hit += o.hit;
    evicted += o.evicted;
    gradients_loaded += o.gradients_loaded;
    written += o.written;
    first_touched += o.first_touched;
    loaded_bytes += o.loaded_bytes;
    written_bytes += o.written_bytes;
}

const ChunkTraffic& TrafficTable::of(Pass pass, int layer, int64_t chunk) const {
    const int64_t row = layer == kAllLayers ? layers : layer;
    return rows[index_of(pass)][static_cast<size_t>(row * chunks + chunk)];
}

TrafficTable traffic_table(const Timeline& timeline, int64_t chunks, int64_t layers) {
    TrafficTable table{chunks, layers, {}};
    for (auto& rows : table.rows) rows.assign(static_cast<size_t>((layers + 1) * chunks), {});
    for (const Traffic& t : timeline.traffic) {
        const bool of_pass = t.pass == Pass::fill || t.pass == Pass::gradient;
        if (!of_pass || t.chunk >= chunks || t.layer >= layers) continue;
        const ChunkTraffic sum{t.selected,      t.loaded,           t.hit,
                               t.evicted,       t.gradients_loaded, t.written_back,
                               t.first_touched, t.loaded_bytes,     t.written_bytes};
        auto& rows = table.rows[index_of(t.pass)];
        rows[static_cast<size_t>(t.layer * chunks + t.chunk)].add(sum);
        rows[static_cast<size_t>(layers * chunks + t.chunk)].add(sum);
    }
    return table;
}

TrafficBar bar_of(const ChunkTraffic& t, TrafficUnit unit) {
    const auto number = [](int64_t v) { return static_cast<double>(v); };
    if (unit == TrafficUnit::bytes) return {number(t.loaded_bytes), 0, 0, number(t.written_bytes)};
    return {number(t.loaded), number(t.hit), number(t.gradients_loaded), number(t.written)};
}

double TrafficColumns::most() const {
    double most = 0;
    for (const TrafficBar& bar : bars) most = std::max(most, std::accumulate(bar.begin(), bar.end(), 0.0));
    return most;
}

TrafficColumns traffic_columns(const TrafficTable& table, Pass pass, int layer, TrafficUnit unit, double from,
                               double to, int64_t most) {
    TrafficColumns columns;
    const double room = static_cast<double>(std::max<int64_t>(1, most));
    while ((to - from) / static_cast<double>(columns.chunks_each) > room) columns.chunks_each *= 2;
    const int64_t each = columns.chunks_each;
    const auto first_chunk = std::clamp<int64_t>(static_cast<int64_t>(std::floor(from)), 0, table.chunks),
               end_chunk = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(to)), 0, table.chunks);
    columns.first = first_chunk / each;
    for (int64_t i = columns.first; i < ceil_div(end_chunk, each); ++i) {
        TrafficBar sum{};
        const int64_t begin = i * each, end = std::min(begin + each, table.chunks);
        for (int64_t c = begin; c < end; ++c) {
            const TrafficBar bar = bar_of(table.of(pass, layer, c), unit);
            for (size_t p = 0; p < kTrafficParts; ++p) sum[p] += bar[p];
        }
        for (double& part : sum) part /= static_cast<double>(end - begin);
        columns.bars.push_back(sum);
    }
    return columns;
}

}  // namespace headroom::gui
