// The model of page selections: draws in integers, so that every machine draws the same pages.
#include "plan/selection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "base/units.h"
#include "plan/decisions.h"
#include "plan/page_weights.h"
#include "plan/waiting_pages.h"

namespace headroom {
namespace {

// The distinct pages of one chunk. Both the list and the bits are kept: a short list is sorted, a long one is
// read off the bits in order, whichever touches less memory.
class Union {
public:
    // `waiting`: of this layer; null: any number may wait.
    Union(int64_t pages, WaitingPages* waiting) : bits_(ceil_div(pages, 64), 0), waiting_(waiting) {}
    bool has_room(uint32_t page) const { return waiting_ == nullptr || waiting_->has_room(page); }
    void add(uint32_t page) {
        uint64_t& word = bits_[page >> 6];
        const uint64_t bit = uint64_t{1} << (page & 63);
        if ((word & bit) != 0) return;
        word |= bit;
        list_.push_back(page);
        if (waiting_ != nullptr) waiting_->select(page);
    }
    // Appends the pages below `past` in ascending order, and empties the union.
    void drain(int64_t past, std::vector<uint32_t>& out) {
        const size_t words = ceil_div(past, 64);
        if (list_.size() * 8 < words) {
            std::sort(list_.begin(), list_.end());
            for (uint32_t page : list_) bits_[page >> 6] = 0;
            out.insert(out.end(), list_.begin(), list_.end());
        } else {
            for (size_t w = 0; w < words; ++w) {
                for (uint64_t word = bits_[w]; word != 0; word &= word - 1) {
                    out.push_back(static_cast<uint32_t>(w * 64 + std::countr_zero(word)));
                }
                bits_[w] = 0;
            }
        }
        list_.clear();
    }

private:
    std::vector<uint64_t> bits_;
    std::vector<uint32_t> list_;
    WaitingPages* waiting_;
};

// The pages that the current block chose besides sink and local, all in [first, end of the free past).
class Picks {
public:
    Picks(int64_t pages, int64_t first, int64_t count, double neighbours)
        : held_(pages, 0),
          first_(first),
          count_(count),
          neighbours_(static_cast<uint64_t>(neighbours * 4294967296.0)) {}

