#include <fmt/format.h>

#include "hardware/calibration.h"
#include "hardware/figures.h"

namespace headroom {
namespace {

constexpr double kGiga = 1e9, kTera = 1e12, kMsPerTflop = 1e-3 / kTera;

// Lines of `key = value`.
class Table {
public:
    explicit Table(std::string_view name) : text_(fmt::format("\n[{}]\n", name)) {}
    Table& number(const char* key, double value) { return add(key, figure(value)); }
    Table& exact(const char* key, double value) { return add(key, fmt::format("{}", value)); }
    Table& whole(const char* key, int64_t value) { return add(key, std::to_string(value)); }
    Table& whole_if(const char* key, int64_t value) { return value > 0 ? whole(key, value) : *this; }
    Table& bytes(const char* key, Bytes value) { return add(key, toml_bytes(value.count())); }
    Table& text(const char* key, std::string_view value) { return add(key, toml_text(value)); }
    Table& curve(const char* key, const Curve& curve) {
        text_ += fmt::format("{} = [\n", key);
        for (const Curve::Point& p : curve.points) {
            text_ +=
                fmt::format("    {},\n",
                            InlineTable().bytes("piece", p.bytes).number("gb_s", p.bandwidth / kGiga).done());
        }
        text_ += "]\n";
        return *this;
    }
    const std::string& done() const { return text_; }

private:
    Table& add(const char* key, std::string_view value) {
        text_ += fmt::format("{} = {}\n", key, value);
        return *this;
    }
    std::string text_;
};

std::string head(const Calibration& c, const MeasuredOn& m) {
    std::string text =
        "# Written by `headroom calibrate` from the rows of [measured] below (docs/cost-model.md).\n";
    if (!c.kept.empty()) {
        text += fmt::format(
            "# Not measured, but as in {}: the datasheet figures, what belongs to the host, and {}.\n",
            m.like.empty() ? "the file before" : m.like, fmt::join(c.kept, ", "));
    } else {
        text += fmt::format(
            "# Not measured, but as in {}: the datasheet figures, and what belongs to the host.\n",
            m.like.empty() ? "the file before" : m.like);
    }
    const Hardware& h = c.hardware;
    return text + fmt::format("title = {}\naccelerator = {}\ncalibrated = {}\nprovenance = {}\n",
                              toml_text(h.title), toml_text(h.accelerator), h.calibrated,
                              toml_text(h.provenance));
}

std::string rate(const char* name, const RateFit& r) {
    Table t(fmt::format("rates.{}", name));
    t.number("per_tflop_ms", r.per_flop / kMsPerTflop);
    const auto term = [&](const char* key, double value) {
        if (value > 0) t.number(key, value / kMsPerTflop);
    };
    term("by_m_ms", r.by_m);
    term("by_n_ms", r.by_n);
    term("by_k_ms", r.by_k);
    const auto other = [&](const char* key, double value, double unit) {
        if (value > 0) t.number(key, value / unit);
    };
    other("latency_us", r.latency, 1e-6);
    other("per_pair_ps", r.per_pair, 1e-12);
    other("pair_by_n_ns", r.pair_by_n, 1e-9);
    other("per_key_ns", r.per_key, 1e-9);
    other("per_key_and_dim_ns", r.per_key_and_dim, 1e-9);
    if (r.blocks != 1) t.number("blocks", r.blocks);
    t.whole_if("measured_keys", r.measured_keys);
    return t.done();
}

std::string kernels(const Hardware& h) {
    std::string text;
    for (size_t i = 1; i < kKernels; ++i) {
        const KernelFit& k = h.kernels[i];
        if (k == KernelFit{}) continue;
        InlineTable t;
        t.number("efficiency", k.efficiency).known("latency_us", k.latency / 1e-6);
        t.known("per_row_ns", k.per_row / 1e-9);
        text += fmt::format("{} = {}\n", name_of(static_cast<Kernel>(i)), t.done());
    }
    return text.empty() ? text : "\n[kernels]\n" + text;
}

std::string direction(const char* name, const LinkDirection& link) {
    return Table(name)
        .curve("single", link.single)
        .curve("batch", link.batch)
        .curve("gather", link.gather)
        .done();
}

std::string interference(const Hardware& h) {
    std::string text;
    for (size_t v = 1; v < h.interference.size(); ++v) {
        Table t(fmt::format("interference.{}", name_of(static_cast<Sharing>(v))));
        bool any = false;
        for (size_t a = 1; a < h.interference[v].size(); ++a) {
            if (h.interference[v][a] == 1) continue;
            any = true;
            t.number(std::string(name_of(static_cast<Sharing>(a))).c_str(), h.interference[v][a]);
        }
        if (any) text += t.done();
    }
    return text;
}

}  // namespace

std::string write_hardware(const Calibration& c, const Measured& measured) {
    const Hardware& h = c.hardware;
    std::string out = head(c, measured.machine);
    out += Table("device")
               .bytes("memory", h.device_memory)
               .bytes("library_memory", h.library_memory)
               .exact("dense_tflops", h.dense_flops / kTera)
               .exact("bandwidth_gb_s", h.device_bandwidth / kGiga)
               .number("memory_efficiency", h.memory_efficiency)
               .whole("launch_ns", h.launch_ns)
               .whole_if("multiprocessors", h.multiprocessors)
               .done();
    out += Table("rates").number("deterministic_slowdown", h.deterministic_slowdown).done();
    out += rate("gemm", h.gemm);
    out += rate("gemm_accumulate", h.gemm_accumulate);
    out += rate("attention_forward", h.attention_forward);
    out += rate("attention_forward_causal", h.attention_forward_causal);
    out += rate("attention_backward", h.attention_backward);
    out += rate("attention_backward_causal", h.attention_backward_causal);
    out += Table("host")
               .bytes("memory", h.host_memory)
               .bytes("pinnable", h.pinnable_memory)
               .exact("bandwidth_gb_s", h.host_bandwidth / kGiga)
               .number("pin_s_per_gib", h.pin_seconds_per_gib)
               .text("link", h.host_link)
               .number("both_directions_gb_s", h.both_directions / kGiga)
               .done();
    out += direction("to_device", h.to_device);
    out += direction("to_host", h.to_host);
    if (!h.peer_link.empty()) {
        out += Table("peer")
                   .text("link", h.peer_link)
                   .number("bandwidth_gb_s", h.peer_bandwidth / kGiga)
                   .whole("latency_ns", h.peer_latency_ns)
                   .whole("max_gpus", h.max_gpus)
                   .done();
    }
    if (h.disk_memory.count() > 0) {
        out += Table("disk")
                   .bytes("memory", h.disk_memory)
                   .number("read_gb_s", h.disk_read / kGiga)
                   .number("write_gb_s", h.disk_write / kGiga)
                   .done();
    }
    if (h.power != PowerLimit{}) {
        out += Table("power")
                   .text("source", h.power.source)
                   .number("base", h.power.base)
                   .number("least", h.power.least)
                   .number("per_gemm_pflop_s", h.power.per_gemm * 1e15)
                   .number("per_attention_pflop_s", h.power.per_attention * 1e15)
                   .done();
    }
    out += kernels(h);
    out += interference(h);
    const std::string rows = write_measured(measured);
    return rows.empty() ? out : out + "\n# What the constants were fitted from, as measured.\n" + rows;
}

}  // namespace headroom
