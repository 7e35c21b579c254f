#include "gui/view/page_table.h"

#include <fmt/format.h>

namespace headroom::gui {
namespace {

// "3 7-9".
std::string pages_of(std::span<const PageRun> runs) {
    std::string pages;
    for (size_t i = 0; i < runs.size();) {
        const uint32_t first = runs[i].first;
        uint32_t last = runs[i].last;
        // Runs that differ only in how many layers they are of touch each other.
        for (++i; i < runs.size() && runs[i].first == last; ++i) last = runs[i].last;
        pages += pages.empty() ? "" : " ";
        pages += first + 1 == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last - 1);
    }
    return pages;
}

}  // namespace

QByteArray page_table_csv(const PageMap& map, const TrafficTable& traffic, const ChunkTimes& times, Pass pass,
                          int layer) {
    std::string text =
        "pass,layer,chunk,begin_ns,selected_pages,loaded_pages,cache_hit_pages,cache_evicted_pages,"
        "gradient_loaded_pages,written_pages,first_touched_pages,loaded_bytes,written_bytes,pages_read,"
        "pages_found_in_cache\n";
    for (int64_t c = 0; c < map.chunks; ++c) {
        const ChunkTraffic& t = traffic.of(pass, layer, c);
        const int64_t begin = times.begin(pass, layer, c);
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", name_of(pass),
                            layer == kAllLayers ? "all" : std::to_string(layer), c,
                            begin == ChunkTimes::kNever ? "" : std::to_string(begin), t.selected, t.loaded,
                            t.hit, t.evicted, t.gradients_loaded, t.written, t.first_touched, t.loaded_bytes,
                            t.written_bytes, pages_of(map.reads(pass, layer).reads.of(c)),
                            pages_of(map.reads(pass, layer).cached.of(c)));
    }
    return QByteArray::fromStdString(text);
}

}  // namespace headroom::gui
