#include "gui/paint/memory_curve.h"

#include <algorithm>
#include <array>

namespace headroom::gui {

MemoryCurve::MemoryCurve(const Timeline& timeline, Tier tier)
    : tier_(tier), capacity_bytes_(timeline.capacity_bytes[static_cast<size_t>(tier)]) {
    read(timeline);
    build_pyramid();
}

void MemoryCurve::read(const Timeline& timeline) {
    std::array<bool, kCategories> used{};
    for (const MemorySample& s : timeline.memory) {
        if (s.tier == tier_ && s.bytes > 0) used[static_cast<size_t>(s.category)] = true;
    }
    std::array<uint8_t, kCategories> place{};
    for (size_t c = 0; c < kCategories; ++c) {
        if (!used[c]) continue;
        place[c] = static_cast<uint8_t>(categories_.size());
        categories_.push_back(static_cast<Category>(c));
    }
    std::vector<int64_t> live(categories_.size());
    int64_t total = 0;
    for (const MemorySample& s : timeline.memory) {
        if (s.tier != tier_ || !used[static_cast<size_t>(s.category)]) continue;
        if (times_.empty() || times_.back() != s.time_ns) {
            if (times_.size() % kCheckpoint == 0) rows_.insert(rows_.end(), live.begin(), live.end());
            times_.push_back(s.time_ns);
            totals_.push_back(0);
            changes_end_.push_back(0);
        }
        const uint8_t at = place[static_cast<size_t>(s.category)];
        total += s.bytes - live[at];
        live[at] = s.bytes;
        change_bytes_.push_back(s.bytes);
        change_category_.push_back(at);
        totals_.back() = total;
        changes_end_.back() = static_cast<uint32_t>(change_bytes_.size());
    }
}

void MemoryCurve::build_pyramid() {
    const auto fuller = [this](uint32_t a, uint32_t b) { return totals_[b] > totals_[a] ? b : a; };
    std::vector<uint32_t> level;
    for (size_t first = 0; first < size(); first += kCheckpoint)
        level.push_back(
            static_cast<uint32_t>(fullest_leaf(first, std::min(first + kCheckpoint, size()) - 1)));
    while (!level.empty()) {
        fullest_.push_back(level);
        if (level.size() == 1) break;
        std::vector<uint32_t> above;
        for (size_t i = 0; i < level.size(); i += kFan) {
            uint32_t most = level[i];
            for (size_t k = i + 1; k < std::min(i + kFan, level.size()); ++k) most = fuller(most, level[k]);
            above.push_back(most);
        }
        level = std::move(above);
    }
}

size_t MemoryCurve::instant_at(int64_t ns) const {
    const auto after = std::upper_bound(times_.begin(), times_.end(), ns);
    return after == times_.begin() ? kBefore : static_cast<size_t>(after - times_.begin()) - 1;
}

size_t MemoryCurve::fullest_leaf(size_t first, size_t last) const {
    const auto begin = totals_.begin() + static_cast<ptrdiff_t>(first);
    const auto end = totals_.begin() + static_cast<ptrdiff_t>(last) + 1;
    return static_cast<size_t>(std::max_element(begin, end) - totals_.begin());
}

size_t MemoryCurve::fullest(size_t first, size_t last) const {
    if (last == kBefore) return kBefore;
    if (first == kBefore) first = 0;  // nothing is live before it: never fuller
    size_t most = first;
    const auto take = [&](size_t other) {
        if (totals_[other] > totals_[most] || (totals_[other] == totals_[most] && other < most)) most = other;
    };
    // Whole blocks from the pyramid, as high as they go; the ends from the totals.
    size_t from = (first + kCheckpoint - 1) / kCheckpoint, to = (last + 1) / kCheckpoint;
    if (from >= to) return fullest_leaf(first, last);
    if (first < from * kCheckpoint) take(fullest_leaf(first, from * kCheckpoint - 1));
    if (to * kCheckpoint <= last) take(fullest_leaf(to * kCheckpoint, last));
    for (size_t level = 0; from < to; ++level) {
        while (from < to && (from % kFan != 0 || level + 1 == fullest_.size())) take(fullest_[level][from++]);
        while (from < to && to % kFan != 0) take(fullest_[level][--to]);
        from /= kFan;
        to /= kFan;
    }
    return most;
}

void MemoryCurve::bytes_at(size_t instant, std::span<int64_t> by_category) const {
    if (instant == kBefore) {
        std::fill(by_category.begin(), by_category.end(), 0);
        return;
    }
    const size_t block = instant / kCheckpoint, width = categories_.size();
    std::copy_n(rows_.begin() + static_cast<ptrdiff_t>(block * width), width, by_category.begin());
    const uint32_t begin = block == 0 ? 0 : changes_end_[block * kCheckpoint - 1];
    for (uint32_t i = begin; i < changes_end_[instant]; ++i)
        by_category[change_category_[i]] = change_bytes_[i];
}

std::vector<int64_t> MemoryCurve::bytes_at(size_t instant) const {
    std::vector<int64_t> by_category(categories_.size());
    bytes_at(instant, by_category);
    return by_category;
}

}  // namespace headroom::gui
