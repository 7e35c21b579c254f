// Sparse attention: which past pages the query blocks of a chunk select. Data where a run recorded it, else a
// model with stated parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace headroom {

struct Attention;

// A recorded selection: for every chunk and layer the distinct pages that the chunk's blocks selected.
// Layers may be fewer than the model's (a sample): layer l then uses recorded layer l % layers.
struct RecordedSelection {
    std::string source;  // file, machine, date
    int64_t page = 0, chunk = 0, budget = 0, block = 0, layers = 0, chunks = 0;
    // [chunks * layers + 1] offsets into pages; row of (chunk, layer) = chunk * layers + layer.
    std::vector<uint32_t> begin;
    std::vector<uint32_t> pages;  // ascending within a row
    bool operator==(const RecordedSelection&) const = default;
};

// Parameters of the model of selections, or a recorded one. All layers alike in the model.
//  - `block_reuse`: of the pages beyond sink and local that a block selects, the share it takes over from the
//    block before it in the same chunk; the others are drawn from the past.
//  - `chunk_reuse`: the same for the first block of a chunk from the last block of the chunk before.
//  - `popularity`: some pages are drawn more often, by every chunk: Zipf's exponent. 0: all alike.
//  - `recency`: the weight of a page falls with its age to this power (below 0: grows). 0: whatever the age.
//  - `neighbours`: the share of what is drawn that is the page after the one drawn before, so that runs of
//    1 / (1 - neighbours) pages on average travel as one piece.
struct SelectionModel {
    double block_reuse = 0.9;
    double chunk_reuse = 0.5;
    double popularity = 0;
    double recency = 0;
    double neighbours = 0;
    // What is drawn is a mean: a run may select more widely. So much more than the gradient pages that are
    // drawn to be alive, as a share of them, has a place (at most all that can be alive). Scenarios: kSpread.
    double spread = 0;
    uint64_t seed = 1;
    std::string source = "assumed";  // where the parameters come from; shown in every answer
    std::shared_ptr<const RecordedSelection> recorded;  // used instead where set
    bool operator==(const SelectionModel& o) const;
};

// Gradient pages alive at their peak differ by up to 10 % between runs of one model with other weights or
// tokens (docs/selection-format.md): two and a half times that.
inline constexpr double kSpread = 0.25, kMaxSpread = 4;

// Allowed ranges; outside them draws would be of next to one page alone.
inline constexpr double kMaxPopularity = 2, kMinRecency = -1, kMaxRecency = 4, kMaxNeighbours = 0.95;

// Distinct past pages that chunk c selects in one layer, for all chunks: rows[c] ascending page numbers.
// `past_pages(c)` = c * pages_per_chunk. Where the past has at most `budget` pages all of them are selected.
// Deterministic: the same parameters give the same pages on every machine. Cost: some ns a drawn page, some
// tens where popularity or recency is not 0.
struct Selections {
    std::vector<uint32_t> begin;  // [chunks + 1]
    std::vector<uint32_t> pages;
    int64_t count(int64_t chunk) const { return begin[chunk + 1] - begin[chunk]; }
};
Selections draw_selections(const SelectionModel& model, const Attention& attention, int64_t chunks,
                           int64_t chunk_tokens, int64_t page_tokens, int64_t layer = 0);

// Recorded selections travel as JSON, gzipped or not (docs/selection-format.md).
Result<RecordedSelection> parse_selection(std::string_view json, const std::string& where);
Result<RecordedSelection> read_selection(const std::filesystem::path& path);
std::string write_selection(const RecordedSelection& selection);

}  // namespace headroom