    // The next block keeps `keep` of the picks, chosen at random, and draws the others from [first, end).
    // Needs end - first >= count, so that a page that is not held is always there.
    // `weights`: null: all pages alike.
    void next(int64_t keep, int64_t end, const PageWeights* weights, Draw& draw, Union& chunk) {
        const size_t kept = std::min<size_t>(keep, picks_.size());
        if (kept == 0) release_all();
        while (picks_.size() > kept) {
            std::swap(picks_[draw.below(picks_.size())], picks_.back());
            held_[picks_.back()] = 0;
            picks_.pop_back();
        }
        // Once most of what the weights favour is held, any page will do.
        int64_t by_weight = weights != nullptr ? kTries * count_ : 0;
        int64_t without_room = kRefused * count_;
        auto after = static_cast<uint32_t>(end);  // the page before it was drawn
        while (static_cast<int64_t>(picks_.size()) < count_) {
            uint32_t page = after;
            const bool beside =
                neighbours_ > 0 && (draw.next() >> 32) < neighbours_ && after < end && held_[after] == 0;
            if (!beside) {
                const bool weighted = by_weight-- > 0;
                page =
                    weighted ? weights->page(draw) : static_cast<uint32_t>(first_ + draw.below(end - first_));
            }
            if (held_[page] != 0) continue;
            if (!chunk.has_room(page) && without_room-- > 0) {
                after = static_cast<uint32_t>(end);
                continue;
            }
            after = page + 1;
            held_[page] = 1;
            picks_.push_back(page);
            chunk.add(page);
        }
    }
    void release_all() {
        for (uint32_t page : picks_) held_[page] = 0;
        picks_.clear();
    }
    void add_to(Union& chunk) const {
        for (uint32_t page : picks_) chunk.add(page);
    }

private:
    static constexpr int64_t kTries = 4;      // per pick
    static constexpr int64_t kRefused = 256;  // for want of room, per pick
    std::vector<uint8_t> held_;
    std::vector<uint32_t> picks_;
    int64_t first_, count_;
    uint64_t neighbours_;  // of 2^32
};

Selections from_record(const RecordedSelection& record, int64_t chunks, int64_t layer) {
    Selections out;
    out.begin.reserve(chunks + 1);
    out.begin.push_back(0);
    for (int64_t c = 0; c < chunks; ++c) {
        const int64_t row = c * record.layers + layer % record.layers;
        out.pages.insert(out.pages.end(), record.pages.begin() + record.begin[row],
                         record.pages.begin() + record.begin[row + 1]);
        out.begin.push_back(static_cast<uint32_t>(out.pages.size()));
    }
    return out;
}

int64_t share_of(double share, int64_t count) {
    return static_cast<int64_t>(std::floor(share * static_cast<double>(count) + 0.5));
}

}  // namespace

bool SelectionModel::operator==(const SelectionModel& o) const {
    const bool same_record = recorded == o.recorded || (recorded && o.recorded && *recorded == *o.recorded);
    return block_reuse == o.block_reuse && chunk_reuse == o.chunk_reuse && popularity == o.popularity &&
           recency == o.recency && neighbours == o.neighbours && spread == o.spread && seed == o.seed &&
           source == o.source && same_record;
}

Selections draw_selections(const SelectionModel& model, const Attention& attention, int64_t chunks,
                           int64_t chunk_tokens, int64_t page_tokens, int64_t layer) {
    if (model.recorded) return from_record(*model.recorded, chunks, layer);

    const int64_t pages_per_chunk = chunk_tokens / page_tokens;
    const int64_t blocks = ceil_div(chunk_tokens, attention.block);
    const int64_t count = attention.budget - attention.sink - attention.local;
    const int64_t keep_block = share_of(model.block_reuse, count);
    const int64_t keep_chunk = share_of(model.chunk_reuse, count);

    Selections out;
    out.begin.reserve(chunks + 1);
    out.begin.push_back(0);
    Draw draw(model.seed);
    const bool limited = attention.waiting > 0;
    WaitingPages waiting(attention.waiting, 1, limited ? chunks : 0, pages_per_chunk);
    Union distinct(chunks * pages_per_chunk, limited ? &waiting : nullptr);
    Picks picks(chunks * pages_per_chunk, attention.sink, count, model.neighbours);
    std::optional<PageWeights> weights;
    if (model.popularity != 0 || model.recency != 0)
        weights.emplace(model.popularity, model.recency, model.seed, attention.sink, pages_per_chunk);
    const PageWeights* const weighted = weights ? &*weights : nullptr;
    for (int64_t c = 0; c < chunks; ++c) {
        const int64_t past = c * pages_per_chunk;
        if (limited) waiting.enter(c, 0);
        if (past <= attention.budget) {
            for (int64_t page = 0; page < past; ++page) {
                out.pages.push_back(static_cast<uint32_t>(page));
                if (limited) waiting.select(page);
            }
        } else {
            const int64_t end = past - attention.local;
            for (int64_t page = 0; page < attention.sink; ++page) distinct.add(static_cast<uint32_t>(page));
            for (int64_t page = end; page < past; ++page) distinct.add(static_cast<uint32_t>(page));
            if (weights) weights->set_end(end);
            picks.next(keep_chunk, end, weighted, draw, distinct);
            picks.add_to(distinct);
            for (int64_t b = 1; b < blocks; ++b) picks.next(keep_block, end, weighted, draw, distinct);
            distinct.drain(past, out.pages);
        }
        out.begin.push_back(static_cast<uint32_t>(out.pages.size()));
    }
    return out;
}

}  // namespace headroom
