#include "memory/copies.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace headroom {
namespace {

TEST(Copies, NeighboursAreOnePiece) {
    std::array<char, 64> from{}, to{};
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i);
    Copies c;
    c.add(&to[0], &from[32], 8);
    c.add(&to[8], &from[40], 8);   // goes on in both
    c.add(&to[16], &from[8], 4);   // only in the target
    c.add(&to[32], &from[12], 4);  // only in the source
    c.add(&to[40], &from[60], 0);
    EXPECT_EQ(c.pieces(), 3u);
    EXPECT_EQ(c.bytes(), 24);
    c.run();
    EXPECT_EQ(std::memcmp(&to[0], &from[32], 16), 0);
    EXPECT_EQ(std::memcmp(&to[16], &from[8], 4), 0);
    EXPECT_EQ(std::memcmp(&to[32], &from[12], 4), 0);
    EXPECT_EQ(to[20], 0);
    c.clear();
    EXPECT_EQ(c.pieces(), 0u);
    EXPECT_EQ(c.bytes(), 0);
}

TEST(Copies, ABatchCrossesTheLinkAndComesBack) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU here";
    constexpr int64_t kPage = 4096, kPages = 64;
    char *host = nullptr, *device = nullptr;
    ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host), 2 * kPages * kPage), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), kPages * kPage), cudaSuccess);
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (int64_t i = 0; i < kPages * kPage; ++i) host[i] = static_cast<char>(i / kPage + i % 7);
    for (const bool loop : {false, true}) {
        std::memset(host + kPages * kPage, 0, kPages * kPage);
        Copies in, out;
        // Backwards, so that nothing merges.
        for (int64_t p = 0; p < kPages; ++p)
            in.add(device + (kPages - 1 - p) * kPage, host + p * kPage, kPage);
        for (int64_t p = 0; p < kPages; ++p)
            out.add(host + (kPages + p) * kPage, device + (kPages - 1 - p) * kPage, kPage);
        EXPECT_EQ(in.pieces(), static_cast<size_t>(kPages));
        const Result<void> sent = in.issue(stream, loop), back = out.issue(stream, loop);
        ASSERT_TRUE(sent) << sent.error().text();
        ASSERT_TRUE(back) << back.error().text();
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        EXPECT_EQ(std::memcmp(host, host + kPages * kPage, kPages * kPage), 0);
    }
    cudaStreamDestroy(stream);
    cudaFree(device);
    cudaFreeHost(host);
}

}  // namespace
}  // namespace headroom
