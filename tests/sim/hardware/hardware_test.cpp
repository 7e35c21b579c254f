#include "hardware/hardware.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hardware/measured.h"
#include "hardware/rate.h"
#include "shipped.h"
#include "sim/base/scratch_folder.h"

namespace headroom {
namespace {

TEST(Shipped, EveryFileReads) {
    const std::vector<std::string> names = shipped_hardware(test::data());
    EXPECT_EQ(names, (std::vector<std::string>{"a100-80-sxm", "b200-sxm", "cpu", "gh200-144", "h100-pcie",
                                               "h100-sxm-pcie5", "h200-sxm-pcie5",
                                               "h200-sxm-pcie5-fast-batch", "rtx-4090"}));
    for (const std::string& name : names) {
        const Hardware h = test::shipped(name);
        EXPECT_EQ(h.name, name);
        EXPECT_EQ(h.calibrated, name.starts_with("h200-")) << "only H200s were measured";
        if (!h.calibrated && name != "cpu") {
            EXPECT_EQ(h.provenance, "datasheet") << name;
        }
        EXPECT_EQ(h.peer_link.empty(), h.max_gpus == 1) << name;
        EXPECT_GE(h.host_bandwidth, h.host_link == "c2c" ? h.both_directions : 0) << name;
    }
}

TEST(Shipped, TheH200IsAsMeasured) {
    const Hardware h = test::shipped("h200-sxm-pcie5");
    EXPECT_EQ(h.device_memory, Bytes(150'109'880'320));
    EXPECT_NEAR(static_cast<double>(h.library_memory.count()) / static_cast<double>(kGiB), 0.82, 0.005);
    EXPECT_EQ(h.host_memory, Bytes(128 * kGiB));
    EXPECT_EQ(h.pinnable_memory, Bytes(96 * kGiB));
    EXPECT_EQ(h.disk_memory, Bytes(64 * kGiB));
    EXPECT_DOUBLE_EQ(h.both_directions, 101.65e9);
    EXPECT_DOUBLE_EQ(h.dense_flops, 989.4e12);
    EXPECT_EQ(h.max_gpus, 8);
}

// Copy engines take next to nothing from kernels and lose next to nothing to them; kernels that copy take
// and lose much, most where they write to the host.
TEST(Shipped, TheH200sInterferenceRepeatsTheMeasurement) {
    const Hardware h = test::shipped("h200-sxm-pcie5");
    const auto rate = [&](Sharing v, Sharing a) {
        return h.interference[static_cast<size_t>(v)][static_cast<size_t>(a)];
    };
    const auto longer = [&](Sharing v, Sharing a) { return 1 / rate(v, a); };
    EXPECT_GT(longer(Sharing::gemm, Sharing::to_device), 1.004);
    EXPECT_LT(longer(Sharing::gemm, Sharing::to_device), 1.06);
    EXPECT_NEAR(longer(Sharing::attention, Sharing::to_device), 1.01, 0.015);
    EXPECT_NEAR(longer(Sharing::memory, Sharing::to_device), 1.02, 0.02);
    for (const Sharing v : {Sharing::gemm, Sharing::attention, Sharing::memory})
        EXPECT_NEAR(longer(v, Sharing::to_host), 1, 0.015);
    EXPECT_LT(rate(Sharing::gemm, Sharing::to_device_gather), rate(Sharing::gemm, Sharing::to_device));
    for (const Sharing v : {Sharing::gemm, Sharing::attention, Sharing::memory}) {
        EXPECT_LT(rate(v, Sharing::to_host_gather), rate(v, Sharing::to_device_gather));
        EXPECT_GT(rate(Sharing::to_device, v), 0.96);
        EXPECT_GT(rate(Sharing::to_host, v), 0.96);
    }
    EXPECT_LT(rate(Sharing::to_device_gather, Sharing::attention), 0.7);
    EXPECT_EQ(rate(Sharing::gemm, Sharing::disk), 1);
}

TEST(Shipped, CopiesAtThePointsAreExact) {
    const Hardware h = test::shipped("h200-sxm-pcie5");
    const auto check = [&](WorkKind kind, PageCopy how, const Curve& curve) {
        for (const Curve::Point& p : curve.points) {
            const double ns = static_cast<double>(p.bytes) / p.bandwidth * 1e9;
            EXPECT_EQ(duration_of(copy(kind, p.bytes, 1, how), h).count(), static_cast<int64_t>(ns + 0.5));
            const int64_t thousand = duration_of(copy(kind, 1000 * p.bytes, 1000, how), h).count();
            EXPECT_NEAR(static_cast<double>(thousand), 1000 * ns, 1);
        }
    };
    check(WorkKind::copy_to_device, PageCopy::loop, h.to_device.single);
    check(WorkKind::copy_to_device, PageCopy::batch, h.to_device.batch);
    check(WorkKind::copy_to_device, PageCopy::gather, h.to_device.gather);
    check(WorkKind::copy_to_host, PageCopy::loop, h.to_host.single);
    check(WorkKind::copy_to_host, PageCopy::batch, h.to_host.batch);
    check(WorkKind::copy_to_host, PageCopy::gather, h.to_host.gather);
}

// What plans are priced with, limits included: rms of the relative error of time, and the worst of those that
// take 0.2 ms or more, which are nearly all of a step's time.
TEST(Shipped, GemmsAreNearWhatWasMeasured) {
    const Hardware h = test::shipped("h200-sxm-pcie5");
    const Measured measured = test::measured_h200();
    const auto check = [&](const std::vector<GemmRow>& rows, bool accumulate, double most_rms,
                           double most_of_long) {
        double squares = 0, worst = 0;
        for (const GemmRow& r : rows) {
            const Work work = accumulate ? gemm_accumulate(r.m, r.n, r.k) : gemm(r.m, r.n, r.k);
            const double ns = static_cast<double>(work.flops) / r.tflops / 1e3;
            const double error = static_cast<double>(duration_of(work, h).count()) / ns - 1;
            squares += error * error;
            if (ns >= 200e3) worst = std::max(worst, std::abs(error));
        }
        EXPECT_LT(std::sqrt(squares / static_cast<double>(rows.size())), most_rms) << accumulate;
        EXPECT_LT(worst, most_of_long) << accumulate;
    };
    check(measured.gemm, false, 0.038, 0.10);
    check(measured.gemm_accumulate, true, 0.055, 0.21);
}

// The other files carry the H200's rates times the ratio of the dense peaks, in five digits; what is no
// arithmetic, and shares of the bandwidth, as they are.
TEST(Shipped, OtherRatesAreTheH200sAtTheSameShareOfThePeak) {
    const Hardware base = test::shipped("h200-sxm-pcie5");
    for (const std::string& name : shipped_hardware(test::data())) {
        if (name == "cpu") continue;                        // another kind of machine
        if (name == "h200-sxm-pcie5-fast-batch") continue;  // measured itself
        const Hardware h = test::shipped(name);
        const double ratio = base.dense_flops / h.dense_flops;
        const auto near = [&](const RateFit& a, const RateFit& b) {
            for (const auto term : kRateTerms) {
                const double factor = term == &RateFit::latency ? 1 : ratio;
                EXPECT_NEAR(a.*term, b.*term * factor, 1e-4 * a.*term) << name;
            }
            EXPECT_EQ(a.blocks, b.blocks) << name;
        };
        near(h.gemm, base.gemm);
        near(h.gemm_accumulate, base.gemm_accumulate);
        near(h.attention_forward, base.attention_forward);
        near(h.attention_forward_causal, base.attention_forward_causal);
        near(h.attention_backward, base.attention_backward);
        near(h.attention_backward_causal, base.attention_backward_causal);
        EXPECT_EQ(h.deterministic_slowdown, base.deterministic_slowdown) << name;
        EXPECT_EQ(h.kernels, base.kernels) << name;
        EXPECT_EQ(h.memory_efficiency, base.memory_efficiency) << name;
        EXPECT_EQ(h.launch_ns, base.launch_ns) << name;
        EXPECT_EQ(h.library_memory, base.library_memory) << name;
        EXPECT_GT(h.multiprocessors, 0) << name;
    }
}

TEST(ReadHardware, TakesANameOrAPath) {
    const auto path = test::data() / "models" / "hardware" / "rtx-4090.toml";
    const auto by_path = read_hardware(path.string(), "/nowhere");
    ASSERT_TRUE(by_path) << by_path.error().text();
    EXPECT_EQ(*by_path, test::shipped("rtx-4090"));
}

class ReadHardwareAgain : public ScratchFolder {};

// What was read before is known by its path and its text.
TEST_F(ReadHardwareAgain, TakesAFileAsItIsNow) {
    const std::string text = test::text_of("rtx-4090");
    ASSERT_TRUE(write_file(at("a.toml"), text));
    ASSERT_TRUE(write_file(at("b.toml"), text));
    EXPECT_EQ(read_hardware(at("a.toml"), "/nowhere").value().name, "a");
    EXPECT_EQ(read_hardware(at("b.toml"), "/nowhere").value().name, "b");
    EXPECT_EQ(read_hardware(at("a.toml"), "/nowhere").value().name, "a");
    std::string renamed = text;
    renamed.replace(renamed.find("title = \""), 9, "title = \"Another ");
    ASSERT_TRUE(write_file(at("a.toml"), renamed));
    EXPECT_TRUE(read_hardware(at("a.toml"), "/nowhere").value().title.starts_with("Another "));
    ASSERT_TRUE(write_file(at("a.toml"), "title = 1\n"));
    EXPECT_FALSE(read_hardware(at("a.toml"), "/nowhere"));
    ASSERT_TRUE(write_file(at("a.toml"), text));
    Hardware same = test::shipped("rtx-4090");
    same.name = "a";
    EXPECT_EQ(read_hardware(at("a.toml"), "/nowhere").value(), same);
}

TEST(ReadHardware, AnUnknownNameGetsTheNearestOne) {
    const auto unknown = read_hardware("h200-sxm-pcie4", test::data());
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().fault, Fault::bad_input);
    EXPECT_NE(unknown.error().text().find("did you mean 'h200-sxm-pcie5'"), std::string::npos)
        << unknown.error().text();
    EXPECT_FALSE(read_hardware("", test::data()));
    EXPECT_FALSE(read_hardware("..", test::data()));
    EXPECT_FALSE(read_hardware("/nowhere/x.toml", test::data()));
    EXPECT_FALSE(read_hardware("rtx-4090", "/nowhere"));
}

}  // namespace
}  // namespace headroom
