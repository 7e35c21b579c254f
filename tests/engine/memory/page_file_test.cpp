#include "memory/page_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "memory/side_by_side.h"
#include "sim/base/scratch_folder.h"

namespace headroom::engine::test {
namespace {

using Piece = PageFile::Piece;

class PageFileTest : public ScratchFolder {
protected:
    std::unique_ptr<PageFile> file(int64_t bytes, bool direct = true) const {
        Result<std::unique_ptr<PageFile>> made = PageFile::create(folder_, Bytes(bytes), direct);
        EXPECT_TRUE(made) << (made ? "" : made.error().text());
        return made ? std::move(*made) : nullptr;
    }
    Error refused(const std::string& folder, int64_t bytes) const {
        const Result<std::unique_ptr<PageFile>> made = PageFile::create(folder, Bytes(bytes), true);
        EXPECT_FALSE(made);
        return made ? Error{} : made.error();
    }
};

struct Free {
    void operator()(std::byte* p) const { std::free(p); }
};
// Aligned, and of bytes that no two places share.
std::unique_ptr<std::byte, Free> memory(int64_t bytes, uint64_t seed) {
    const auto size = static_cast<size_t>(bytes);
    std::unique_ptr<std::byte, Free> data(static_cast<std::byte*>(std::aligned_alloc(4096, size)));
    std::mt19937_64 dice(seed);
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t word = dice();
        std::memcpy(data.get() + i, &word, 8);
    }
    return data;
}

// Larger than a request, smaller, side by side, apart; direct and through the cache.
TEST_F(PageFileTest, GivesBackWhatWasWritten) {
    for (const bool direct : {true, false}) {
        const int64_t size = 12 * kMiB;
        const auto there = file(size, direct);
        ASSERT_TRUE(there);
        EXPECT_EQ(there->bytes(), Bytes(size));
        EXPECT_TRUE(direct || !there->is_direct());
        const auto from = memory(size, 1), to = memory(size, 2);
        const int64_t cuts[] = {0, 4096, 3 * kMiB + 8192, 3 * kMiB + 12288, 7 * kMiB, size};
        std::vector<Piece> out, in;
        for (size_t i = 0; i + 1 < std::size(cuts); ++i) {
            const int64_t bytes = cuts[i + 1] - cuts[i];
            // Its place in the file is another than in memory.
            out.push_back({size - cuts[i + 1], from.get() + cuts[i], bytes});
            in.push_back({size - cuts[i + 1], to.get() + cuts[i], bytes});
        }
        ASSERT_TRUE(there->write(out));
        ASSERT_TRUE(there->read(in));
        EXPECT_EQ(std::memcmp(from.get(), to.get(), static_cast<size_t>(size)), 0);
    }
}

TEST_F(PageFileTest, UnalignedPiecesGoThroughTheCacheAlone) {
    const auto cached = file(kMiB, false);
    auto from = memory(8192, 1), to = memory(8192, 2);
    ASSERT_TRUE(cached->write(std::vector<Piece>{{5, from.get() + 3, 1001}}));
    ASSERT_TRUE(cached->read(std::vector<Piece>{{5, to.get() + 3, 1001}}));
    EXPECT_EQ(std::memcmp(from.get() + 3, to.get() + 3, 1001), 0);
    const auto direct = file(kMiB, true);
    if (!direct->is_direct()) GTEST_SKIP() << "no direct access in " << folder_;
    const Result<void> r = direct->write(std::vector<Piece>{{512, from.get(), 4096}});
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().text(), "the file for pages in '" + folder_.string() +
                                    "': writing 4096 bytes at 512: not aligned; allowed: multiples of 4096 "
                                    "bytes");
}

// Bytes that the file system holds for a file of this process that has no name in `folder`; -1: none.
int64_t nameless_bytes_in(const std::string& folder) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
        if (gone || !target.starts_with(folder + "/") || !target.ends_with(" (deleted)")) continue;
        struct stat there {};
        if (stat(entry.path().c_str(), &there) == 0 && there.st_nlink == 0) return there.st_blocks * 512;
    }
    return -1;
}

