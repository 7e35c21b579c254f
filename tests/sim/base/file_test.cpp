#include "base/file.h"

#include <sys/stat.h>

#include <thread>

#include "scratch_folder.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;
using FileTest = ScratchFolder;

TEST_F(FileTest, ReadsWhatWasWritten) {
    const std::string content("a\0b\n", 4);
    ASSERT_TRUE(write_file(at("a"), content));
    EXPECT_EQ(read_file(at("a"), 4), content);
    ASSERT_TRUE(write_file(at("a"), ""));
    EXPECT_EQ(read_file(at("a"), 0), "");
    EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FileTest, ReadingSaysWhatIsWrong) {
    ASSERT_TRUE(write_file(at("a"), "12345"));
    EXPECT_EQ(read_file(at("a"), 4).error().text(),
              at("a").string() + ": has 5 bytes; allowed: a file of at most 4 bytes");
    EXPECT_EQ(read_file(at("none"), 4).error().found, "does not exist");
    EXPECT_EQ(read_file(folder_, 4).error().found, "is a folder");
    EXPECT_EQ(read_file(at("a") / "b", 4).error().found, "cannot be read: Not a directory");
    EXPECT_FALSE(read_file("", 4));
}

TEST_F(FileTest, ReadingStopsAtTheLimitWhereNoSizeIsKnown) {
    EXPECT_EQ(read_file("/dev/zero", 100000).error().found, "has more bytes");
    EXPECT_EQ(read_file("/dev/null", 0), "");
}

TEST_F(FileTest, ReplacingKeepsPermissionsAndLinks) {
    ASSERT_TRUE(write_file(at("a"), "old"));
    fs::permissions(at("a"), fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("a", at("link"));
    ASSERT_TRUE(write_file(at("link"), "new"));
    EXPECT_TRUE(fs::is_symlink(at("link")));
    EXPECT_EQ(read_file(at("a"), 10), "new");
    EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, AFailedWriteLeavesNothing) {
    EXPECT_EQ(write_file(at("none") / "a", "x").error().fault, Fault::run_failed);
    EXPECT_EQ(write_file(folder_, "x").error().found, "cannot be written: it is a folder");
    EXPECT_FALSE(write_file("", "x"));
    EXPECT_FALSE(write_file(folder_ / "", "x"));
    EXPECT_TRUE(names().empty());
}

TEST_F(FileTest, AFullDiskIsAnError) {
    EXPECT_EQ(write_file("/dev/full", "x").error().found, "cannot be written: No space left on device");
}

TEST_F(FileTest, WritesIntoAPipeAndLeavesItOne) {
    ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
    Result<std::string> received;
    std::thread reader([&] { received = read_file(at("pipe"), 1 << 20); });
    const std::string content(200000, 'x');  // more than a pipe holds
    const auto written = write_file(at("pipe"), content);
    reader.join();
    ASSERT_TRUE(written) << written.error().text();
    EXPECT_EQ(received, content);
    EXPECT_TRUE(fs::is_fifo(at("pipe")));
}

TEST_F(FileTest, LongestNameOfTheSystemIsWritten) {
    EXPECT_TRUE(write_file(at(std::string(255, 'n')), "x"));
    EXPECT_FALSE(write_file(at(std::string(256, 'n')), "x"));
    EXPECT_EQ(names().size(), 1U);
}

}  // namespace
}  // namespace headroom
