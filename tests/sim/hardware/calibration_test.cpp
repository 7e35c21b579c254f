#include "hardware/calibration.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "shipped.h"

namespace headroom {
namespace {

// What a machine with these constants would have measured.
Measured measured_on(const Hardware& truth) {
    Measured m;
    m.machine.device = "a \"made\" machine";
    m.machine.date = "2026-01-02";
    m.machine.driver = "1.2.3";
    m.machine.like = "h200-sxm-pcie5";
    m.machine.multiprocessors = truth.multiprocessors;
    m.machine.memory = Bytes(80 * kGiB);
    m.machine.library_memory = Bytes(kGiB);
    m.machine.launch_us = static_cast<double>(truth.launch_ns) / 1e3;
    m.machine.pin_s_per_gib = 0.25;
    const auto seconds = [&](const Work& w) {
        return static_cast<double>(duration_of(w, truth).count()) * 1e-9;
    };
    const auto tflops = [&](const Work& w) { return static_cast<double>(w.flops) / seconds(w) / 1e12; };
    for (const int64_t rows : {2048, 8192, 16384}) {
        for (const int64_t n : {3584, 37888}) {
            for (const int64_t k : {3584, 18944}) {
                m.gemm.push_back({rows, n, k, tflops(gemm(rows, n, k))});
                m.gemm_accumulate.push_back({n, k, rows, tflops(gemm_accumulate(n, k, rows))});
            }
        }
        for (const bool causal : {false, true}) {
            AttentionRow r;
            r.queries = rows, r.keys = causal ? rows : 8192;
            r.heads = 28, r.kv_heads = 4, r.head_dim = 128;
            r.causal = causal;
            r.library = "made";
            const auto rate = [&](bool backward, bool deterministic) {
                return tflops(attention(backward, deterministic, causal, r.queries, r.keys, 28, 4, 128));
            };
            r.forward = rate(false, false);
            r.backward = rate(true, false);
            r.deterministic = rate(true, true);
            m.attention.push_back(r);
        }
        m.memory.push_back({"norm", rows, 3584, rows * 3584 * 4, seconds(memory_bound(rows * 3584 * 4))});
    }
    m.gemm[2].use = RowUse::check;
    m.gemm[3].form = GemmForm::data_gradient;
    m.gemm[3].spread = 0.012;
    for (const bool to_device : {true, false}) {
        for (const PageCopy how : {PageCopy::loop, PageCopy::batch, PageCopy::gather}) {
            for (const int64_t piece : {32 * kKiB, kMiB, 64 * kMiB}) {
                const Work w =
                    copy(to_device ? WorkKind::copy_to_device : WorkKind::copy_to_host, 4 * piece, 4, how);
                m.transfers.push_back(
                    {to_device, how, piece, 4, static_cast<double>(4 * piece) / seconds(w)});
            }
        }
        m.copies.push_back({to_device, kMiB, 3e10});
    }
    m.transfers.push_back({true, PageCopy::batch, 64 * kMiB, 4, 4e10, 3e10});
    m.beside.push_back({"gemm", "gemm 1 x 2 x 3", "to_device", 1e-3, 1.25e-3, 5e10, 4e10});
    m.beside.push_back({"gemm", "gemm 4 x 5 x 6", "to_device", 1e-3, 1e-3 / 0.9, 0, 0});
    m.beside.push_back({"memory", "norm", "to_host+to_device", 1e-3, 2e-3, 0, 0});
    m.peer.push_back({kMiB, 2e11, 0});
    m.peer.push_back({256 * kMiB, 3.7e11, 3.6e11});
    m.disk.push_back({true, kGiB, 1.1e9});
    m.disk.push_back({false, kGiB, 2.2e9});
    // With the digits that a file carries, as the command gets them.
    const auto read = parse_measured(write_measured(m), "made");
    EXPECT_TRUE(read) << (read ? "" : read.error().text());
    return read.value_or(Measured{});
}

Hardware h200() {
    return test::shipped("h200-sxm-pcie5");
}

// Another machine, in all that a calibration finds.
Hardware other_machine() {
    Hardware h = h200();
    h.launch_ns = 2500;
    h.memory_efficiency = 0.7;
    h.gemm = {1.6e-15, 2e-13, 3e-13, 4e-13};
    h.gemm_accumulate = {2e-15, 1e-13, 2e-13, 1e-13};
    h.attention_forward = {1.8e-15, 2e-13, 0, 0};
    h.attention_forward_causal = {2e-15, 0, 1e-12, 0};
    h.attention_backward = {2.5e-15, 1e-13, 0, 0};
    h.attention_backward_causal = {2.6e-15, 0, 2e-12, 0};
    h.deterministic_slowdown = 1.3;
    h.to_device.batch = h.to_device.single;
    return h;
}

TEST(Calibration, FindsTheMachineThatTheRowsComeFrom) {
    const Hardware truth = other_machine();
    const auto c = calibrated(h200(), measured_on(truth));
    ASSERT_TRUE(c) << c.error().text();
    const Hardware& h = c->hardware;
    EXPECT_EQ(h.launch_ns, 2500);
    EXPECT_NEAR(h.memory_efficiency, 0.7, 1e-3);
    EXPECT_NEAR(h.deterministic_slowdown, 1.3, 2e-3);
    EXPECT_EQ(h.device_memory, Bytes(80 * kGiB));
    EXPECT_EQ(h.library_memory, Bytes(kGiB));
    EXPECT_EQ(h.pin_seconds_per_gib, 0.25);
    EXPECT_EQ(h.both_directions, 7e10);
    EXPECT_EQ(h.peer_bandwidth, 3.7e11);
    EXPECT_EQ(h.disk_read, 2.2e9);
    EXPECT_EQ(h.disk_write, 1.1e9);
    EXPECT_TRUE(h.calibrated);
    EXPECT_EQ(h.provenance, "a \"made\" machine, driver 1.2.3, 2026-01-02");
    // The datasheet's figures stay.
    EXPECT_EQ(h.dense_flops, truth.dense_flops);
    EXPECT_EQ(h.device_bandwidth, truth.device_bandwidth);
    // Shapes between those that were measured.
    for (const Work& w :
         {gemm(4096, 18944, 3584), gemm_accumulate(37888, 3584, 4096), memory_bound(1 << 28),
          attention(false, false, false, 4096, 8192, 28, 4, 128),
          attention(false, false, true, 4096, 4096, 28, 4, 128),
          attention(true, false, false, 4096, 8192, 28, 4, 128),
          attention(true, true, true, 4096, 4096, 28, 4, 128), copy(WorkKind::copy_to_device, 256 * kMiB, 4),
          copy(WorkKind::copy_to_host, 256 * kMiB, 4, PageCopy::gather)}) {
        const auto found = static_cast<double>(duration_of(w, h).count()),
                   expected = static_cast<double>(duration_of(w, truth).count());
        EXPECT_NEAR(found, expected, 0.01 * expected) << name_of(w.kind) << ' ' << w.m << ' ' << w.n;
    }
    for (const Residual& r : c->rates) EXPECT_NEAR(r.error(), 0, 0.01) << r.kind << ' ' << r.shape;
    for (const TimeResidual& r : c->times) EXPECT_NEAR(r.error(), 0, 0.01) << r.kind << ' ' << r.shape;
    // Of h200()'s file, whose [power] no row says anything of.
    EXPECT_EQ(c->kept, std::vector<std::string>{"power"});
    Hardware without = h200();
    without.power = {};
    EXPECT_TRUE(calibrated(without, measured_on(truth))->kept.empty());
}

TEST(Calibration, InterferenceIsTheMeanOfItsRowsAndCountsForBoth) {
    const auto c = calibrated(h200(), measured_on(h200()));
    ASSERT_TRUE(c) << c.error().text();
    const auto rate = [&](Sharing victim, Sharing beside) {
        return c->hardware.interference[static_cast<size_t>(victim)][static_cast<size_t>(beside)];
    };
    EXPECT_NEAR(rate(Sharing::gemm, Sharing::to_device), 0.85, 1e-9);
    EXPECT_NEAR(rate(Sharing::to_device, Sharing::gemm), 0.8, 1e-9);
    // Both directions together are a record: they say nothing of one alone.
    EXPECT_EQ(
        rate(Sharing::memory, Sharing::to_host),
        h200().interference[static_cast<size_t>(Sharing::memory)][static_cast<size_t>(Sharing::to_host)]);
}

TEST(Calibration, WhatNoRowSaysStaysAndIsNamed) {
    Measured m = measured_on(other_machine());
    m.attention.clear();
    m.peer.clear();
    m.disk.clear();
    std::erase_if(m.transfers, [](const TransferRow& r) { return r.how == PageCopy::gather; });
    const auto c = calibrated(h200(), m);
    ASSERT_TRUE(c) << c.error().text();
    EXPECT_EQ(c->hardware.attention_forward, h200().attention_forward);
    EXPECT_EQ(c->hardware.to_device.gather, h200().to_device.gather);
    EXPECT_EQ(c->hardware.peer_bandwidth, h200().peer_bandwidth);
    for (const char* key :
         {"rates.attention_forward", "rates.attention_backward_causal", "rates.deterministic_slowdown",
          "to_device.gather", "to_host.gather", "peer", "disk"})
        EXPECT_NE(std::find(c->kept.begin(), c->kept.end(), key), c->kept.end()) << key;
    const std::string text = write_hardware(*c, m);
    EXPECT_NE(text.find("as in h200-sxm-pcie5"), std::string::npos);
    EXPECT_NE(text.find("to_device.gather"), std::string::npos);
}

TEST(Calibration, TheFileReadsBackAndIsTheSameWhenFittedAgain) {
    const Measured m = measured_on(other_machine());
    const auto c = calibrated(h200(), m);
    ASSERT_TRUE(c) << c.error().text();
    const std::string text = write_hardware(*c, m);
    const auto read = parse_hardware(text, "x.toml", "x");
    ASSERT_TRUE(read) << read.error().text();
    Hardware expected = c->hardware;
    expected.name = "x";
    // The memory of the host and the like carry what the file before had; rates carry five digits.
    EXPECT_EQ(read->gemm, expected.gemm);
    EXPECT_EQ(read->to_device, expected.to_device);
    EXPECT_EQ(read->interference, expected.interference);
    const auto rows = parse_measured(text, "x.toml");
    ASSERT_TRUE(rows) << rows.error().text();
    EXPECT_EQ(rows->gemm.size(), m.gemm.size());
    EXPECT_EQ(rows->gemm[3].form, GemmForm::data_gradient);
    EXPECT_EQ(rows->gemm[3].spread, 0.012);
    EXPECT_EQ(rows->machine, m.machine);
    const auto again = calibrated(*read, *rows);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(write_hardware(*again, *rows), text);
}

// A machine that other work disturbs while it is measured: what is written can be read, whatever came out.
RC_GTEST_PROP(Calibration, RowsOfADisturbedMachineMakeAFileThatCanBeRead, ()) {
    static const Measured quiet = test::measured_h200();
    static const Hardware base = h200();
    Measured m = quiet;
    const auto slowed = [] { return std::exp(static_cast<double>(*rc::gen::inRange(0, 350)) / 100); };
    const auto disturb = [&](auto& rows, auto&& change) {
        const auto kept = static_cast<size_t>(*rc::gen::inRange(1, 40));
        if (rows.size() > kept) rows.resize(kept);
        for (auto& row : rows) change(row, slowed());
    };
    disturb(m.gemm, [](GemmRow& r, double by) { r.tflops /= by; });
    disturb(m.gemm_accumulate, [](GemmRow& r, double by) { r.tflops /= by; });
    disturb(m.attention, [&](AttentionRow& r, double by) {
        r.forward /= by;
        r.backward /= slowed();
        r.deterministic /= slowed();
    });
    disturb(m.memory, [](MemoryRow& r, double by) { r.seconds *= by; });
    disturb(m.transfers, [](TransferRow& r, double by) { r.bandwidth /= by; });
    disturb(m.beside, [](BesideRow& r, double by) { r.shared *= by; });
    // Blocks stand at the end of the file's rows.
    for (AttentionRow r : quiet.attention) {
        if (r.blocks == 1) continue;
        r.forward /= slowed();
        r.backward /= slowed();
        m.attention.push_back(r);
    }
    const auto rows = parse_measured(write_measured(m), "made");  // with the digits that a file carries
    RC_ASSERT(rows.has_value());
    const auto c = calibrated(base, *rows);
    if (!c) RC_FAIL(c.error().text());
    const std::string text = write_hardware(*c, *rows);
    const auto read = parse_hardware(text, "x.toml", "x");
    if (!read) RC_FAIL(read.error().text());
    const auto again = calibrated(*read, *rows);
    RC_ASSERT(again.has_value());
    RC_ASSERT(write_hardware(*again, *rows) == text);
}

// Times that fall with the size would be refused by the reader.
TEST(Calibration, CurvesNeverFallInTime) {
    Measured m = measured_on(h200());
    for (TransferRow& r : m.transfers) {
        if (r.piece == kMiB) r.bandwidth *= 100;
        if (r.piece == 64 * kMiB) r.bandwidth *= 1000;
    }
    const auto c = calibrated(h200(), m);
    ASSERT_TRUE(c) << c.error().text();
    const auto read = parse_hardware(write_hardware(*c, m), "x.toml", "x");
    EXPECT_TRUE(read) << read.error().text();
}

TEST(Calibration, RowsThatCannotBeAreAnError) {
    Measured m = measured_on(h200());
    m.gemm[0].tflops = 1e9;
    const auto c = calibrated(h200(), m);
    ASSERT_FALSE(c);
    EXPECT_NE(c.error().text().find("more than the launch"), std::string::npos) << c.error().text();
}

// The rows of the shipped file, in the form that a calibration writes.
TEST(Measured, WhatIsWrittenReadsAsTheSame) {
    const Measured m = test::measured_h200();
    const std::string text = write_measured(m);
    const auto read = parse_measured(text, "x.toml");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, m);
    EXPECT_EQ(write_measured(*read), text);
    EXPECT_EQ(write_measured({}), "");
}

}  // namespace
}  // namespace headroom
