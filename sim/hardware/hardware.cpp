#include "hardware/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "base/toml.h"
#include "hardware/measured_table.h"

namespace headroom {
namespace {

constexpr double kGiga = 1e9, kTera = 1e12;
constexpr double kMsPerTflop = 1e-3 / kTera, kMicro = 1e-6, kNano = 1e-9, kPico = 1e-12;
constexpr int64_t kFileLimit = kMiB;

void read_device(FieldReader& f, Hardware& h) {
    f.bytes("memory", h.device_memory);
    f.bytes("library_memory", h.library_memory);
    f.number("dense_tflops", h.dense_flops, kAboveZero, kTera);
    f.number("bandwidth_gb_s", h.device_bandwidth, kAboveZero, kGiga);
    f.number("memory_efficiency", h.memory_efficiency, kShare);
    f.whole("launch_ns", h.launch_ns, kNanoseconds);
    f.optional().whole("multiprocessors", h.multiprocessors, {1, 4096, "a whole number from 1 to 4096"});
    if (f.ok() && h.library_memory >= h.device_memory)
        f.refuse("library_memory", format_bytes(h.library_memory), "less than the device's memory");
}

void read_common_rate(FieldReader& f, RateFit& r) {
    f.number("per_tflop_ms", r.per_flop, kAboveZero, kMsPerTflop);
    f.optional().number("by_m_ms", r.by_m, kFromZero, kMsPerTflop);
    f.number("by_n_ms", r.by_n, kFromZero, kMsPerTflop);
    f.number("latency_us", r.latency, kFromZero, kMicro);
}

void read_rate(FieldReader& f, RateFit& r) {
    read_common_rate(f, r);
    f.number("by_k_ms", r.by_k, kFromZero, kMsPerTflop);
}

// Attention has queries (m) and keys (n) only.
void read_attention_rate(FieldReader& f, RateFit& r) {
    read_common_rate(f, r);
    f.number("per_pair_ps", r.per_pair, kFromZero, kPico);
    f.number("pair_by_n_ns", r.pair_by_n, kFromZero, kNano);
    f.number("per_key_ns", r.per_key, kFromZero, kNano);
    f.number("per_key_and_dim_ns", r.per_key_and_dim, kFromZero, kNano);
    f.number("blocks", r.blocks, kBlockFactor);
    f.whole("measured_keys", r.measured_keys, {1, 1 << 30, "a whole number from 1 to 1073741824"});
}

void read_power(FieldReader& f, PowerLimit& p) {
    f.text("source", p.source);
    f.number("base", p.base, {0.1, 10, "a number from 0.1 to 10"});
    f.number("least", p.least, {0.1, 10, "a number from 0.1 to 10"});
    f.number("per_gemm_pflop_s", p.per_gemm, kFromZero, 1e-15);
    f.number("per_attention_pflop_s", p.per_attention, kFromZero, 1e-15);
}

void read_kernels(FieldReader& f, Hardware& h) {
    f.optional();
    for (size_t i = 1; i < kKernels; ++i) {
        KernelFit& k = h.kernels[i];
        f.table(std::string(name_of(static_cast<Kernel>(i))).c_str(), [&](FieldReader& t) {
            t.number("efficiency", k.efficiency, kEfficiency);
            t.optional().number("latency_us", k.latency, kFromZero, kMicro);
            t.number("per_row_ns", k.per_row, kFromZero, kNano);
        });
    }
}

void read_rates(FieldReader& f, Hardware& h) {
    f.number("deterministic_slowdown", h.deterministic_slowdown, kFactor);
    const auto gemm = [&](const char* key, RateFit& r) {
        f.table(key, [&](FieldReader& t) { read_rate(t, r); });
    };
    const auto attention = [&](const char* key, RateFit& r) {
        f.table(key, [&](FieldReader& t) { read_attention_rate(t, r); });
    };
    gemm("gemm", h.gemm);
    gemm("gemm_accumulate", h.gemm_accumulate);
    attention("attention_forward", h.attention_forward);
    attention("attention_forward_causal", h.attention_forward_causal);
    attention("attention_backward", h.attention_backward);
    attention("attention_backward_causal", h.attention_backward_causal);
}

void read_host(FieldReader& f, Hardware& h) {
    const std::vector<std::string> links{"pcie", "c2c"};
    size_t link = 0;
    f.bytes("memory", h.host_memory);
    f.bytes("pinnable", h.pinnable_memory);
    f.number("bandwidth_gb_s", h.host_bandwidth, kAboveZero, kGiga);
    f.number("pin_s_per_gib", h.pin_seconds_per_gib, kFromZero);
    f.choice("link", links, link);
    f.number("both_directions_gb_s", h.both_directions, kAboveZero, kGiga);
    h.host_link = links[link];
    if (f.ok() && h.pinnable_memory > h.host_memory)
        f.refuse("pinnable", format_bytes(h.pinnable_memory), "at most the host's memory");
}

void read_curve(FieldReader& f, const char* key, Curve& curve) {
    f.list(key, curve.points, [](FieldReader& point, Curve::Point& out) {
        Bytes piece;
        point.bytes("piece", piece);
        point.number("gb_s", out.bandwidth, kAboveZero, kGiga);
        out.bytes = piece.count();
    });
    if (!f.ok()) return;
    for (size_t i = 1; i < curve.points.size(); ++i) {
        const Curve::Point &left = curve.points[i - 1], &right = curve.points[i];
        if (right.bytes <= left.bytes)
            return f.refuse(key, fmt::format("{} after {} bytes", right.bytes, left.bytes),
                            "ascending pieces");
        if (static_cast<double>(right.bytes) / right.bandwidth <
            static_cast<double>(left.bytes) / left.bandwidth)
            return f.refuse(key,
                            fmt::format("a piece of {} bytes that takes less time than one of {}",
                                        right.bytes, left.bytes),
                            "times that do not fall with the size");
    }
}

void read_direction(FieldReader& f, LinkDirection& link) {
    read_curve(f, "single", link.single);
    read_curve(f, "batch", link.batch);
    read_curve(f, "gather", link.gather);
}

void read_peer(FieldReader& f, Hardware& h) {
    const std::vector<std::string> links{"nvlink", "pcie"};
    size_t link = 0;
    f.choice("link", links, link);
    f.number("bandwidth_gb_s", h.peer_bandwidth, kAboveZero, kGiga);
    f.whole("latency_ns", h.peer_latency_ns, kNanoseconds);
    f.whole("max_gpus", h.max_gpus, {2, 1024, "a whole number from 2 to 1024"});
    h.peer_link = links[link];
}

void read_disk(FieldReader& f, Hardware& h) {
    f.bytes("memory", h.disk_memory);
    f.number("read_gb_s", h.disk_read, kAboveZero, kGiga);
    f.number("write_gb_s", h.disk_write, kAboveZero, kGiga);
}

void read_interference(FieldReader& f, Hardware& h) {
    f.optional();
    for (size_t v = 1; v < h.interference.size(); ++v) {
        f.table(std::string(name_of(static_cast<Sharing>(v))).c_str(), [&](FieldReader& row) {
            row.optional();
            for (size_t a = 1; a < h.interference[v].size(); ++a)
                row.number(std::string(name_of(static_cast<Sharing>(a))).c_str(), h.interference[v][a],
                           kShare);
        });
    }
}

std::filesystem::path folder(const std::filesystem::path& data) {
    return data / "models" / "hardware";
}

}  // namespace

Result<Hardware> parse_hardware(std::string_view toml, const std::string& where, const std::string& name) {
    HEADROOM_TRY(ConfigTable root, parse_toml(toml, where));
    Hardware h;
    h.name = name;
    for (auto& row : h.interference) row.fill(1);
    Measured measured;  // checked here, read by parse_measured
    FieldReader f(std::move(root));
    f.text("title", h.title);
    f.text("accelerator", h.accelerator);
    f.flag("calibrated", h.calibrated);
    f.text("provenance", h.provenance);
    f.table("device", [&](FieldReader& t) { read_device(t, h); });
    f.table("rates", [&](FieldReader& t) { read_rates(t, h); });
    f.table("host", [&](FieldReader& t) { read_host(t, h); });
    f.table("to_device", [&](FieldReader& t) { read_direction(t, h.to_device); });
    f.table("to_host", [&](FieldReader& t) { read_direction(t, h.to_host); });
    f.optional().table("peer", [&](FieldReader& t) { read_peer(t, h); });
    f.table("disk", [&](FieldReader& t) { read_disk(t, h); });
    f.table("power", [&](FieldReader& t) { read_power(t, h.power); });
    f.table("kernels", [&](FieldReader& t) { read_kernels(t, h); });
    f.table("interference", [&](FieldReader& t) { read_interference(t, h); });
    f.table("measured", [&](FieldReader& t) { read_measured(t, measured); });
    HEADROOM_CHECK(f.finish());
    return h;
}

namespace {

// The files that were read last, by path and text: a calibrated file has a thousand rows, and the app reads
// it again for each turned knob.
class LastRead {
public:
    std::optional<Hardware> find(const std::string& path, const std::string& text) {
        const std::lock_guard lock(mutex_);
        for (const Entry& e : entries_)
            if (e.path == path && e.text == text) return e.hardware;
        return std::nullopt;
    }
    void keep(const std::string& path, std::string text, const Hardware& hardware) {
        const std::lock_guard lock(mutex_);
        if (entries_.size() == kMost) entries_.pop_front();
        entries_.push_back({path, std::move(text), hardware});
    }

private:
    static constexpr size_t kMost = 4;
    struct Entry {
        std::string path, text;
        Hardware hardware;
    };
    std::mutex mutex_;
    std::deque<Entry> entries_;
};

}  // namespace

Result<Hardware> read_hardware(const std::string& name_or_path, const std::filesystem::path& data) {
    const bool is_path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml");
    std::filesystem::path path = name_or_path;
    if (!is_path) {
        const std::vector<std::string> names = shipped_hardware(data);
        if (std::find(names.begin(), names.end(), name_or_path) == names.end()) {
            const std::string near = nearest(name_or_path, names);
            return fail("hardware",
                        fmt::format("'{}' is not known{}", name_or_path,
                                    near.empty() ? "" : "; did you mean '" + near + "'?"),
                        one_of(names) + ", or a path to a .toml file");
        }
        path = folder(data) / (name_or_path + ".toml");
    }
    HEADROOM_TRY(std::string text, read_file(path, kFileLimit));
    static LastRead last_read;
    if (std::optional<Hardware> known = last_read.find(path.string(), text)) return *std::move(known);
    HEADROOM_TRY(Hardware hardware, parse_hardware(text, path.string(), path.stem().string()));
    last_read.keep(path.string(), std::move(text), hardware);
    return hardware;
}

std::vector<std::string> shipped_hardware(const std::filesystem::path& data) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder(data), error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().extension() == ".toml") names.push_back(it->path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace headroom
