// Pages drawn by weight, for the model of selections: popular ones and recent ones more often. Integers
// alone, so that every machine draws the same pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). The range mapping
// by multiply and shift is biased by less than range / 2^32, which the model does not notice.
class Draw {
public:
    explicit Draw(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t range) { return ((next() >> 32) * range) >> 32; }

private:
    uint64_t state_;
};

// 2^(e / 1024) in units of 2^-32, for e <= 0; exact to 10 units.
uint64_t exp2_fixed(int64_t e);

// The weight of a page is popularity times recency, and both are steps by powers of two:
//  - Level k of popularity, k = 0 to 15, holds 2^-(k+1) of the pages (the last one what is left), drawn by
//    page number and seed, each of weight 2^(popularity k): Zipf's law w(u) = u^-popularity for the page
//    that is at share u of a list by weight, in octaves of u.
//  - Octave j of age holds the pages that are c (2^j - 1) to c (2^(j+1) - 1) pages old, c = pages a chunk,
//    each of weight 2^(-recency j): age^-recency beyond the first chunk.
// Exponents count in steps of 1/1024. A level is drawn, then an age, and of the level the page that stands
// where the age says if the level's pages were evenly spread. Cost: three random numbers a page.
class PageWeights {
public:
    // Pages from `first` on.
    PageWeights(double popularity, double recency, uint64_t seed, int64_t first, int64_t pages_per_chunk);
    // The pages are [first, end); end never falls. Cost: of the new pages.
    void set_end(int64_t end);
    // Needs end > first.
    uint32_t page(Draw& draw) const;

private:
    static constexpr size_t kLevels = 16, kOctaves = 40;
    struct Shares {
        std::array<uint32_t, kOctaves> below{};  // cumulative
        size_t count = 0;
        void set(const std::array<int64_t, kOctaves>& pages, size_t count, int64_t step);
        size_t draw(Draw& draw) const;
    };
    int64_t popularity_, recency_;  // in 1/1024
    uint64_t seed_;
    int64_t first_, end_, chunk_;
    std::array<std::vector<uint32_t>, kLevels> levels_;  // empty where all pages are alike
    Shares by_level_, by_octave_;
};

}  // namespace headroom
