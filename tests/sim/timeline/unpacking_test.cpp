#include "timeline/unpacking.h"

#include <gtest/gtest.h>

#include <random>

#include "base/file.h"
#include "base/units.h"

namespace headroom {
namespace {

// Words that pack to a third or so: many pieces of the thread's.
std::string words(size_t size) {
    std::mt19937 random(5);
    std::string text;
    while (text.size() < size) text += std::to_string(random() % 1000) + ' ';
    return text;
}

Result<std::string> joined(Unpacking& unpacking, size_t piece_bytes) {
    std::string all, piece(piece_bytes, '\0');
    while (true) {
        HEADROOM_TRY(const size_t n, unpacking.next(piece));
        if (n == 0) return all;
        all.append(piece, 0, n);
    }
}

TEST(Unpacking, GivesTheTextInOrderWhateverIsAskedFor) {
    const std::string text = words(size_t{5} << 20), packed = gzip(text);
    for (const size_t size : {size_t{1000}, size_t{256} << 10, size_t{3} << 20, size_t{9} << 20}) {
        Unpacking unpacking(packed, "a.gz", 16 * kMiB);
        const auto all = joined(unpacking, size);
        ASSERT_TRUE(all) << all.error().text();
        EXPECT_TRUE(*all == text) << size;
    }
    const std::string empty = gzip("");
    Unpacking none(empty, "a.gz", kMiB);
    EXPECT_EQ(joined(none, 10), "");
}

TEST(Unpacking, ErrorsComeAfterWhatIsWhole) {
    const std::string text = words(size_t{5} << 20), packed = gzip(text);
    Unpacking cut(std::string_view(packed).substr(0, packed.size() - 1), "a.gz", 16 * kMiB);
    std::string piece(size_t{1} << 20, '\0');
    for (int i = 0; i < 5; ++i) ASSERT_EQ(*cut.next(piece), piece.size()) << i;
    EXPECT_EQ(joined(cut, 100).error().text(), "a.gz: is cut short; allowed: a whole gzip file");
    Unpacking limited(packed, "a.gz", kMiB);
    EXPECT_EQ(joined(limited, 1000).error().found, "inflates to more than 1048576 bytes");
}

TEST(Unpacking, EndsWhenNobodyReads) {
    const std::string packed = gzip(words(size_t{5} << 20));
    for (int i = 0; i < 20; ++i) {
        Unpacking unpacking(packed, "a.gz", 16 * kMiB);
        std::string piece(static_cast<size_t>(i) * 100'000 + 1, '\0');
        if (i % 2 == 0) {
            ASSERT_TRUE(unpacking.next(piece));
        }
    }
}

}  // namespace
}  // namespace headroom
