// Rates of every set of classes that has run, solved once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulate/sharing.h"

namespace headroom {

// What runs, four bits a stream: its class (Sharing), 0 where nothing runs.
using RunningKey = uint32_t;
inline constexpr unsigned kKeyBits = 4;
static_assert(static_cast<size_t>(Sharing::count_) <= (size_t{1} << kKeyBits));

constexpr RunningKey key_of(size_t stream, Sharing v) {
    return static_cast<RunningKey>(v) << (kKeyBits * stream);
}

// A direct-mapped cache in front of solve_sharing: an entry that two sets share is solved again, never wrong.
class RateTable {
public:
    explicit RateTable(const Hardware& hardware) : hardware_(&hardware), entries_(kEntries) {}

    // Valid until the next call.
    const Rates& at(RunningKey key) {
        Entry& entry = entries_[(key * 0x9e3779b1u) >> (32 - kEntryBits)];
        if (entry.key != key) {
            entry.key = key;
            entry.rates = solve_sharing(running_of(key), *hardware_);
        }
        return entry.rates;
    }

private:
    static constexpr unsigned kEntryBits = 9;
    static constexpr size_t kEntries = size_t{1} << kEntryBits;
    struct Entry {
        RunningKey key = ~RunningKey{0};  // no set: a key has 20 bits
        Rates rates{};
    };
    static_assert(kKeyBits * kStreams < 32);

    static Running running_of(RunningKey key) {
        Running running;
        for (size_t s = 0; s < kStreams; ++s)
            running[s] = static_cast<Sharing>((key >> (kKeyBits * s)) & ((1u << kKeyBits) - 1));
        return running;
    }

    const Hardware* hardware_;
    std::vector<Entry> entries_;
};

}  // namespace headroom
