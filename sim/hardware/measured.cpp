#include "hardware/measured.h"

#include "base/toml.h"
#include "hardware/measured_table.h"

namespace headroom {
namespace {

void read_use(FieldReader& f, RowUse& out) {
    size_t index = 0;
    f.optional().choice("use", {"fit", "check", "record"}, index);
    f.required();
    out = static_cast<RowUse>(index);
}

void read_gemm(FieldReader& f, GemmRow& row) {
    f.whole("m", row.m, kSize);
    f.whole("n", row.n, kSize);
    f.whole("k", row.k, kSize);
    f.number("tflops", row.tflops, kAboveZero);
    read_use(f, row.use);
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
}

void read_copy(FieldReader& f, CopyRow& row) {
    Bytes piece;
    f.flag("to_device", row.to_device);
    f.bytes("piece", piece);
    f.number("gb_s", row.bandwidth, kAboveZero, 1e9);
    row.bytes = piece.count();
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

void read_measured(FieldReader& f, Measured& out) {
    f.optional().list("gemm", out.gemm, read_gemm);
    f.list("gemm_accumulate", out.gemm_accumulate, [](FieldReader& row, GemmRow& read) {
        row.number("tflops", read.tflops, kAboveZero);
        read_use(row, read.use);
    });
    f.list("attention", out.attention, read_attention);
    f.list("copies", out.copies, read_copy);
}

Result<Measured> parse_measured(std::string_view toml, const std::string& where) {
    HEADROOM_TRY(ConfigTable root, parse_toml(toml, where));
    Measured out;
    HEADROOM_TRY(std::optional<ConfigTable> table, root.get<ConfigTable>("measured"));
    if (!table) return out;
    FieldReader fields(std::move(*table));
    read_measured(fields, out);
    HEADROOM_CHECK(fields.finish());
    return out;
}

}  // namespace headroom
