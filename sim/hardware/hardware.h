// Where it runs: one kind of GPU with its host, its links and its disk, and the constants of the cost model.
// Read from models/hardware/<name>.toml; every figure there stands beside its source.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "hardware/work.h"

namespace headroom {

// A measured or published curve: time of one piece against its size. Between points time is linear in bytes;
// beyond the last the last slope holds; below the first the first time holds.
struct Curve {
    struct Point {
        int64_t bytes = 0;     // of one piece
        double bandwidth = 0;  // bytes per second reached by pieces of this size
        bool operator==(const Point&) const = default;
    };
    std::vector<Point> points;  // ascending by bytes; at least one
    bool operator==(const Curve&) const = default;
};

// One direction of the host link.
struct LinkDirection {
    Curve single;  // one copy call at a time (loop of copies)
    Curve batch;   // pieces of one batched call
    Curve gather;  // a kernel on pinned memory
    bool operator==(const LinkDirection&) const = default;
};

// Seconds as a sum of non-negative terms, fitted (see fit.h), of each call:
//   gemm:      t = launch + l + flops (a + b/m + c/n + d/k)
//   attention: t = launch + l + flops (a w + b/q + c/kv) + pairs (p w + e/kv) + kv (f + g d)
// with q queries and kv keys in tokens, d the head size, pairs = queries x keys seen x query heads (each an
// exponential), and w >= 1 what whole waves of tiles take over the tiles that there are (waves() in rate.h).
// Causal calls have constants of their own, and no w.
struct RateFit {
    double per_flop = 0;                      // a
    double by_m = 0, by_n = 0, by_k = 0;      // b, c, d (attention: by_m is q, by_n is kv)
    double latency = 0;                       // l, seconds a call beside the launch
    double per_pair = 0, pair_by_n = 0;       // p, e
    double per_key = 0, per_key_and_dim = 0;  // f, g: the longest row of tiles of a causal call
    double blocks = 1;  // factor of a call of many query blocks, each with keys of its own
    // Keys of the longest causal call that was measured: a longer one takes as long for each visible score.
    // 0: not known, the terms hold at any length.
    int64_t measured_keys = 0;
    bool operator==(const RateFit&) const = default;
};

// A memory-bound kernel: t = launch + latency + bytes / (bandwidth x efficiency) + rows x per_row.
struct KernelFit {
    double latency = 0;     // seconds
    double efficiency = 0;  // share of the bandwidth; 0: the device's memory_efficiency
    double per_row = 0;     // seconds
    bool operator==(const KernelFit&) const = default;
};

// A GPU at its power limit clocks down, the further the more it computes: GEMMs and attention take
//     max(least, base + per_gemm G + per_attention A)
// times what their rates say, with G and A the FLOP/s of GEMMs and attention averaged over the compute ops of
// the step at factor 1. The rates themselves were measured in a mix of kernels at the limit (calibrate).
struct PowerLimit {
    double base = 1, least = 0;
    double per_gemm = 0, per_attention = 0;  // per FLOP/s
    std::string source;                      // which runs say so
    double factor(double gemm_flops_per_s, double attention_flops_per_s) const {
        return std::max(least, base + per_gemm * gemm_flops_per_s + per_attention * attention_flops_per_s);
    }
    bool operator==(const PowerLimit&) const = default;
};

// Which rate an op loses while another runs. Classes of work that share the machine.
enum class Sharing : uint8_t {
    idle,  // no op, or an op of no work
    gemm,
    attention,
    memory,     // memory-bound kernels
    to_device,  // copy engine, host -> device
    to_host,
    to_device_gather,  // a kernel does the copy
    to_host_gather,
    peer,
    disk,
    count_
};
Sharing sharing_of(const Work& work);
std::string_view name_of(Sharing sharing);

struct Hardware {
    std::string name;         // file stem: "h200-sxm-pcie5"
    std::string title;        // "NVIDIA H200 SXM, PCIe 5.0 x16"
    bool calibrated = false;  // constants were measured on such a machine; else from datasheets
    std::string provenance;   // machine, date, driver: or "datasheet"
    std::string accelerator;  // "H200": what ground truth and --gpu name

    // Device
    Bytes device_memory;          // what cudaMemGetInfo calls total
    Bytes library_memory;         // context and libraries, before the first tensor
    double dense_flops = 0;       // bf16 tensor, dense, datasheet FLOP/s: the denominator of MFU
    double device_bandwidth = 0;  // bytes/s, datasheet
    double memory_efficiency =
        0;  // share of it that memory-bound kernels reach without constants of their own
    std::array<KernelFit, kKernels> kernels{};  // by Kernel
    int32_t multiprocessors = 0;                // for waves of tiles; 0: not known, no waves
    int64_t launch_ns = 0;  // from one kernel's end to the next one's start on a full stream
    RateFit gemm, gemm_accumulate;
    RateFit attention_forward, attention_forward_causal;
    RateFit attention_backward, attention_backward_causal;
    PowerLimit power;
    double deterministic_slowdown = 1;  // time of deterministic attention backward over the other

    // Host
    Bytes host_memory;      // of one GPU's share of the host
    Bytes pinnable_memory;  // of it, what can be page-locked
    double host_bandwidth = 0;
    double pin_seconds_per_gib = 0;
    // Links
    std::string host_link;  // "pcie" or "c2c"
    LinkDirection to_device, to_host;
    double both_directions = 0;  // bytes/s of both directions together when both run
    std::string peer_link;       // "nvlink" or "pcie"; empty: none
    double peer_bandwidth = 0;   // bytes/s each way to the other GPUs
    int64_t peer_latency_ns = 0;
    int32_t max_gpus = 1;  // GPUs joined by the peer link
    // Disk
    Bytes disk_memory;
    double disk_read = 0, disk_write = 0;  // bytes/s
    // interference[v][a]: rate of class v while class a runs beside it; 1 = none, in (0, 1].
    std::array<std::array<double, static_cast<size_t>(Sharing::count_)>, static_cast<size_t>(Sharing::count_)>
        interference{};

    bool operator==(const Hardware&) const = default;
};

// `where` names the text in errors (file and line). Unknown keys are errors with the nearest known one.
Result<Hardware> parse_hardware(std::string_view toml, const std::string& where, const std::string& name);
// `name_or_path`: a file of models/hardware under `data`, or a path.
Result<Hardware> read_hardware(const std::string& name_or_path, const std::filesystem::path& data);
std::vector<std::string> shipped_hardware(const std::filesystem::path& data);

// Time of `work` alone on the machine: launch + the larger of its arithmetic (RateFit) and its bytes over
// bandwidth; memory-bound: KernelFit; copies: per piece by the curve. Whole nanoseconds, at least 1 for any
// work that is not `none` and not empty. Pure; tens of nanoseconds a call.
Nanoseconds duration_of(const Work& work, const Hardware& hardware);

// Scratch bytes of one attention backward call (cuDNN graph API; docs/cost-model.md says what each term is):
// q queries (to 128), kv keys (to 256), h query heads of d: 4 q h d, or if deterministic 2 q h kv; + 4 kv h d
// if heads are not packed; + 4 q h + 4 KiB.
Bytes attention_workspace(int64_t queries, int64_t keys, int64_t heads, int64_t head_dim, bool deterministic,
                          bool packed);
// Of one attention forward call, whatever its shape: 256 bytes were asked for (cuDNN 9.19 graph API); the
// engine refuses a call that asks for more than this.
inline constexpr int64_t kAttentionForwardWorkspace = 4096;

}  // namespace headroom
