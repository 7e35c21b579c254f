#include <algorithm>

#include "hardware/hardware.h"
#include "hardware/rate.h"

// Formulas and units: docs/cost-model.md. Only + - * / in a fixed order, so every machine gets the same
// result.
namespace headroom {
namespace {

// Seconds that one piece of `bytes` takes.
double time_of_piece(const Curve& curve, double bytes) {
    const auto& points = curve.points;
    const auto time_at = [&](size_t i) { return static_cast<double>(points[i].bytes) / points[i].bandwidth; };
    if (points.size() == 1) return std::max(bytes / points[0].bandwidth, time_at(0));
    if (bytes <= static_cast<double>(points[0].bytes)) return time_at(0);
    size_t right = 1;
    while (right + 1 < points.size() && bytes > static_cast<double>(points[right].bytes)) ++right;
    const double b0 = static_cast<double>(points[right - 1].bytes),
                 b1 = static_cast<double>(points[right].bytes);
    const double t0 = time_at(right - 1), t1 = time_at(right);
    return bytes == b1 ? t1 : t0 + (bytes - b0) * ((t1 - t0) / (b1 - b0));
}

double host_copy(const Work& work, const LinkDirection& link) {
    const double pieces = static_cast<double>(std::max<int64_t>(work.pieces, 1));
    const Curve& curve = work.copy == PageCopy::loop    ? link.single
                         : work.copy == PageCopy::batch ? link.batch
                                                        : link.gather;
    return pieces * time_of_piece(curve, static_cast<double>(work.bytes) / pieces);
}

// Ring algorithm: `steps` messages in a row, which pass `share` of the bytes over each GPU's link.
double ring(const Work& work, const Hardware& h, double passes) {
    const double ranks = work.ranks;
    const double latency = static_cast<double>(h.peer_latency_ns) * 1e-9;
    const double steps = passes * (ranks - 1);
    return steps * latency + steps / ranks * static_cast<double>(work.bytes) / h.peer_bandwidth;
}

double memory_seconds(int64_t bytes, const Hardware& h, Kernel kernel) {
    const double own = h.kernels[static_cast<size_t>(kernel)].efficiency;
    return static_cast<double>(bytes) / (h.device_bandwidth * (own > 0 ? own : h.memory_efficiency));
}

double launches(const Work& w, const Hardware& h) {
    return static_cast<double>(h.launch_ns) * 1e-9 * w.batch;
}

// Launch, then the slower of arithmetic and memory. No shape runs above the datasheet's dense rate, whatever
// the fit says outside the shapes that it was made from.
double kernel(const Work& w, const Hardware& h, const RateFit& r) {
    const std::array<double, kTerms> factors = rate_factors(w, h.multiprocessors, r.measured_keys);
    double fitted = 0;
    for (size_t i = 0; i < kTerms; ++i) fitted += r.*kRateTerms[i] * factors[i];
    if (w.blocks > 1) fitted = fitted * r.blocks;
    const double arithmetic = std::max(fitted, static_cast<double>(w.flops) / h.dense_flops);
    const double packing = w.packed > 0 ? memory_seconds(w.packed, h, Kernel::pack_queries) : 0;
    return launches(w, h) + packing + std::max(arithmetic, memory_seconds(w.bytes, h, Kernel::other));
}

double memory_kernel(const Work& w, const Hardware& h) {
    const KernelFit& k = h.kernels[static_cast<size_t>(w.kernel)];
    return launches(w, h) + k.latency * w.batch + memory_seconds(w.bytes, h, w.kernel) +
           k.per_row * static_cast<double>(w.m);
}

const RateFit& attention_rate(const Work& w, const Hardware& h) {
    if (w.kind == WorkKind::attention_forward)
        return w.causal ? h.attention_forward_causal : h.attention_forward;
    return w.causal ? h.attention_backward_causal : h.attention_backward;
}

double seconds_of(const Work& w, const Hardware& h) {
    switch (w.kind) {
        case WorkKind::gemm:
            return kernel(w, h, h.gemm);
        case WorkKind::gemm_accumulate:
            return kernel(w, h, h.gemm_accumulate);
        case WorkKind::attention_forward:
        case WorkKind::attention_backward:
            return kernel(w, h, attention_rate(w, h));
        case WorkKind::attention_backward_deterministic:
            return h.deterministic_slowdown * kernel(w, h, attention_rate(w, h));
        case WorkKind::memory_bound:
            return memory_kernel(w, h);
        case WorkKind::copy_to_device:
            return host_copy(w, h.to_device);
        case WorkKind::copy_to_host:
            return host_copy(w, h.to_host);
        case WorkKind::peer:
            return static_cast<double>(std::max<int64_t>(w.pieces, 1)) *
                       static_cast<double>(h.peer_latency_ns) * 1e-9 +
                   static_cast<double>(w.bytes) / h.peer_bandwidth;
        case WorkKind::all_reduce:
            return ring(w, h, 2);
        case WorkKind::all_gather:
        case WorkKind::reduce_scatter:
            return ring(w, h, 1);
        case WorkKind::disk_read:
            return static_cast<double>(w.bytes) / h.disk_read;
        case WorkKind::disk_write:
            return static_cast<double>(w.bytes) / h.disk_write;
        case WorkKind::none:
        case WorkKind::count_:
            break;
    }
    return 0;
}

}  // namespace

Nanoseconds duration_of(const Work& work, const Hardware& hardware) {
    if (sharing_of(work) == Sharing::idle) return Nanoseconds(0);
    const double ns = seconds_of(work, hardware) * 1e9 + 0.5;
    if (!(ns < 9.2e18)) throw Overflow();  // also a link or disk that the machine does not have
    return Nanoseconds(std::max<int64_t>(static_cast<int64_t>(ns), 1));
}

Bytes attention_workspace(int64_t queries, int64_t keys, int64_t heads, int64_t head_dim, bool deterministic,
                          bool packed) {
    constexpr int64_t kFixed = 4096;
    const int64_t q = round_up(queries, 128), kv = round_up(keys, 256);
    const int64_t sums = checked_mul(4, checked_mul(q, heads));  // rowsum(dO out), fp32
    // dS in 16 bits, or else dQ in fp32.
    const int64_t middle = deterministic ? checked_mul(2, checked_mul(checked_mul(heads, q), kv))
                                         : checked_mul(4, checked_mul(checked_mul(heads, q), head_dim));
    // dK and dV of each query head, in 16 bits.
    const int64_t by_head = packed ? 0 : checked_mul(4, checked_mul(checked_mul(heads, kv), head_dim));
    return Bytes(checked_add(checked_add(middle, by_head), checked_add(sums, kFixed)));
}

}  // namespace headroom
