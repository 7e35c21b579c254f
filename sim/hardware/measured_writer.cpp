#include "hardware/figures.h"
#include "hardware/measured.h"

namespace headroom {
namespace {

void add_use(InlineTable& t, RowUse use) {
    if (use != RowUse::fit) t.text("use", name_of(use));
}

std::string line_of(const GemmRow& r) {
    InlineTable t;
    if (r.m > 0) t.whole("m", r.m).whole("k", r.k).whole("n", r.n);
    if (r.form != GemmForm::forward) t.text("form", name_of(r.form));
    t.number("tflops", r.tflops).known("spread", r.spread);
    add_use(t, r.use);
    return t.done();
}

std::string line_of(const AttentionRow& r) {
    InlineTable t;
    t.text("library", r.library);
    if (r.blocks > 1) t.whole("blocks", r.blocks);
    t.whole("queries", r.queries).whole("keys", r.keys);
    t.whole("heads", r.heads).whole("kv_heads", r.kv_heads).whole("head_dim", r.head_dim);
    if (r.causal) t.flag("causal", true);
    t.known("forward", r.forward).known("backward", r.backward).known("deterministic", r.deterministic);
    t.known("workspace_mib", r.workspace_mib);
    t.known("deterministic_workspace_mib", r.deterministic_workspace_mib);
    t.known("spread", r.spread);
    add_use(t, r.use);
    return t.done();
}

std::string line_of(const MemoryRow& r) {
    InlineTable t;
    t.text("kernel", r.kernel);
    if (r.rows > 0) t.whole("rows", r.rows);
    if (r.columns > 0) t.whole("columns", r.columns);
    t.whole("bytes", r.bytes).number("us", r.seconds * 1e6).known("spread", r.spread);
    add_use(t, r.use);
    return t.done();
}

std::string line_of(const TransferRow& r) {
    InlineTable t;
    t.flag("to_device", r.to_device).text("how", name_of(r.how)).bytes("piece", r.piece);
    t.whole("pieces", r.pieces).number("gb_s", r.bandwidth / 1e9).known("opposite_gb_s", r.opposite / 1e9);
    t.known("spread", r.spread);
    add_use(t, r.use);
    return t.done();
}

std::string line_of(const CopyRow& r) {
    return InlineTable()
        .flag("to_device", r.to_device)
        .bytes("piece", r.bytes)
        .number("gb_s", r.bandwidth / 1e9)
        .done();
}

std::string line_of(const BesideRow& r) {
    InlineTable t;
    t.text("victim", r.victim).text("work", r.work).text("beside", r.beside);
    t.number("alone_us", r.alone * 1e6).number("us", r.shared * 1e6);
    return t.known("alone_gb_s", r.rate / 1e9).known("gb_s", r.slowed / 1e9).done();
}

std::string line_of(const PeerRow& r) {
    return InlineTable()
        .bytes("bytes", r.bytes)
        .number("gb_s", r.bandwidth / 1e9)
        .known("opposite_gb_s", r.opposite / 1e9)
        .done();
}

std::string line_of(const DiskRow& r) {
    return InlineTable()
        .flag("write", r.write)
        .bytes("bytes", r.bytes)
        .number("gb_s", r.bandwidth / 1e9)
        .done();
}

template <class Row>
void add_list(std::string& out, const char* key, const std::vector<Row>& rows) {
    if (rows.empty()) return;
    out += fmt::format("{} = [\n", key);
    for (const Row& r : rows) out += fmt::format("    {},\n", line_of(r));
    out += "]\n";
}

std::string machine_table(const MeasuredOn& m) {
    std::string out = "[measured.machine]\n";
    const auto text = [&](const char* key, const std::string& value) {
        if (!value.empty()) out += fmt::format("{} = {}\n", key, toml_text(value));
    };
    text("device", m.device);
    text("date", m.date);
    text("driver", m.driver);
    text("cuda", m.cuda);
    text("torch", m.torch);
    text("cudnn", m.cudnn);
    text("like", m.like);
    if (m.multiprocessors > 0) out += fmt::format("multiprocessors = {}\n", m.multiprocessors);
    if (m.gpus > 0) out += fmt::format("gpus = {}\n", m.gpus);
    const auto bytes = [&](const char* key, Bytes value) {
        if (value.count() > 0) out += fmt::format("{} = {}\n", key, value.count());
    };
    bytes("memory", m.memory);
    bytes("library_memory", m.library_memory);
    bytes("host_memory", m.host_memory);
    if (m.launch_us > 0) out += fmt::format("launch_us = {}\n", figure(m.launch_us));
    if (m.pin_s_per_gib > 0) out += fmt::format("pin_s_per_gib = {}\n", figure(m.pin_s_per_gib));
    return out;
}

}  // namespace

std::string write_measured(const Measured& m) {
    if (m == Measured{}) return {};
    std::string out = "[measured]\n";
    add_list(out, "gemm", m.gemm);
    add_list(out, "gemm_accumulate", m.gemm_accumulate);
    add_list(out, "attention", m.attention);
    add_list(out, "memory", m.memory);
    add_list(out, "transfers", m.transfers);
    add_list(out, "copies", m.copies);
    add_list(out, "beside", m.beside);
    add_list(out, "peer", m.peer);
    add_list(out, "disk", m.disk);
    if (!m.machine.device.empty()) out += "\n" + machine_table(m.machine);
    return out;
}

}  // namespace headroom
