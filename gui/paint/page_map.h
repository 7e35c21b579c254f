// Which pages each chunk of a step reads, makes and first touches, layer by layer, and where pages live.
//
// A cell is one page looked at in one chunk of one pass, as it is once the chunk has been worked on:
//  - fill pass: pages of K and V. The chunk makes its own; those of earlier chunks reside, or are read.
//  - gradient pass: pages of dK and dV. Those of the pages that the chunk reads are added to; the last chunk
//    of all that read a page touches its sums first; the chunk's own sums are finished and freed.
// In both passes, pages that are read may be found in the page cache.
// Source of the rules: sim/program/past_pieces.h (dense), page_traffic.h and selected.h (sparse).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "program/past_pieces.h"
#include "timeline/timeline.h"

namespace headroom::gui {

inline constexpr int kAllLayers = -1;

// Pages [first, last) that so many of the layers looked at read in one chunk.
struct PageRun {
    uint32_t first = 0, last = 0;
    uint16_t layers = 0;
    bool operator==(const PageRun&) const = default;
};

// Runs by chunk; those of one chunk ascend and do not overlap.
struct ChunkRuns {
    std::vector<uint32_t> begin{0};  // [chunks + 1]
    std::vector<PageRun> runs;
    std::span<const PageRun> of(int64_t chunk) const {
        const size_t c = static_cast<size_t>(chunk);
        return std::span(runs).subspan(begin[c], begin[c + 1] - begin[c]);
    }
    // How many layers read `page` in `chunk`.
    int64_t layers_at(int64_t chunk, int64_t page) const;
};

// Of one layer, or of all together.
struct LayerReads {
    ChunkRuns reads;
    ChunkRuns cached;   // of those that are read: found in the page cache
    ChunkRuns touches;  // gradient pass: first touched
    // By page: the last chunk that reads it in any of the layers; -1: none does. Where all sums exist from
    // the start: the number of chunks.
    std::vector<int32_t> last_reader;
};

// By weight: a cell that matters more hides one that matters less where they share a pixel.
enum class CellState : uint8_t { none, resident, own, read, cached, first_touched };

struct PageCell {
    CellState state = CellState::none;
    PastPlace home = PastPlace::device;  // of all layers: the farthest
    int64_t layers = 0;                  // that read it, find it in the cache, or first touch it
    bool operator==(const PageCell&) const = default;
};

struct PageMap {
    int64_t chunks = 0, pages = 0, pages_per_chunk = 1, page_tokens = 1, context = 0, layers = 0;
    bool sparse = false;
    // [0]: K and V, fill pass. [1]: dK and dV, gradient pass.
    std::array<std::vector<LayerReads>, 2> patterns;  // distinct ones; the last is of all layers
    std::array<std::vector<uint16_t>, 2> pattern_of;  // by layer
    std::array<std::vector<bool>, 2> on_device;       // by layer: all of its pages stay there
    std::array<std::array<int64_t, 2>, 2> zones{};    // of other layers: first page on the host, on disk
    std::vector<bool> makes_pages;                    // by layer: a later chunk reads its pages

    const LayerReads& reads(Pass pass, int layer) const;
    // Whether all of its pages (of all layers) stay on the device.
    bool stays(Pass pass, int layer) const;
    // Of the pages that `pass` is about (K and V, or dK and dV).
    PastPlace home(Pass pass, int layer, int64_t page) const;
    // Whether chunks of the fill pass make pages that a later chunk reads. The last chunk's are read by none.
    bool makes(int layer) const;
    // Pages [0, this) are kept once `chunk` of the fill pass has been worked on.
    int64_t kept_until(int layer, int64_t chunk) const;
    PageCell cell(Pass pass, int layer, int64_t chunk, int64_t page) const;
    // Whether any page of the pass is found in the cache.
    bool caches(Pass pass, int layer) const { return !reads(pass, layer).cached.runs.empty(); }
    // Chunks that read `page`, ascending. Cost: O(chunks log runs).
    std::vector<int64_t> readers(Pass pass, int layer, int64_t page) const;
};

// 0 of the fill pass, 1 of the gradient pass.
constexpr size_t index_of(Pass pass) {
    return pass == Pass::gradient ? 1 : 0;
}

// The pages are those that the plan's selection gives (select_pages). Chunks that attend nothing in a pass
// (the last layer of the fill pass, say) are known by the timeline's traffic. Cost: O(selected pages of all
// distinct layers). For worker threads.
PageMap make_page_map(const Plan& plan, const Timeline& timeline);

}  // namespace headroom::gui
