#include "hardware/calibration.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/text.h"
#include "hardware/field_reader.h"
#include "hardware/nnls.h"

namespace headroom {
namespace {

constexpr double kNano = 1e-9;

// Rates as the file carries them, with five digits: what is predicted here is what a reader of it predicts.
double rounded(double value, double unit) {
    return std::stod(fmt::format("{:.5g}", value / unit)) * unit;
}

// Of the bandwidth, where a byte takes so many seconds.
double efficiency(double seconds_per_byte, const Hardware& h) {
    return std::clamp(rounded(1 / (seconds_per_byte * h.device_bandwidth), 1), kEfficiency.low,
                      kEfficiency.high);
}

bool measured_at_all(const Measured& m, bool backward, bool causal) {
    return std::any_of(m.attention.begin(), m.attention.end(), [&](const AttentionRow& r) {
        return r.use == RowUse::fit && r.causal == causal && (backward ? r.backward : r.forward) > 0;
    });
}

// Rows for the fit of each rate: a kind without them keeps what it has.
Result<void> fit_all_rates(const Measured& measured, Calibration& out) {
    Hardware& h = out.hardware;
    HEADROOM_TRY(const FittedRates r, fit_known_rates(measured, h.launch_ns));
    const auto take = [&](const char* key, bool known, const RateFit& fit, RateFit& into) {
        if (!known) return out.kept.push_back(key), void();
        constexpr double unit = 1e-15;  // ms per TFLOP
        // No shape runs above the datasheet's rate, so a constant below a thousandth of that says nothing;
        // the reader wants one above 0.
        const double least = 1e-3 / h.dense_flops;
        into = {rounded(std::max(fit.per_flop, least), unit),
                rounded(fit.by_m, unit),
                rounded(fit.by_n, unit),
                rounded(fit.by_k, unit),
                rounded(fit.latency, 1e-6),
                rounded(fit.per_pair, 1e-12),
                rounded(fit.pair_by_n, kNano),
                rounded(fit.per_key, kNano),
                rounded(fit.per_key_and_dim, kNano),
                rounded(fit.blocks, 1),
                fit.measured_keys};
    };
    const auto fits = [](const std::vector<GemmRow>& rows) {
        return std::any_of(rows.begin(), rows.end(), [](const GemmRow& g) { return g.use == RowUse::fit; });
    };
    take("rates.gemm", fits(measured.gemm), r.gemm, h.gemm);
    take("rates.gemm_accumulate", fits(measured.gemm_accumulate), r.gemm_accumulate, h.gemm_accumulate);
    take("rates.attention_forward", measured_at_all(measured, false, false), r.attention_forward,
         h.attention_forward);
    take("rates.attention_forward_causal", measured_at_all(measured, false, true), r.attention_forward_causal,
         h.attention_forward_causal);
    take("rates.attention_backward", measured_at_all(measured, true, false), r.attention_backward,
         h.attention_backward);
    take("rates.attention_backward_causal", measured_at_all(measured, true, true),
         r.attention_backward_causal, h.attention_backward_causal);
    const bool slowdown =
        std::any_of(measured.attention.begin(), measured.attention.end(),
                    [](const AttentionRow& a) { return a.deterministic > 0 && a.backward > 0; });
    if (slowdown) {
        h.deterministic_slowdown = rounded(r.deterministic_slowdown, 1);
    } else {
        out.kept.push_back("rates.deterministic_slowdown");
    }
    if (r.packing > 0)
        h.kernels[static_cast<size_t>(Kernel::pack_queries)] = {0, efficiency(r.packing, h), 0};
    out.rates = r.residuals;
    return {};
}

// The kernel that a row is of: its name in a program, a variant behind a dot.
Kernel kernel_of(std::string name) {
    constexpr std::string_view kSums = "accumulate_kv_gradients";
    if (name.starts_with(kSums)) name.replace(0, kSums.size(), "accumulate");
    std::replace(name.begin(), name.end(), '.', '_');
    for (size_t i = 1; i < kKernels; ++i)
        if (name_of(static_cast<Kernel>(i)) == name) return static_cast<Kernel>(i);
    return Kernel::other;
}

// Latency, bytes and rows of one kernel, in the least squares of relative errors.
void fit_kernel(const Measured& measured, Kernel kernel, Hardware& h) {
    std::vector<std::array<double, 3>> rows;
    std::vector<double> right;
    const double launch = static_cast<double>(h.launch_ns) * kNano;
    const bool update = kernel >= Kernel::gradient_norm;  // rows are parameters: bytes say the same
    for (const MemoryRow& r : measured.memory) {
        if (r.use != RowUse::fit || kernel_of(r.kernel) != kernel) continue;
        rows.push_back({1 / r.seconds, static_cast<double>(r.bytes) / r.seconds,
                        update ? 0 : static_cast<double>(r.rows) / r.seconds});
        right.push_back(1 - launch / r.seconds);
    }
    if (rows.size() < 2) return;
    Eigen::MatrixXd a(static_cast<Eigen::Index>(rows.size()), 3);
    for (size_t i = 0; i < rows.size(); ++i)
        a.row(static_cast<Eigen::Index>(i)) << rows[i][0], rows[i][1], rows[i][2];
    const Eigen::VectorXd x =
        nnls(a, Eigen::Map<Eigen::VectorXd>(right.data(), static_cast<Eigen::Index>(right.size())));
    if (x(1) <= 0) return;  // bytes say nothing: too few sizes
    h.kernels[static_cast<size_t>(kernel)] = {rounded(x(0), 1e-6), efficiency(x(1), h), rounded(x(2), kNano)};
}

// Of all memory-bound rows: the share x of bandwidth with launch + bytes / (bandwidth x) nearest to them.
void fit_memory(const Measured& measured, Calibration& out) {
    Hardware& h = out.hardware;
    double ab = 0, aa = 0;
    const double launch = static_cast<double>(h.launch_ns) * kNano;
    for (const MemoryRow& r : measured.memory) {
        if (r.use != RowUse::fit || r.seconds <= launch) continue;
        const double a = static_cast<double>(r.bytes) / h.device_bandwidth / r.seconds;
        ab += a * (1 - launch / r.seconds);
        aa += a * a;
    }
    if (aa == 0) return out.kept.push_back("device.memory_efficiency");
    h.memory_efficiency = std::clamp(rounded(aa / ab, 1), kShare.low, kShare.high);
    for (size_t i = 1; i < kKernels; ++i)
        if (static_cast<Kernel>(i) != Kernel::pack_queries) fit_kernel(measured, static_cast<Kernel>(i), h);
    for (const MemoryRow& r : measured.memory) {
        if (r.use == RowUse::record) continue;
        const double time =
            static_cast<double>(duration_of(memory_bound(r.bytes, kernel_of(r.kernel), r.rows), h).count()) *
            kNano;
        out.times.push_back({"memory", fmt::format("{}, {} x {}", r.kernel, r.rows, r.columns), r.seconds,
                             time, r.use == RowUse::fit});
    }
}

// One direction and one way of handing copies over, as a curve whose times do not fall.
Curve curve_of(const Measured& measured, bool to_device, PageCopy how) {
    Curve curve;
    for (const TransferRow& r : measured.transfers) {
        if (r.to_device == to_device && r.how == how && r.opposite == 0 && r.use == RowUse::fit)
            curve.points.push_back({r.piece, rounded(r.bandwidth, 1e9)});
    }
    std::sort(curve.points.begin(), curve.points.end(), [](const Curve::Point& a, const Curve::Point& b) {
        return a.bytes != b.bytes ? a.bytes < b.bytes : a.bandwidth < b.bandwidth;
    });
    const auto last = std::unique(curve.points.begin(), curve.points.end(),
                                  [](const auto& a, const auto& b) { return a.bytes == b.bytes; });
    curve.points.erase(last, curve.points.end());
    // A larger piece never takes less time.
    for (size_t i = 1; i < curve.points.size(); ++i) {
        const Curve::Point& before = curve.points[i - 1];
        const double most =
            before.bandwidth / static_cast<double>(before.bytes) * static_cast<double>(curve.points[i].bytes);
        // Five digits below it, so that the rounded figures keep the order.
        if (curve.points[i].bandwidth > most) curve.points[i].bandwidth = rounded(most * 0.9999, 1e9);
    }
    return curve;
}

void fit_links(const Measured& measured, Calibration& out) {
    Hardware& h = out.hardware;
    for (const bool to_device : {true, false}) {
        LinkDirection& link = to_device ? h.to_device : h.to_host;
        const std::array<std::pair<PageCopy, Curve*>, 3> curves{{{PageCopy::loop, &link.single},
                                                                 {PageCopy::batch, &link.batch},
                                                                 {PageCopy::gather, &link.gather}}};
        for (const auto& [how, curve] : curves) {
            Curve read = curve_of(measured, to_device, how);
            const char* direction = to_device ? "to_device" : "to_host";
            if (read.points.empty()) {
                out.kept.push_back(
                    fmt::format("{}.{}", direction, how == PageCopy::loop ? "single" : name_of(how)));
                continue;
            }
            *curve = std::move(read);
        }
    }
    double both = 0;
    for (const TransferRow& r : measured.transfers) {
        if (r.opposite > 0 && r.use == RowUse::fit) both = std::max(both, r.bandwidth + r.opposite);
    }
    if (both > 0) {
        h.both_directions = rounded(both, 1e9);
        h.host_bandwidth = std::max(h.host_bandwidth, h.both_directions);
    } else {
        out.kept.push_back("host.both_directions_gb_s");
    }
    for (const TransferRow& r : measured.transfers) {
        if (r.use == RowUse::record || r.opposite > 0) continue;
        const auto kind = r.to_device ? WorkKind::copy_to_device : WorkKind::copy_to_host;
        const auto bytes = static_cast<double>(r.piece * r.pieces);
        const double time =
            static_cast<double>(duration_of(copy(kind, r.piece * r.pieces, r.pieces, r.how), h).count());
        out.times.push_back({fmt::format("{} {}", name_of(kind), name_of(r.how)),
                             fmt::format("{} x {}", r.pieces, format_bytes(Bytes(r.piece))),
                             bytes / r.bandwidth, time * kNano, r.use == RowUse::fit});
    }
}

// The mean over the rows of a pair; a rate above 1 is none.
void fit_interference(const Measured& measured, Calibration& out) {
    constexpr size_t kKinds = static_cast<size_t>(Sharing::count_);
    std::array<std::array<double, kKinds>, kKinds> sum{}, count{};
    const auto index = [](std::string_view name) {
        for (size_t i = 1; i < kKinds; ++i)
            if (name_of(static_cast<Sharing>(i)) == name) return i;
        return size_t{0};
    };
    for (const BesideRow& r : measured.beside) {
        const size_t victim = index(r.victim), other = index(r.beside);
        if (victim == 0 || other == 0) continue;
        sum[victim][other] += std::min(1.0, r.alone / r.shared);
        ++count[victim][other];
        if (r.rate == 0 || r.slowed == 0) continue;
        sum[other][victim] += std::min(1.0, r.slowed / r.rate);
        ++count[other][victim];
    }
    for (size_t v = 1; v < kKinds; ++v) {
        for (size_t a = 1; a < kKinds; ++a) {
            if (count[v][a] > 0)
                out.hardware.interference[v][a] =
                    std::stod(fmt::format("{:.3f}", std::max(1e-3, sum[v][a] / count[v][a])));
        }
    }
    if (measured.beside.empty()) out.kept.push_back("interference");
}

void take_machine(const Measured& measured, Calibration& out) {
    Hardware& h = out.hardware;
    const MeasuredOn& m = measured.machine;
    const auto known = [&](bool is, const char* key) {
        if (!is) out.kept.push_back(key);
        return is;
    };
    if (known(m.memory.count() > 0 && m.library_memory < m.memory, "device.memory"))
        h.device_memory = m.memory;
    if (known(m.library_memory.count() > 0 && m.library_memory < h.device_memory, "device.library_memory"))
        h.library_memory = m.library_memory;
    if (known(m.multiprocessors > 0, "device.multiprocessors")) h.multiprocessors = m.multiprocessors;
    if (known(m.launch_us > 0, "device.launch_ns")) h.launch_ns = std::llround(m.launch_us * 1e3);
    if (known(m.pin_s_per_gib > 0, "host.pin_s_per_gib")) h.pin_seconds_per_gib = m.pin_s_per_gib;
}

void take_rest(const Measured& measured, Calibration& out) {
    Hardware& h = out.hardware;
    double peer = 0;
    for (const PeerRow& r : measured.peer) peer = std::max(peer, r.bandwidth);
    if (peer > 0) {
        h.peer_bandwidth = rounded(peer, 1e9);
    } else if (!h.peer_link.empty()) {
        out.kept.push_back("peer");
    }
    double read = 0, write = 0;
    for (const DiskRow& r : measured.disk)
        (r.write ? write : read) = std::max(r.write ? write : read, r.bandwidth);
    if (read > 0 && write > 0) {
        h.disk_read = rounded(read, 1e9);
        h.disk_write = rounded(write, 1e9);
    } else {
        out.kept.push_back("disk");
    }
    // Fitted to whole steps (docs/cost-model.md), which a calibration does not run.
    if (h.power != PowerLimit{}) out.kept.push_back("power");
}

std::string provenance_of(const MeasuredOn& m) {
    std::string text = m.device;
    const auto add = [&](const char* what, const std::string& value) {
        if (!value.empty()) text += fmt::format(", {} {}", what, value);
    };
    add("driver", m.driver);
    add("CUDA", m.cuda);
    add("torch", m.torch);
    add("cuDNN", m.cudnn);
    return text + ", " + m.date;
}

}  // namespace

Result<Calibration> calibrated(const Hardware& base, const Measured& measured) {
    Calibration out{base, {}, {}, {}};
    take_machine(measured, out);
    HEADROOM_CHECK(fit_all_rates(measured, out));
    fit_memory(measured, out);
    fit_links(measured, out);
    fit_interference(measured, out);
    take_rest(measured, out);
    out.hardware.calibrated = true;
    if (!measured.machine.device.empty()) out.hardware.provenance = provenance_of(measured.machine);
    return out;
}

}  // namespace headroom
