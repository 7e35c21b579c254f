// The hardware files of the source tree, and a small machine with round figures.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "hardware/hardware.h"
#include "hardware/measured.h"

namespace headroom::test {

inline std::filesystem::path data() {
    return HEADROOM_SOURCE_DIR "/";
}

inline std::string text_of(const std::string& name) {
    const auto text = read_file(data() / "models" / "hardware" / (name + ".toml"), kMiB);
    EXPECT_TRUE(text) << (text ? "" : text.error().text());
    return text.value_or("");
}

inline Hardware shipped(const std::string& name) {
    const auto hardware = read_hardware(name, data());
    EXPECT_TRUE(hardware) << (hardware ? "" : hardware.error().text());
    return hardware.value_or(Hardware{});
}

inline Measured measured_rows(const std::string& name) {
    const auto measured = parse_measured(text_of(name), name + ".toml");
    EXPECT_TRUE(measured) << (measured ? "" : measured.error().text());
    return measured.value_or(Measured{});
}

inline Measured measured_h200() {
    return measured_rows("h200-sxm-pcie5");
}

// 1 TFLOP/s at every shape, 1 GB/s on the links, 1 TB/s of memory at half its efficiency; 1 us of launch.
inline Hardware round_machine() {
    Hardware h;
    h.dense_flops = 2e12;
    h.device_bandwidth = 1e12, h.memory_efficiency = 0.5;
    h.launch_ns = 1000;
    h.gemm = h.gemm_accumulate = {1e-12, 0, 0, 0};
    h.attention_forward = h.attention_forward_causal = h.attention_backward = h.attention_backward_causal =
        h.gemm;
    h.deterministic_slowdown = 1.25;
    // 1000 bytes take 4 us, 2000 take 6, 4000 take 8.
    const Curve curve{{{1000, 2.5e8}, {2000, 2000 / 6e-6}, {4000, 5e8}}};
    h.to_device = h.to_host = {curve, curve, curve};
    h.peer_link = "nvlink", h.peer_bandwidth = 1e9, h.peer_latency_ns = 500, h.max_gpus = 8;
    h.disk_read = 2e9, h.disk_write = 1e9;
    return h;
}

}  // namespace headroom::test
