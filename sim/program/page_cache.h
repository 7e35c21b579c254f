// The page cache of one layer: least recently used pages, each in a slot. The planner counts with it what
// moves, the engine moves it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

class PageCache {
public:
    // Of pages [0, pages), at most `capacity` at once.
    PageCache(int64_t pages, int64_t capacity)
        : capacity_(capacity),
          next_(static_cast<size_t>(pages) + 1),
          previous_(static_cast<size_t>(pages) + 1),
          slot_(static_cast<size_t>(pages), -1),
          end_(static_cast<uint32_t>(pages)) {
        next_[end_] = previous_[end_] = end_;
    }
    int64_t capacity() const { return capacity_; }
    int64_t slot(uint32_t page) const { return slot_[page]; }  // -1: not held
    bool holds(uint32_t page) const { return slot_[page] >= 0; }
    void touch(uint32_t page) {
        unlink(page);
        link(page);
    }
    // Puts in a page that is not held; returns the one whose slot it got, or none(). The capacity is not 0.
    uint32_t insert(uint32_t page) {
        uint32_t out = end_;
        int64_t slot = 0;
        if (!free_.empty()) {
            slot = free_.back();
            free_.pop_back();
        } else if (used_ < capacity_) {
            slot = used_++;
        } else {
            out = next_[end_];
            slot = slot_[out];
            unlink(out);
            slot_[out] = -1;
        }
        slot_[page] = slot;
        link(page);
        return out;
    }
    void drop(uint32_t page) {
        unlink(page);
        free_.push_back(slot_[page]);
        slot_[page] = -1;
    }
    uint32_t none() const { return end_; }

private:
    void link(uint32_t page) {  // as most recent
        previous_[page] = previous_[end_];
        next_[page] = end_;
        next_[previous_[end_]] = page;
        previous_[end_] = page;
    }
    void unlink(uint32_t page) {
        next_[previous_[page]] = next_[page];
        previous_[next_[page]] = previous_[page];
    }
    int64_t capacity_, used_ = 0;  // slots that were ever used
    std::vector<uint32_t> next_, previous_;
    std::vector<int64_t> slot_;  // by page
    std::vector<int64_t> free_;  // of pages that were dropped
    uint32_t end_;
};

// What the pages that a chunk uses do to the cache.
struct PageUse {
    struct Held {
        uint32_t page;
        int64_t slot;
    };
    std::vector<Held> found;       // were there, in these slots
    std::vector<uint32_t> missed;  // were not
    std::vector<Held> given_up;  // had to leave these slots; may have been found or missed by the same chunk
    void clear() {
        found.clear();
        missed.clear();
        given_up.clear();
    }
};

// First all pages that are there are found, then those that are not come in, where `cacheable(page)`: no page
// is given up before its own use. `use` is written anew. Cost: O(pages).
template <class Cacheable>
void use_pages(PageCache& cache, std::span<const uint32_t> pages, const Cacheable& cacheable, PageUse& use) {
    use.clear();
    for (const uint32_t page : pages) {
        if (cache.holds(page)) {
            cache.touch(page);
            use.found.push_back({page, cache.slot(page)});
        } else {
            use.missed.push_back(page);
        }
    }
    if (cache.capacity() == 0) return;
    for (const uint32_t page : use.missed) {
        if (!cacheable(page)) continue;
        const uint32_t out = cache.insert(page);
        if (out != cache.none()) use.given_up.push_back({out, cache.slot(page)});
    }
}

}  // namespace headroom
