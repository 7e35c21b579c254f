// A small plan with round numbers that passes check_plan(); tests change one thing of it at a time.
#pragma once

#include "plan/plan.h"

namespace headroom::test {

inline Curve flat(double bandwidth) {
    return {{{1 << 20, bandwidth}}};
}

// 4 layers, 8 query and 4 KV heads of 64.
inline Model small_model() {
    Model m;
    m.name = "small";
    m.type = "qwen2";
    m.hidden = 512, m.vocabulary = 1000, m.heads = 8, m.kv_heads = 4, m.head_dim = 64, m.intermediate = 1024;
    m.qkv_bias = true;
    m.max_context = 32768;
    m.rope.theta = 1e6;
    m.layers.resize(4);
    return m;
}

// 16 GiB of device memory, 32 of host, 64 of disk; 4 GPUs.
inline Hardware small_hardware() {
    Hardware h;
    h.name = "box";
    h.title = "A test machine";
    h.provenance = "made up for tests";
    h.accelerator = "T1";
    h.device_memory = Bytes(16 * kGiB);
    h.library_memory = Bytes(kGiB / 2);
    h.dense_flops = 1e14, h.device_bandwidth = 1e12, h.memory_efficiency = 0.9;
    h.launch_ns = 2000;
    h.gemm = h.gemm_accumulate = {1e-14, 1e-12, 1e-12, 1e-12};
    h.attention_forward = h.attention_forward_causal = {2e-14, 1e-12, 1e-12, 0};
    h.attention_backward = h.attention_backward_causal = {3e-14, 1e-12, 1e-12, 0};
    h.deterministic_slowdown = 1.2;
    h.host_memory = Bytes(48 * kGiB), h.pinnable_memory = Bytes(32 * kGiB);
    h.host_bandwidth = 1e11, h.pin_seconds_per_gib = 0.16;
    h.host_link = "pcie";
    h.to_device = h.to_host = {flat(2e10), flat(2.5e10), flat(2.4e10)};
    h.both_directions = 4e10;
    h.peer_link = "nvlink", h.peer_bandwidth = 2e11, h.peer_latency_ns = 5000, h.max_gpus = 4;
    h.disk_memory = Bytes(64 * kGiB), h.disk_read = 2e9, h.disk_write = 1e9;
    for (auto& row : h.interference) row.fill(1);
    return h;
}

inline Plan small_plan() {
    Plan p;
    p.name = "small";
    p.model = small_model();
    p.hardware = small_hardware();
    p.context = Tokens(16384);
    p.budget = {p.hardware.device_memory, p.hardware.pinnable_memory, p.hardware.disk_memory};
    return p;
}

}  // namespace headroom::test
