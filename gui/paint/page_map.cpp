#include "gui/paint/page_map.h"

#include <algorithm>
#include <map>

#include "program/page_traffic.h"
#include "program/selected.h"

namespace headroom::gui {
namespace {

// What the pages that a layer reads depend on.
struct Pattern {
    int64_t selection = -1;  // of the set of selections; -1: dense
    int64_t window = 0;
    bool caches = false;       // K and V are loaded, through a cache
    std::vector<bool> chunks;  // that read
    auto operator<=>(const Pattern&) const = default;
};

void end_chunk(ChunkRuns& runs) {
    runs.begin.push_back(static_cast<uint32_t>(runs.runs.size()));
}

// Appends pages that ascend.
void add_page(ChunkRuns& runs, uint32_t page) {
    if (runs.runs.size() > runs.begin.back() && runs.runs.back().last == page) {
        ++runs.runs.back().last;
    } else {
        runs.runs.push_back({page, page + 1, 1});
    }
}

ChunkRuns reads_of(const Plan& plan, const SelectionSet& selections, int64_t layer, const Pattern& pattern) {
    ChunkRuns runs;
    const int64_t page = plan.decisions.page.count();
    for (int64_t c = 0; c < plan.chunks(); ++c) {
        if (pattern.chunks[static_cast<size_t>(c)]) {
            if (pattern.selection >= 0) {
                const Selections& s = selections.layers[static_cast<size_t>(pattern.selection)];
                for (uint32_t i = s.begin[static_cast<size_t>(c)]; i < s.begin[static_cast<size_t>(c) + 1];
                     ++i)
                    add_page(runs, s.pages[i]);
            } else {
                const int64_t past = c * plan.decisions.chunk.count();
                const int64_t first = (past - visible_past(plan, c, layer)) / page;
                if (first < past / page)
                    runs.runs.push_back(
                        {static_cast<uint32_t>(first), static_cast<uint32_t>(past / page), 1});
            }
        }
        end_chunk(runs);
    }
    return runs;
}

// By chunk: pages that are found in the cache, ascending.
using FoundPages = std::vector<std::vector<uint32_t>>;

// [0]: fill pass. [1]: gradient pass.
std::array<FoundPages, 2> found_pages(const Plan& plan, const Selections& selections) {
    std::array<FoundPages, 2> found;
    for (FoundPages& pass : found) pass.resize(static_cast<size_t>(plan.chunks()));
    page_moves(plan, selections, cache_pages(plan), [&](Pass pass, int64_t chunk, uint32_t page) {
        found[index_of(pass)][static_cast<size_t>(chunk)].push_back(page);
    });
    return found;
}

ChunkRuns runs_of(const FoundPages& found, const std::vector<bool>& chunks) {
    ChunkRuns runs;
    for (size_t c = 0; c < chunks.size(); ++c) {
        for (size_t i = 0; chunks[c] && c < found.size() && i < found[c].size(); ++i)
            add_page(runs, found[c][i]);
        end_chunk(runs);
    }
    return runs;
}

// Finds the last reader of each page, from the last chunk back, and what each chunk is the first to touch.
void find_touches(LayerReads& layer, int64_t chunks, int64_t pages, bool all_at_once) {
    layer.last_reader.assign(static_cast<size_t>(pages), all_at_once ? static_cast<int32_t>(chunks) : -1);
    if (!all_at_once) {
        for (int64_t c = 0; c < chunks; ++c) {
            for (const PageRun& run : layer.reads.of(c))
                std::fill(layer.last_reader.begin() + run.first, layer.last_reader.begin() + run.last,
                          static_cast<int32_t>(c));
        }
    }
    for (int64_t c = 0; c < chunks; ++c) {
        for (const PageRun& run : layer.reads.of(c)) {
            for (uint32_t p = run.first; p < run.last; ++p) {
                if (layer.last_reader[p] == c) add_page(layer.touches, p);
            }
        }
        end_chunk(layer.touches);
    }
}

struct Weighted {
    const ChunkRuns* runs;
    uint16_t layers;
};

// How many layers read each page, chunk by chunk.
ChunkRuns together(const std::vector<Weighted>& parts, int64_t chunks) {
    ChunkRuns all;
    std::vector<std::pair<uint32_t, int32_t>> steps;  // at this page so many layers more, or less
    for (int64_t c = 0; c < chunks; ++c) {
        steps.clear();
        for (const Weighted& part : parts) {
            for (const PageRun& run : part.runs->of(c)) {
                steps.emplace_back(run.first, part.layers);
                steps.emplace_back(run.last, -part.layers);
            }
        }
        std::sort(steps.begin(), steps.end());
        int32_t layers = 0;
        for (size_t i = 0; i < steps.size();) {
            const uint32_t at = steps[i].first;
            for (; i < steps.size() && steps[i].first == at; ++i) layers += steps[i].second;
            if (layers == 0) continue;
            const uint32_t last = steps[i].first;
            const bool longer = all.runs.size() > all.begin.back() && all.runs.back().last == at &&
                                all.runs.back().layers == layers;
            if (longer)
                all.runs.back().last = last;
            else
                all.runs.push_back({at, last, static_cast<uint16_t>(layers)});
        }
        end_chunk(all);
    }
    return all;
}

LayerReads all_together(const std::vector<LayerReads>& patterns, const std::vector<uint16_t>& pattern_of,
                        int64_t chunks) {
    std::vector<uint16_t> weight(patterns.size(), 0);
    for (const uint16_t p : pattern_of) ++weight[p];
    std::vector<Weighted> reads, cached, touches;
    LayerReads all;
    for (size_t p = 0; p < patterns.size(); ++p) {
        reads.push_back({&patterns[p].reads, weight[p]});
        cached.push_back({&patterns[p].cached, weight[p]});
        touches.push_back({&patterns[p].touches, weight[p]});
        all.last_reader.resize(patterns[p].last_reader.size(), -1);
        for (size_t i = 0; i < all.last_reader.size(); ++i)
            all.last_reader[i] = std::max(all.last_reader[i], patterns[p].last_reader[i]);
    }
    all.reads = together(reads, chunks);
    all.cached = together(cached, chunks);
    all.touches = together(touches, chunks);
    return all;
}

// By pass and layer: the chunks that attend any page.
std::array<std::vector<std::vector<bool>>, 2> reading_chunks(const PageMap& map, const Timeline& timeline) {
    std::array<std::vector<std::vector<bool>>, 2> reading;
    for (auto& pass : reading)
        pass.assign(static_cast<size_t>(map.layers), std::vector<bool>(static_cast<size_t>(map.chunks)));
    for (const Traffic& row : timeline.traffic) {
        if (row.selected == 0 || row.layer >= map.layers || row.chunk >= map.chunks) continue;
        if (row.pass == Pass::fill || row.pass == Pass::gradient)
            reading[index_of(row.pass)][row.layer][row.chunk] = true;
    }
    return reading;
}

}  // namespace

int64_t ChunkRuns::layers_at(int64_t chunk, int64_t page) const {
    const std::span<const PageRun> row = of(chunk);
    const auto after = std::upper_bound(row.begin(), row.end(), page,
                                        [](int64_t p, const PageRun& run) { return p < run.first; });
    if (after == row.begin()) return 0;
    const PageRun& run = *(after - 1);
    return page < run.last ? run.layers : 0;
}

const LayerReads& PageMap::reads(Pass pass, int layer) const {
    const size_t i = index_of(pass);
    return layer == kAllLayers ? patterns[i].back() : patterns[i][pattern_of[i][static_cast<size_t>(layer)]];
}

bool PageMap::stays(Pass pass, int layer) const {
    const std::vector<bool>& stay = on_device[index_of(pass)];
    return layer == kAllLayers ? std::find(stay.begin(), stay.end(), false) == stay.end()
                               : stay[static_cast<size_t>(layer)];
}

PastPlace PageMap::home(Pass pass, int layer, int64_t page) const {
    const size_t i = index_of(pass);
    if (stays(pass, layer) || page < zones[i][0]) return PastPlace::device;
    return page < zones[i][1] ? PastPlace::host : PastPlace::disk;
}

bool PageMap::makes(int layer) const {
    if (layer != kAllLayers) return makes_pages[static_cast<size_t>(layer)];
    return std::find(makes_pages.begin(), makes_pages.end(), true) != makes_pages.end();
}

int64_t PageMap::kept_until(int layer, int64_t chunk) const {
    return makes(layer) ? std::min(chunk + 1, chunks - 1) * pages_per_chunk : 0;
}

PageCell PageMap::cell(Pass pass, int layer, int64_t chunk, int64_t page) const {
    const LayerReads& r = reads(pass, layer);
    PageCell cell{CellState::none, home(pass, layer, page), 0};
    if (pass == Pass::gradient) {
        const int64_t touching = r.touches.layers_at(chunk, page);
        if (touching > 0) return {CellState::first_touched, cell.home, touching};
    }
    const int64_t cached = r.cached.layers_at(chunk, page);
    if (cached > 0) return {CellState::cached, cell.home, cached};
    const int64_t reading = r.reads.layers_at(chunk, page);
    if (reading > 0) return {CellState::read, cell.home, reading};
    const int64_t own = chunk * pages_per_chunk;
    if (pass == Pass::gradient) {
        if (page < own + pages_per_chunk && r.last_reader[static_cast<size_t>(page)] >= chunk)
            cell.state = page >= own ? CellState::own : CellState::resident;
        return cell;
    }
    if (page < kept_until(layer, chunk)) cell.state = page >= own ? CellState::own : CellState::resident;
    return cell;
}

std::vector<int64_t> PageMap::readers(Pass pass, int layer, int64_t page) const {
    std::vector<int64_t> found;
    const ChunkRuns& r = reads(pass, layer).reads;
    for (int64_t c = 0; c < chunks; ++c) {
        if (r.layers_at(c, page) > 0) found.push_back(c);
    }
    return found;
}

PageMap make_page_map(const Plan& plan, const Timeline& timeline) {
    const Decisions& d = plan.decisions;
    PageMap map;
    map.chunks = plan.chunks();
    map.page_tokens = d.page.count();
    map.context = plan.context.count();
    map.pages = ceil_div(map.context, map.page_tokens);
    map.pages_per_chunk = std::max<int64_t>(1, d.chunk.count() / map.page_tokens);
    map.layers = plan.model.layer_count();
    map.sparse = d.attention.sparse;
    const Residency* residencies[] = {&d.kv_residency, &d.kv_gradient_residency};
    for (size_t i = 0; i < 2; ++i) {
        map.zones[i] = {residencies[i]->device_chunks * map.pages_per_chunk,
                        (map.chunks - residencies[i]->disk_chunks) * map.pages_per_chunk};
        for (int64_t l = 0; l < map.layers; ++l)
            map.on_device[i].push_back(Plan::device_layer(*residencies[i], l, map.layers));
    }
    for (int64_t l = 0; l < map.layers; ++l)
        map.makes_pages.push_back(map.chunks > 1 && visible_past(plan, 1, l) > 0);

    const SelectionSet selections = select_pages(plan);
    const auto reading = reading_chunks(map, timeline);
    const bool has_cache = d.page_cache.count() > 0;
    std::map<int64_t, std::array<FoundPages, 2>> found;  // by selection
    for (size_t i = 0; i < 2; ++i) {
        std::map<Pattern, uint16_t> known;
        for (int64_t l = 0; l < map.layers; ++l) {
            Pattern pattern;
            pattern.chunks = reading[i][static_cast<size_t>(l)];
            if (selects_pages(plan, l) && !selections.layers.empty()) {
                pattern.selection = l % static_cast<int64_t>(selections.layers.size());
                pattern.caches = has_cache && !map.on_device[0][static_cast<size_t>(l)] &&
                                 d.kv_residency.device_chunks < map.chunks - 1;
            } else {
                pattern.window = d.honour_windows ? plan.model.layers[static_cast<size_t>(l)].window : 0;
            }
            const auto [it, fresh] = known.try_emplace(pattern, static_cast<uint16_t>(known.size()));
            map.pattern_of[i].push_back(it->second);
            if (!fresh) continue;
            LayerReads layer;
            layer.reads = reads_of(plan, selections, l, pattern);
            if (pattern.caches && !found.contains(pattern.selection))
                found[pattern.selection] =
                    found_pages(plan, selections.layers[static_cast<size_t>(pattern.selection)]);
            layer.cached =
                runs_of(pattern.caches ? found[pattern.selection][i] : FoundPages(), pattern.chunks);
            if (i == 1) {
                const bool at_once = d.gradient_pages == GradientPages::all_at_once && map.chunks > 1;
                find_touches(layer, map.chunks, map.pages, at_once);
            } else {
                layer.touches.begin.assign(static_cast<size_t>(map.chunks) + 1, 0);
            }
            map.patterns[i].push_back(std::move(layer));
        }
        LayerReads all = all_together(map.patterns[i], map.pattern_of[i], map.chunks);
        map.patterns[i].push_back(std::move(all));
    }
    return map;
}

}  // namespace headroom::gui
