#include "hardware/measured.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shipped.h"

namespace headroom {
namespace {

TEST(Measured, ReadsRowsWithTheirDefaults) {
    const auto measured = parse_measured(R"([measured]
gemm = [{ m = 1, k = 2, n = 3, tflops = 4.5, use = "check" }]
attention = [{ library = "x", queries = 5, keys = 6, heads = 8, kv_heads = 2, head_dim = 64, backward = 7 }]
copies = [{ to_device = true, piece = "4KiB", gb_s = 2 }]
)",
                                         "f.toml");
    ASSERT_TRUE(measured) << measured.error().text();
    EXPECT_EQ(measured->gemm, (std::vector<GemmRow>{{1, 3, 2, 4.5, RowUse::check}}));
    ASSERT_EQ(measured->attention.size(), 1);
    EXPECT_EQ(measured->attention[0].blocks, 1);
    EXPECT_EQ(measured->attention[0].forward, 0);
    EXPECT_EQ(measured->attention[0].use, RowUse::fit);
    EXPECT_EQ(measured->copies, (std::vector<CopyRow>{{true, 4096, 2e9}}));
}

TEST(Measured, IsEmptyWhereNothingWasMeasured) {
    const auto measured = parse_measured("title = \"x\"\n", "f.toml");
    ASSERT_TRUE(measured);
    EXPECT_EQ(*measured, Measured{});
}

TEST(Measured, ErrorsNameTheRow) {
    const auto text = [](const char* row) {
        const auto measured = parse_measured("[measured]\ngemm = [\n" + std::string(row) + "]\n", "f.toml");
        return measured ? std::string("accepted") : measured.error().text();
    };
    EXPECT_NE(text("{ m = 0, k = 1, n = 1, tflops = 1 }").find("f.toml:3"), std::string::npos);
    EXPECT_NE(text("{ m = 1, k = 1, n = 1, tflops = -1 }").find("above 0"), std::string::npos);
    EXPECT_NE(text("{ m = 1, k = 1, n = 1, tflop = 1 }").find("tflops"), std::string::npos);
    EXPECT_NE(text("{ m = 1, k = 1, n = 1, tflops = 1, use = \"fits\" }").find("'record'"),
              std::string::npos);
}

// Workspaces that the engine's calls asked for against the formula that the planner uses. The engine packs
// the heads of a group into the queries, but for causal calls.
TEST(MeasuredH200, WorkspacesAgreeWithTheFormula) {
    size_t rows = 0, fewer = 0;
    for (const AttentionRow& r : test::measured_h200().attention) {
        const bool packed = !r.causal;
        const int64_t queries = packed ? r.queries * r.blocks * (r.heads / r.kv_heads) : r.queries;
        const int64_t heads = packed ? r.kv_heads : r.heads;
        const auto mib = [&](bool deterministic) {
            const Bytes b = attention_workspace(queries, r.keys, heads, r.head_dim, deterministic, packed);
            return std::floor(static_cast<double>(b.count()) / static_cast<double>(kMiB));
        };
        if (r.workspace_mib == 0) continue;
        EXPECT_EQ(mib(false), r.workspace_mib) << r.queries << " x " << r.keys;
        ++rows;
        if (r.deterministic_workspace_mib == 0) continue;  // not run: dS of so many keys is too large
        // cuDNN rounds keys that are no multiple of 128 up to that in dS alone, the formula to 256.
        EXPECT_GE(mib(true), r.deterministic_workspace_mib) << r.queries << " x " << r.keys;
        EXPECT_LE(mib(true), r.deterministic_workspace_mib * (r.keys % 256 == 0 ? 1 : 1.015))
            << r.queries << " x " << r.keys;
        fewer += mib(true) > r.deterministic_workspace_mib;
    }
    EXPECT_EQ(rows, 149);
    EXPECT_EQ(fewer, 4);
}

// A copy whose host waits costs more than the same copy in a full stream, by 10 to 25 us, and never less.
TEST(MeasuredH200, SingleCopiesPayForTheWait) {
    const Hardware h = test::shipped("h200-sxm-pcie5");
    for (const CopyRow& r : test::measured_h200().copies) {
        const auto kind = r.to_device ? WorkKind::copy_to_device : WorkKind::copy_to_host;
        const auto in_stream = duration_of(copy(kind, r.bytes, 1, PageCopy::loop), h);
        const double waited_us = static_cast<double>(r.bytes) / r.bandwidth * 1e6;
        const double difference_us = waited_us - static_cast<double>(in_stream.count()) / 1e3;
        EXPECT_GE(difference_us, -0.001) << r.bytes;
        if (r.bytes < 16 * kMiB) {
            EXPECT_LE(difference_us, 25) << r.bytes;
        }
    }
}

}  // namespace
}  // namespace headroom
