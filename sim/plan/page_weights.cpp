#include "plan/page_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace headroom {
namespace {

// 2^(-2^b / 1024) in units of 2^-32.
constexpr uint64_t kRoots[10] = {4292061010, 4289156690, 4283353945, 4271771996, 4248701965,
                                 4202935003, 4112874773, 3938502376, 3611622603, 3037000500};

// 1024 is a power of two: the product is exact.
int64_t in_steps(double v) {
    return static_cast<int64_t>(std::floor(v * 1024 + 0.5));
}

}  // namespace

uint64_t exp2_fixed(int64_t e) {
    const auto down = static_cast<uint64_t>(-e);
    if (down >= 33 * 1024) return 0;
    uint64_t v = uint64_t{1} << 32;
    for (size_t b = 0; b < std::size(kRoots); ++b)
        if ((down >> b & 1) != 0) v = (v * kRoots[b]) >> 32;
    return v >> (down >> 10);
}

// Of each class pages times 2^(step i / 1024), the heaviest weight being 1, in as many bits as fit into 32.
void PageWeights::Shares::set(const std::array<int64_t, kOctaves>& pages, size_t classes, int64_t step) {
    count = classes;
    const int64_t top = step > 0 ? step * static_cast<int64_t>(classes - 1) : 0;
    std::array<uint64_t, kOctaves> sums{};
    uint64_t sum = 0;
    for (size_t i = 0; i < classes; ++i) {
        sum += static_cast<uint64_t>(pages[i]) * exp2_fixed(step * static_cast<int64_t>(i) - top);
        sums[i] = sum;
    }
    const int shift = std::max(0, static_cast<int>(std::bit_width(sum)) - 32);
    for (size_t i = 0; i < classes; ++i) below[i] = static_cast<uint32_t>(sums[i] >> shift);
}

size_t PageWeights::Shares::draw(Draw& draw) const {
    if (count == 1) return 0;
    const uint64_t at = draw.below(below[count - 1]);
    size_t i = 0;
    while (below[i] <= at) ++i;
    return i;
}

PageWeights::PageWeights(double popularity, double recency, uint64_t seed, int64_t first,
                         int64_t pages_per_chunk)
    : popularity_(in_steps(popularity)),
      recency_(in_steps(recency)),
      seed_(seed),
      first_(first),
      end_(first),
      chunk_(pages_per_chunk) {}

void PageWeights::set_end(int64_t end) {
    std::array<int64_t, kOctaves> pages{};
    if (popularity_ != 0) {
        for (; end_ < end; ++end_) {
            // A stream of its own for each page: its level does not depend on what else is drawn.
            Draw draw(seed_ ^ (static_cast<uint64_t>(end_) + 1) * 0xd1342543de82ef95u);
            const auto level = std::min<size_t>(kLevels - 1, std::countr_zero(draw.next()));
            levels_[level].push_back(static_cast<uint32_t>(end_));
        }
        for (size_t k = 0; k < kLevels; ++k) pages[k] = static_cast<int64_t>(levels_[k].size());
        by_level_.set(pages, kLevels, popularity_);
    }
    end_ = end;

    pages = {};
    size_t octaves = 0;
    if (recency_ == 0) pages[octaves++] = end - first_;
    for (int64_t age = 0; recency_ != 0 && age < end - first_; ++octaves) {
        pages[octaves] = std::min(chunk_ << octaves, end - first_ - age);
        age += pages[octaves];
    }
    by_octave_.set(pages, octaves, -recency_);
}

uint32_t PageWeights::page(Draw& draw) const {
    const size_t level = popularity_ != 0 ? by_level_.draw(draw) : 0;
    int64_t from = 0, size = end_ - first_;
    if (recency_ != 0) {
        const size_t octave = by_octave_.draw(draw);
        from = chunk_ * ((int64_t{1} << octave) - 1);
        size = std::min(chunk_ << octave, end_ - first_ - from);
    }
    const int64_t age = from + static_cast<int64_t>(draw.below(size));
    const int64_t at = end_ - first_ - 1 - age;
    if (popularity_ == 0) return static_cast<uint32_t>(first_ + at);
    const std::vector<uint32_t>& pages = levels_[level];
    return pages[at * static_cast<int64_t>(pages.size()) / (end_ - first_)];
}

}  // namespace headroom
