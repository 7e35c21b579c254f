#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/file.h"
#include "base/gunzip.h"
#include "base/units.h"

namespace headroom {
namespace {

std::string noise(size_t size) {
    std::mt19937 random(7);
    std::string out(size, '\0');
    for (char& c : out) c = static_cast<char>(random());
    return out;
}

TEST(Gzip, UnpacksToTheSame) {
    for (const std::string& content :
         {std::string(), std::string("a"), std::string(3 << 20, 'x'), noise(1 << 20)})
        EXPECT_EQ(gunzip(gzip(content), "", 4 * kMiB), content);
}

TEST(Gzip, HeaderSaysNothingOfTheMachine) {
    // RFC 1952, 2.3: magic, deflate, no flags, no time, no extra flags, unknown system.
    EXPECT_EQ(gzip("abc").substr(0, 10), std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10));
}

TEST(Gunzip, JoinsMembers) {
    EXPECT_EQ(gunzip(gzip("one ") + gzip("two"), "", 100), "one two");
}

TEST(Gunzip, StopsRightPastTheLimit) {
    const std::string content(1000, 'x');
    EXPECT_TRUE(gunzip(gzip(content), "", 1000));
    EXPECT_EQ(gunzip(gzip(content), "a.gz", 999).error().text(),
              "a.gz: inflates to more than 999 bytes; allowed: at most 999 bytes");
    EXPECT_FALSE(gunzip(gzip(content) + gzip("y"), "", 1000));
}

TEST(Gunzip, RefusesEveryCutAndNothingElse) {
    const std::string packed = gzip(noise(300));
    for (size_t n = 0; n < packed.size(); ++n) ASSERT_FALSE(gunzip(packed.substr(0, n), "", kMiB)) << n;
    EXPECT_EQ(gunzip(packed.substr(0, 100), "a.gz", kMiB).error().text(),
              "a.gz: is cut short; allowed: a whole gzip file");
}

TEST(Gunzip, RefusesWhatIsNoGzip) {
    EXPECT_EQ(gunzip("{}", "a.gz", kMiB).error().found, "is not gzip");
    EXPECT_FALSE(gunzip(gzip("abc") + "tail", "", kMiB));
}

TEST(Gunzip, NoticesDamage) {
    const std::string packed = gzip(noise(300));
    for (const size_t from_end : {1U, 5U}) {  // length, checksum
        std::string damaged = packed;
        damaged[damaged.size() - from_end] ^= 1;
        const auto result = gunzip(damaged, "", kMiB);
        ASSERT_FALSE(result);
        EXPECT_TRUE(result.error().found.starts_with("is damaged: ")) << result.error().found;
    }
}

TEST(GunzipInPieces, FillsEachButTheLast) {
    const std::string content = noise(1000);
    const std::string packed = gzip(content.substr(0, 600)) + gzip(content.substr(600));
    for (const size_t size : {1u, 7u, 600u, 999u, 1000u, 5000u}) {
        Gunzip unpacked(packed, "a.gz", kMiB);
        std::string joined, piece(size, '\0');
        while (true) {
            const auto n = unpacked.next(piece);
            ASSERT_TRUE(n) << n.error().text();
            if (*n == 0) break;
            EXPECT_EQ(*n, std::min(size, content.size() - joined.size()));
            joined.append(piece, 0, *n);
        }
        EXPECT_EQ(joined, content) << size;
        EXPECT_EQ(*unpacked.next(piece), 0u) << "it stays at the end";
    }
}

TEST(GunzipInPieces, SaysWhatIsWrongWhereItIs) {
    const std::string packed = gzip(noise(1000));
    std::string piece(500, '\0');
    Gunzip cut(std::string_view(packed).substr(0, packed.size() - 3), "a.gz", kMiB);
    EXPECT_EQ(*cut.next(piece), 500u);
    EXPECT_EQ(*cut.next(piece), 500u);
    EXPECT_EQ(cut.next(piece).error().text(), "a.gz: is cut short; allowed: a whole gzip file");
    Gunzip limited(packed, "a.gz", 999);
    EXPECT_EQ(*limited.next(piece), 500u);
    EXPECT_FALSE(limited.next(piece));
    EXPECT_EQ(Gunzip("{}", "a.gz", kMiB).next(piece).error().found, "is not gzip");
}

}  // namespace
}  // namespace headroom
