// Which units of a pool are free, and the first of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::engine {

// A set of numbers below `count`, as bits, and above them bits that say which words have any: a pool of
// millions of units asks for the first free one after every page that found its own place taken, and a scan
// of the bits would cost a millisecond each time. Cost of all but the constructor: O(log_64 count).
class FreeUnits {
public:
    FreeUnits() = default;
    // All free.
    explicit FreeUnits(int64_t count) {
        for (int64_t bits = count; bits > 0;) {
            const int64_t words = (bits + 63) / 64;
            std::vector<uint64_t> level(static_cast<size_t>(words), ~uint64_t{0});
            if (bits % 64 != 0) level.back() = (uint64_t{1} << (bits % 64)) - 1;
            levels_.push_back(std::move(level));
            if (words == 1) break;
            bits = words;
        }
    }
    bool holds(int64_t unit) const { return (levels_.front()[word(unit)] >> (unit % 64) & 1) != 0; }
    void insert(int64_t unit) {
        for (auto& level : levels_) {
            const bool had = level[word(unit)] != 0;
            level[word(unit)] |= uint64_t{1} << (unit % 64);
            if (had) return;
            unit /= 64;
        }
    }
    void erase(int64_t unit) {
        for (auto& level : levels_) {
            level[word(unit)] &= ~(uint64_t{1} << (unit % 64));
            if (level[word(unit)] != 0) return;
            unit /= 64;
        }
    }
    // There is one.
    int64_t first() const {
        int64_t unit = 0;
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
            unit = unit * 64 + std::countr_zero((*level)[static_cast<size_t>(unit)]);
        return unit;
    }

private:
    static size_t word(int64_t unit) { return static_cast<size_t>(unit / 64); }
    std::vector<std::vector<uint64_t>> levels_;  // from the units up
};

}  // namespace headroom::engine
