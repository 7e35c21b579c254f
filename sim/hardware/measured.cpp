#include "hardware/measured.h"

#include "base/toml.h"
#include "hardware/measured_table.h"

namespace headroom {
namespace {

constexpr double kMicro = 1e-6, kGiga = 1e9;
// Counts that are no size of an operand: pieces, bytes.
constexpr Bounds kCount{1, 1e15, "a whole number from 1 to 1e15"};
constexpr Bounds kSpread{0, 1e6, "a number from 0 to 1000000"};

void read_use(FieldReader& f, RowUse& out) {
    size_t index = static_cast<size_t>(out);
    f.optional().choice("use", {"fit", "check", "record"}, index);
    f.required();
    out = static_cast<RowUse>(index);
}
void read_spread(FieldReader& f, double& out) {
    f.optional().number("spread", out, kSpread);
    f.required();
}

void read_gemm(FieldReader& f, GemmRow& row) {
    f.whole("m", row.m, kSize);
    f.whole("n", row.n, kSize);
    f.whole("k", row.k, kSize);
    f.number("tflops", row.tflops, kAboveZero);
    size_t form = 0;
    f.optional().choice("form", {"forward", "bias", "residual", "data_gradient"}, form);
    f.required();
    row.form = static_cast<GemmForm>(form);
    read_use(f, row.use);
    read_spread(f, row.spread);
}

// The shape may be missing, as a whole.
void read_gemm_accumulate(FieldReader& f, GemmRow& row) {
    f.number("tflops", row.tflops, kAboveZero);
    f.optional().whole("m", row.m, kSize);
    if (row.m > 0) f.required();
    f.whole("n", row.n, kSize);
    f.whole("k", row.k, kSize);
    if (f.ok() && row.m == 0 && row.n + row.k > 0) f.refuse("m", "is missing", "m, n and k, or none of them");
    read_use(f, row.use);
    read_spread(f, row.spread);
}

void read_attention(FieldReader& f, AttentionRow& row) {
    f.text("library", row.library);
    f.whole("queries", row.queries, kSize);
    f.whole("keys", row.keys, kSize);
    f.whole("heads", row.heads, kSize);
    f.whole("kv_heads", row.kv_heads, kSize);
    f.whole("head_dim", row.head_dim, kSize);
    f.optional().whole("blocks", row.blocks, kSize);
    f.flag("causal", row.causal);
    f.number("forward", row.forward, kAboveZero);
    f.number("backward", row.backward, kAboveZero);
    f.number("deterministic", row.deterministic, kAboveZero);
    f.number("workspace_mib", row.workspace_mib, kFromZero);
    f.number("deterministic_workspace_mib", row.deterministic_workspace_mib, kFromZero);
    read_use(f, row.use);
    read_spread(f, row.spread);
}

void read_memory(FieldReader& f, MemoryRow& row) {
    f.text("kernel", row.kernel);
    f.optional().whole("rows", row.rows, kCount);
    f.whole("columns", row.columns, kCount);
    f.required().whole("bytes", row.bytes, kCount);
    f.number("us", row.seconds, kAboveZero, kMicro);
    read_use(f, row.use);
    read_spread(f, row.spread);
}

void read_transfer(FieldReader& f, TransferRow& row) {
    size_t how = 0;
    Bytes piece;
    f.flag("to_device", row.to_device);
    f.choice("how", {"loop", "batch", "gather"}, how);
    f.bytes("piece", piece);
    f.whole("pieces", row.pieces, kCount);
    f.number("gb_s", row.bandwidth, kAboveZero, kGiga);
    f.optional().number("opposite_gb_s", row.opposite, kAboveZero, kGiga);
    f.required();
    row.how = static_cast<PageCopy>(how);
    row.piece = piece.count();
    read_use(f, row.use);
    read_spread(f, row.spread);
}

void read_copy(FieldReader& f, CopyRow& row) {
    Bytes piece;
    f.flag("to_device", row.to_device);
    f.bytes("piece", piece);
    f.number("gb_s", row.bandwidth, kAboveZero, kGiga);
    row.bytes = piece.count();
}

void read_beside(FieldReader& f, BesideRow& row) {
    f.text("victim", row.victim);
    f.text("work", row.work);
    f.text("beside", row.beside);
    f.number("alone_us", row.alone, kAboveZero, kMicro);
    f.number("us", row.shared, kAboveZero, kMicro);
    f.optional().number("alone_gb_s", row.rate, kAboveZero, kGiga);
    f.number("gb_s", row.slowed, kAboveZero, kGiga);
    f.required();
}

void read_peer(FieldReader& f, PeerRow& row) {
    Bytes bytes;
    f.bytes("bytes", bytes);
    f.number("gb_s", row.bandwidth, kAboveZero, kGiga);
    f.optional().number("opposite_gb_s", row.opposite, kAboveZero, kGiga);
    f.required();
    row.bytes = bytes.count();
}

void read_disk(FieldReader& f, DiskRow& row) {
    Bytes bytes;
    f.flag("write", row.write);
    f.bytes("bytes", bytes);
    f.number("gb_s", row.bandwidth, kAboveZero, kGiga);
    row.bytes = bytes.count();
}

void read_machine(FieldReader& f, MeasuredOn& m) {
    f.text("device", m.device);
    f.text("date", m.date);
    f.optional().text("driver", m.driver);
    f.text("cuda", m.cuda);
    f.text("torch", m.torch);
    f.text("cudnn", m.cudnn);
    f.text("like", m.like);
    f.whole("multiprocessors", m.multiprocessors, kSize);
    f.whole("gpus", m.gpus, kSize);
    f.bytes("memory", m.memory);
    f.bytes("library_memory", m.library_memory);
    f.bytes("host_memory", m.host_memory);
    f.number("launch_us", m.launch_us, kAboveZero);
    f.number("pin_s_per_gib", m.pin_s_per_gib, kAboveZero);
    f.required();
}

}  // namespace

std::string_view name_of(RowUse use) {
    switch (use) {
        case RowUse::fit:
            return "fit";
        case RowUse::check:
            return "check";
        case RowUse::record:
            return "record";
    }
    return "unknown";
}

std::string_view name_of(GemmForm form) {
    switch (form) {
        case GemmForm::forward:
            return "forward";
        case GemmForm::bias:
            return "bias";
        case GemmForm::residual:
            return "residual";
        case GemmForm::data_gradient:
            return "data_gradient";
    }
    return "unknown";
}

void read_measured(FieldReader& f, Measured& out) {
    f.optional().table("machine", [&](FieldReader& t) { read_machine(t, out.machine); });
    f.list("gemm", out.gemm, read_gemm);
    f.list("gemm_accumulate", out.gemm_accumulate, read_gemm_accumulate);
    f.list("attention", out.attention, read_attention);
    f.list("memory", out.memory, read_memory);
    f.list("transfers", out.transfers, read_transfer);
    f.list("copies", out.copies, read_copy);
    f.list("beside", out.beside, read_beside);
    f.list("peer", out.peer, read_peer);
    f.list("disk", out.disk, read_disk);
}

Result<Measured> parse_measured(std::string_view text, const std::string& where) {
    HEADROOM_TRY(ConfigTable root, parse_toml(text, where));
    Measured out;
    HEADROOM_TRY(std::optional<ConfigTable> table, root.get<ConfigTable>("measured"));
    if (!table) return out;
    FieldReader fields(std::move(*table));
    read_measured(fields, out);
    HEADROOM_CHECK(fields.finish());
    return out;
}

}  // namespace headroom
