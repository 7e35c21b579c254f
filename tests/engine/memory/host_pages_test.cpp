#include "memory/host_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "base/interrupt.h"

namespace headroom {
namespace {

// Whether every page of the system is in memory.
bool is_resident(const HostPages& pages) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const auto bytes = static_cast<size_t>(pages.bytes().count());
    std::vector<unsigned char> resident((bytes + page - 1) / page);
    if (mincore(pages.data(), bytes, resident.data()) != 0) return false;
    for (const unsigned char state : resident)
        if ((state & 1U) == 0) return false;
    return true;
}

TEST(HostPages, AreBroughtWhenTouchedAndKeepTheirContent) {
    for (const int threads : {1, 3}) {
        HostPages pages = *HostPages::map(Bytes(150 * kMiB + 7), "the test");
        EXPECT_FALSE(is_resident(pages));
        pages.data()[0] = std::byte{5};
        ASSERT_TRUE(pages.touch(threads, "the test"));
        EXPECT_TRUE(is_resident(pages));
        EXPECT_EQ(pages.data()[0], std::byte{5});
        EXPECT_EQ(pages.data()[150 * kMiB + 6], std::byte{0});
    }
}

TEST(HostPages, NoBytesNoMemory) {
    HostPages pages = *HostPages::map(Bytes(0), "the test");
    EXPECT_EQ(pages.data(), nullptr);
    EXPECT_TRUE(pages.touch(4, "the test"));
}

TEST(HostPages, RefusedBytesAreNamed) {
    EXPECT_EQ(HostPages::map(Bytes(-5), "the test").error().text(),
              "the test: -5 bytes; allowed: 0 or more bytes");
    const Result<HostPages> pages = HostPages::map(Bytes(int64_t{1} << 60), "the test");
    ASSERT_FALSE(pages);
    EXPECT_EQ(
        pages.error().text(),
        "the test: the system refuses 1152921504606846976 bytes: Cannot allocate memory; allowed: what the "
        "machine and the limits of this process leave free");
}

TEST(HostPages, TouchingStopsAtAnInterrupt) {
    HostPages pages = *HostPages::map(Bytes(8 * kMiB), "the test");
    handle_interrupts();
    std::raise(SIGINT);
    const Result<void> result = pages.touch(2, "the test");
    clear_interrupt();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().fault, Fault::interrupted);
    EXPECT_FALSE(is_resident(pages));
}

}  // namespace
}  // namespace headroom