TEST_F(PageFileTest, HasItsBytesAndNoName) {
    auto there = file(64 * kMiB);
    EXPECT_TRUE(names().empty());
    EXPECT_GE(nameless_bytes_in(folder_), 64 * kMiB);
    EXPECT_TRUE(there->read(std::vector<Piece>{}));
    there.reset();
    EXPECT_EQ(nameless_bytes_in(folder_), -1);
    EXPECT_TRUE(names().empty());
}

TEST_F(PageFileTest, WhatIsOutsideOfItIsRefused) {
    const auto there = file(8192, false);
    const auto data = memory(8192, 1);
    for (const Piece& p : {Piece{8192, data.get(), 1}, Piece{0, data.get(), 8193}, Piece{-1, data.get(), 1},
                           Piece{INT64_MAX, data.get(), 2}}) {
        const Result<void> r = there->read(std::vector<Piece>{{0, data.get(), 16}, p});
        ASSERT_FALSE(r);
        EXPECT_EQ(r.error().fault, Fault::run_failed);
        EXPECT_NE(r.error().text().find("outside of it; allowed: 0 to 8192"), std::string::npos)
            << r.error().text();
    }
}

TEST_F(PageFileTest, AFolderThatCannotBeWrittenIsBadInput) {
    for (const std::string& folder : {at("none").string(), std::string("/proc"), at("file").string()}) {
        if (folder == at("file")) close(open(folder.c_str(), O_CREAT | O_WRONLY, 0600));
        const Error e = refused(folder, 4096);
        EXPECT_EQ(e.fault, Fault::bad_input) << e.text();
        EXPECT_EQ(e.where, "the folder for pages on disk, '" + folder + "'");
        EXPECT_EQ(e.allowed, "a folder that can be written");
    }
    EXPECT_EQ(refused(folder_, -1).found, "-1 bytes");
}

TEST_F(PageFileTest, MoreThanTheFileSystemDoesNotFit) {
    const Error e = refused(folder_, int64_t{1} << 60);
    EXPECT_EQ(e.fault, Fault::does_not_fit);
    EXPECT_EQ(e.found, "needs 1152921504606846976 bytes");
    EXPECT_NE(e.allowed.find(" bytes, all of that file system"), std::string::npos) << e.allowed;
    EXPECT_TRUE(names().empty());
}

TEST_F(PageFileTest, MoreThanIsFreeIsAnErrorOfTheMachine) {
    struct statvfs system {};
    ASSERT_EQ(statvfs(folder_.c_str(), &system), 0);
    const auto block = static_cast<int64_t>(system.f_frsize);
    const int64_t all = static_cast<int64_t>(system.f_blocks) * block,
                  free = static_cast<int64_t>(system.f_bavail) * block;
    if (all - free < kGiB) GTEST_SKIP() << "an empty file system";
    const Error e = refused(folder_, all - kMiB);
    EXPECT_EQ(e.fault, Fault::run_failed);
    EXPECT_EQ(e.found, "needs " + std::to_string(all - kMiB) + " bytes");
    EXPECT_NE(e.allowed.find(" bytes, what is free on that file system"), std::string::npos) << e.allowed;
}

TEST_F(PageFileTest, TheLimitOfFileSizesIsToldWithoutASignal) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{rlim_t{1} << 20, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Error e = refused(folder_, kMiB + 1);
    const bool fits = PageFile::create(folder_, Bytes(kMiB), true).has_value();
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_TRUE(fits);
    EXPECT_EQ(e.fault, Fault::run_failed);
    EXPECT_EQ(e.text(), "the folder for pages on disk, '" + folder_.string() +
                            "': needs 1048577 bytes; allowed: 1048576 bytes, the limit of file sizes "
                            "(ulimit -f)");
}

TEST(SideBySide, DoesEachPieceOnceHoweverOftenItIsAsked) {
    SideBySide threads(5);
    for (int round = 0; round < 300; ++round) {
        const auto count = static_cast<size_t>(round % 23);
        std::vector<int> seen(count, 0);
        threads.run(count, [&](size_t i) { ++seen[i]; });
        EXPECT_EQ(seen, std::vector<int>(count, 1)) << round;
    }
}

}  // namespace
}  // namespace headroom::engine::test
