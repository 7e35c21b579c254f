#include "run/free_units.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace headroom::engine::test {
namespace {

// Against a set that finds its first element by itself; sizes around the borders of words and levels.
TEST(FreeUnits, FirstIsTheLowestThatIsFree) {
    for (const int64_t count : {1, 2, 63, 64, 65, 4095, 4096, 4097, 262'145}) {
        FreeUnits units(count);
        std::set<int64_t> expected;
        for (int64_t i = 0; i < count; ++i) expected.insert(expected.end(), i);
        std::mt19937_64 random(static_cast<uint64_t>(count));
        for (int step = 0; step < 20'000; ++step) {
            const auto unit = static_cast<int64_t>(random() % static_cast<uint64_t>(count));
            ASSERT_EQ(units.holds(unit), expected.contains(unit));
            if (!expected.empty()) {
                ASSERT_EQ(units.first(), *expected.begin());
            }
            if (random() % 3 == 0) {
                units.insert(unit);
                expected.insert(unit);
            } else if (!expected.empty()) {
                const int64_t gone = random() % 2 == 0 ? *expected.begin() : unit;
                units.erase(gone);
                expected.erase(gone);
            }
        }
    }
}

}  // namespace
}  // namespace headroom::engine::test
