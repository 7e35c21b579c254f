// The fields of Model and Hardware inside plan.json, each with its key and the values that arithmetic on it
// stands. Contract: as for visit_decisions(), these are the only lists of keys; writing and reading go
// through them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "hardware/hardware.h"
#include "model/check.h"
#include "model/model.h"

namespace headroom {

// Closed bounds of a number.
struct Range {
    double low = 0, high = 0;
};
inline constexpr Range kFlag{0, 0};  // strings and booleans have no bounds
// Sizes of a model, as a config.json may have them (model/check.h).
inline constexpr Range kWidth{1, kMostWidth};
inline constexpr Range kWidthOrNone{0, kMostWidth};
inline constexpr Range kExperts{0, kMostExperts};
inline constexpr Range kVocabulary{1, kMostVocabulary};
inline constexpr Range kWindow{0, kMostTokens};
inline constexpr Range kReal{0, 1e30};
inline constexpr Range kRate{1, 1e30};  // rates that something is divided by
inline constexpr Range kMemory{0, 1e18};

template <class T, class Visit>
void visit_experts(T& e, Visit&& visit) {
    visit("count", e.count, kExperts);
    visit("per_token", e.per_token, kExperts);
    visit("intermediate", e.intermediate, kWidthOrNone);
    visit("shared", e.shared, kExperts);
    visit("router_bias", e.router_bias, kFlag);
    visit("expert_bias", e.expert_bias, kFlag);
    visit("normalized", e.normalized, kFlag);
}

template <class T, class Visit>
void visit_latent(T& l, Visit&& visit) {
    visit("q_rank", l.q_rank, kWidthOrNone);
    visit("kv_rank", l.kv_rank, kWidthOrNone);
    visit("nope_dim", l.nope_dim, kWidthOrNone);
    visit("rope_dim", l.rope_dim, kWidthOrNone);
    visit("v_dim", l.v_dim, kWidthOrNone);
}

template <class T, class Visit>
void visit_rope(T& r, Visit&& visit) {
    visit("theta", r.theta, kReal);
    visit("local_theta", r.local_theta, kReal);
    visit("scaling", r.scaling, kFlag);
    visit("factor", r.factor, kReal);
    visit("low_freq_factor", r.low_freq_factor, kReal);
    visit("high_freq_factor", r.high_freq_factor, kReal);
    visit("beta_fast", r.beta_fast, kReal);
    visit("beta_slow", r.beta_slow, kReal);
    visit("mscale", r.mscale, kReal);
    visit("mscale_all_dim", r.mscale_all_dim, kReal);
    visit("attention_factor", r.attention_factor, kReal);
    visit("truncate", r.truncate, kFlag);
    visit("original_context_tokens", r.original_context, kWindow);
}

// All but the nested parts: layers, rope, experts, latent.
template <class T, class Visit>
void visit_model(T& m, Visit&& visit) {
    visit("name", m.name, kFlag);
    visit("type", m.type, kFlag);
    visit("hidden", m.hidden, kWidth);
    visit("vocabulary", m.vocabulary, kVocabulary);
    visit("tied_embeddings", m.tied_embeddings, kFlag);
    visit("heads", m.heads, kWidth);
    visit("kv_heads", m.kv_heads, kWidth);
    visit("head_dim", m.head_dim, Range{1, 2 * kMostWidth});
    visit("intermediate", m.intermediate, kWidthOrNone);
    visit("qkv_bias", m.qkv_bias, kFlag);
    visit("output_bias", m.output_bias, kFlag);
    visit("mlp_bias", m.mlp_bias, kFlag);
    visit("qk_norm", m.qk_norm, kFlag);
    visit("attention_sinks", m.attention_sinks, kFlag);
    visit("norms_per_layer", m.norms_per_layer, Range{0, 16});
    visit("norm_epsilon", m.norm_epsilon, kReal);
    visit("activation", m.activation, kFlag);
    visit("activation_limit", m.activation_limit, kReal);
    visit("query_scalar", m.query_scalar, kReal);
    visit("max_context_tokens", m.max_context, kWindow);
    visit("not_trainable", m.not_trainable, kFlag);
}

template <class T, class Visit>
void visit_rate(T& r, Visit&& visit) {
    visit("per_flop_s", r.per_flop, kReal);
    visit("by_m", r.by_m, kReal);
    visit("by_n", r.by_n, kReal);
    visit("by_k", r.by_k, kReal);
}
// Newer than plans of this schema: may be absent.
template <class T, class Visit>
void visit_later_rate(T& r, Visit&& visit) {
    visit("latency_s", r.latency, kReal);
    visit("per_pair_s", r.per_pair, kReal);
    visit("pair_by_n", r.pair_by_n, kReal);
    visit("per_key_s", r.per_key, kReal);
    visit("per_key_and_dim_s", r.per_key_and_dim, kReal);
    visit("blocks", r.blocks, kReal);
    visit("measured_keys", r.measured_keys, kWindow);
}
template <class T, class Visit>
void visit_kernel(T& k, Visit&& visit) {
    visit("latency_s", k.latency, kReal);
    visit("efficiency", k.efficiency, kReal);
    visit("per_row_s", k.per_row, kReal);
}

// All but the nested parts: rates, curves, interference.
template <class T, class Visit>
void visit_hardware(T& h, Visit&& visit) {
    visit("name", h.name, kFlag);
    visit("title", h.title, kFlag);
    visit("calibrated", h.calibrated, kFlag);
    visit("provenance", h.provenance, kFlag);
    visit("accelerator", h.accelerator, kFlag);
    visit("device_memory_bytes", h.device_memory, kMemory);
    visit("library_memory_bytes", h.library_memory, kMemory);
    visit("dense_flops_per_s", h.dense_flops, kRate);
    visit("device_bandwidth_bytes_per_s", h.device_bandwidth, kRate);
    visit("memory_efficiency", h.memory_efficiency, Range{1e-6, 1});
    visit("launch_ns", h.launch_ns, Range{0, 1e9});
    visit("deterministic_slowdown", h.deterministic_slowdown, Range{1e-3, 1e3});
    visit("host_memory_bytes", h.host_memory, kMemory);
    visit("pinnable_memory_bytes", h.pinnable_memory, kMemory);
    visit("host_bandwidth_bytes_per_s", h.host_bandwidth, kReal);
    visit("pin_s_per_gib", h.pin_seconds_per_gib, kReal);
    visit("host_link", h.host_link, kFlag);
    visit("both_directions_bytes_per_s", h.both_directions, kReal);
    visit("peer_link", h.peer_link, kFlag);
    visit("peer_bandwidth_bytes_per_s", h.peer_bandwidth, kReal);
    visit("peer_latency_ns", h.peer_latency_ns, Range{0, 1e9});
    visit("max_gpus", h.max_gpus, Range{1, 1 << 20});
    visit("disk_memory_bytes", h.disk_memory, kMemory);
    visit("disk_read_bytes_per_s", h.disk_read, kReal);
    visit("disk_write_bytes_per_s", h.disk_write, kReal);
}

template <class T, class Visit>
void visit_later_hardware(T& h, Visit&& visit) {
    visit("multiprocessors", h.multiprocessors, Range{0, 4096});
    visit("power_base", h.power.base, kReal);
    visit("power_least", h.power.least, kReal);
    visit("power_per_gemm", h.power.per_gemm, kReal);
    visit("power_per_attention", h.power.per_attention, kReal);
}

template <class T, class Visit>
void visit_rates(T& h, Visit&& visit) {
    visit("gemm", h.gemm);
    visit("gemm_accumulate", h.gemm_accumulate);
    visit("attention_forward", h.attention_forward);
    visit("attention_forward_causal", h.attention_forward_causal);
    visit("attention_backward", h.attention_backward);
    visit("attention_backward_causal", h.attention_backward_causal);
}

template <class T, class Visit>
void visit_curves(T& h, Visit&& visit) {
    visit("to_device_single", h.to_device.single);
    visit("to_device_batch", h.to_device.batch);
    visit("to_device_gather", h.to_device.gather);
    visit("to_host_single", h.to_host.single);
    visit("to_host_batch", h.to_host.batch);
    visit("to_host_gather", h.to_host.gather);
}

}  // namespace headroom
