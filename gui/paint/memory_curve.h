// The live bytes of one tier over the step, by category: any instant, and the fullest instant of any range of
// time, without reading all of it.
//
// A pyramid of "which instant is fullest" lies over the totals, and every kCheckpoint instants the bytes of
// all categories are written down; an instant between is found by replaying what changed since.
#pragma once

#include <span>
#include <vector>

#include "timeline/timeline.h"

namespace headroom::gui {

class MemoryCurve {
public:
    static constexpr size_t kCheckpoint = 64, kFan = 8;
    static constexpr size_t kBefore = static_cast<size_t>(-1);  // before the first instant: nothing is live

    // Cost: linear in the samples of all tiers; some 30 bytes a sample.
    MemoryCurve(const Timeline& timeline, Tier tier);

    Tier tier() const { return tier_; }
    int64_t capacity_bytes() const { return capacity_bytes_; }  // 0: none is known
    // Those that ever have a byte, in the order in which they are stacked, the lowest first.
    const std::vector<Category>& categories() const { return categories_; }
    bool empty() const { return categories_.empty(); }

    // Instants at which something changed; what holds from one on holds until the next.
    size_t size() const { return times_.size(); }
    int64_t time_ns(size_t instant) const { return instant == kBefore ? 0 : times_[instant]; }
    int64_t total_bytes(size_t instant) const { return instant == kBefore ? 0 : totals_[instant]; }
    // The one whose bytes are live at `ns`. Logarithmic.
    size_t instant_at(int64_t ns) const;
    // The fullest of [first, last], the earliest of equals; first may be kBefore. Cost: some 150 steps.
    size_t fullest(size_t first, size_t last) const;
    // Bytes of each of categories(). Cost: kCheckpoint steps.
    void bytes_at(size_t instant, std::span<int64_t> by_category) const;
    std::vector<int64_t> bytes_at(size_t instant) const;
    // The fullest of all; kBefore where there is none.
    size_t peak() const { return size() == 0 ? kBefore : fullest(0, size() - 1); }

private:
    void read(const Timeline& timeline);
    void build_pyramid();
    size_t fullest_leaf(size_t first, size_t last) const;

    Tier tier_;
    int64_t capacity_bytes_ = 0;
    std::vector<Category> categories_;
    std::vector<int64_t> times_, totals_;
    std::vector<uint32_t> changes_end_;     // of each instant
    std::vector<int64_t> change_bytes_;     // the category's bytes from then on
    std::vector<uint8_t> change_category_;  // index of categories_
    std::vector<int64_t> rows_;             // before each kCheckpoint-th instant
    std::vector<std::vector<uint32_t>> fullest_;
};

}  // namespace headroom::gui
