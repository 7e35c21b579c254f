#include "calibrate/shapes.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/units.h"

namespace headroom::engine {
namespace {

// Published configurations (models/llm).
constexpr Dims kQwen05{896, 14, 2, 64, 4864, 151936, true}, kQwen15{1536, 12, 2, 128, 8960, 151936, true},
    kQwen3{2048, 16, 2, 128, 11008, 151936, true}, kQwen7{3584, 28, 4, 128, 18944, 152064, true},
    kQwen14{5120, 40, 8, 128, 13824, 152064, true}, kLlama1{2048, 32, 8, 64, 8192, 128256, false},
    kMistral7{4096, 32, 8, 128, 14336, 32768, false};
// Small enough for a processor.
constexpr Dims kTiny{256, 4, 2, 64, 768, 4096, true}, kSmall{512, 8, 2, 64, 1536, 8192, false};

constexpr int64_t kBlock = 128;  // queries that select together

class GemmList {
public:
    void add(GemmForm form, int64_t m, int64_t n, int64_t k) {
        if (!seen_.insert({static_cast<int>(form), m, n, k}).second) return;
        rows_.push_back({m, n, k, 0, RowUse::fit, form});
    }
    std::vector<GemmRow> done() {
        for (size_t i = 3; i < rows_.size(); i += 5) rows_[i].use = RowUse::check;
        return std::move(rows_);
    }

private:
    std::set<std::tuple<int, int64_t, int64_t, int64_t>> seen_;
    std::vector<GemmRow> rows_;
};

void add_layer(const Dims& d, int64_t tokens, GemmList& gemm, GemmList& accumulate) {
    const int64_t H = d.hidden, I = d.inner;
    gemm.add(d.bias ? GemmForm::bias : GemmForm::forward, tokens, d.qkv(), H);
    gemm.add(GemmForm::residual, tokens, H, d.q());
    gemm.add(GemmForm::forward, tokens, 2 * I, H);
    gemm.add(GemmForm::residual, tokens, H, I);
    gemm.add(GemmForm::data_gradient, tokens, I, H);
    gemm.add(GemmForm::data_gradient, tokens, H, 2 * I);
    gemm.add(GemmForm::data_gradient, tokens, d.q(), H);
    gemm.add(GemmForm::data_gradient, tokens, H, d.qkv());
    accumulate.add(GemmForm::forward, H, I, tokens);
    accumulate.add(GemmForm::forward, 2 * I, H, tokens);
    accumulate.add(GemmForm::forward, H, d.q(), tokens);
    accumulate.add(GemmForm::forward, d.qkv(), H, tokens);
}

void add_head(const Dims& d, int64_t rows, GemmList& gemm, GemmList& accumulate) {
    gemm.add(GemmForm::forward, rows, d.vocabulary, d.hidden);
    gemm.add(GemmForm::data_gradient, rows, d.hidden, d.vocabulary);
    accumulate.add(GemmForm::forward, d.vocabulary, d.hidden, rows);
}

void add_gemms(const std::vector<Dims>& models, const std::vector<int64_t>& chunks,
               const std::vector<int64_t>& tiles, Shapes& out) {
    GemmList gemm, accumulate;
    for (const Dims& d : models) {
        for (const int64_t tokens : chunks) add_layer(d, tokens, gemm, accumulate);
        for (const int64_t rows : tiles) add_head(d, rows, gemm, accumulate);
    }
    out.gemm = gemm.done();
    out.gemm_accumulate = accumulate.done();
}

AttentionRow attention_row(const Dims& d, int64_t queries, int64_t keys, bool causal, int32_t blocks = 1) {
    AttentionRow r;
    r.queries = queries;
    r.keys = keys;
    r.heads = static_cast<int32_t>(d.heads);
    r.kv_heads = static_cast<int32_t>(d.kv_heads);
    r.head_dim = static_cast<int32_t>(d.head_dim);
    r.causal = causal;
    r.blocks = blocks;
    return r;
}

void hold_out(std::vector<AttentionRow>& rows) {
    for (size_t i = 3; i < rows.size(); i += 5) rows[i].use = RowUse::check;
}

// The past: every query sees every key, at most `pairs` of both.
void add_past(const Dims& d, const std::vector<int64_t>& chunks, const std::vector<int64_t>& keys,
              int64_t pairs, Shapes& out) {
    for (const int64_t q : chunks) {
        for (const int64_t kv : keys) {
            if (q * kv <= pairs) out.attention.push_back(attention_row(d, q, kv, false));
        }
    }
}
void add_own(const Dims& d, const std::vector<int64_t>& chunks, Shapes& out) {
    for (const int64_t q : chunks) out.attention.push_back(attention_row(d, q, q, true));
}
// Pages that blocks of queries selected: `keys` of each block's own.
void add_blocks(const Dims& d, const std::vector<int64_t>& chunks, const std::vector<int64_t>& keys,
                Shapes& out) {
    for (const int64_t q : chunks) {
        for (const int64_t kv : keys) {
            out.attention.push_back(attention_row(d, kBlock, kv, false, static_cast<int32_t>(q / kBlock)));
            out.attention.back().use = RowUse::record;
        }
    }
}

constexpr const char* kByChunk[] = {"embed",
                                    "norm",
                                    "post_norm",
                                    "norm_backward",
                                    "rope",
                                    "rope.store",
                                    "rope_backward",
                                    "merge",
                                    "activation",
                                    "activation_backward",
                                    "page_means",
                                    "embed_backward",
                                    "bias_gradient",
                                    "copy",
                                    "zero",
                                    "accumulate_kv_gradients.add",
                                    "accumulate_kv_gradients.add_bf16",
                                    "accumulate_kv_gradients.copy"};
constexpr const char* kOfBlocks[] = {"gather_pages", "accumulate_kv_gradients.sum", "select"};
constexpr const char* kOfUpdate[] = {"gradient_norm",       "update.adamw",     "update.adamw_bf16",
                                     "update.adamw_master", "update.adamw8bit", "update.sgd"};

void add_transfers(const std::vector<int64_t>& pieces, int64_t bytes, int64_t most, bool both, Shapes& out) {
    for (const int64_t piece : pieces) {
        const int64_t count = std::clamp<int64_t>(bytes / piece, 2, most);
        for (const PageCopy how : {PageCopy::loop, PageCopy::batch, PageCopy::gather}) {
            for (const bool to_device : {true, false}) {
                TransferRow r;
                r.to_device = to_device;
                r.how = how;
                r.piece = piece;
                r.pieces = count;
                out.transfers.push_back(r);
            }
            if (!both || piece < kMiB) continue;
            TransferRow r = out.transfers.back();
            r.to_device = true;
            r.opposite = 1;
            out.transfers.push_back(r);
        }
    }
}

Shapes of_gpu(bool quick) {
    Shapes s;
    const std::vector<Dims> models =
        quick ? std::vector<Dims>{kQwen05, kQwen7}
              : std::vector<Dims>{kQwen7, kQwen05, kQwen15, kQwen3, kQwen14, kLlama1, kMistral7};
    const std::vector<int64_t> chunks =
        quick ? std::vector<int64_t>{4096, 2048} : std::vector<int64_t>{4096, 1024, 2048, 8192, 16384};
    add_gemms(models, chunks,
              quick ? std::vector<int64_t>{1024} : std::vector<int64_t>{512, 1024, 2048, 4096}, s);
    // The largest shapes of one model, the usual ones of the others.
    const int64_t pairs = quick ? int64_t{4096} * 8192 : int64_t{4096} * 131072;
    add_past(kQwen7, chunks, {8192, 1024, 2048, 4096, 16384, 32768, 65536, 131072}, pairs, s);
    for (const Dims& d : models) {
        add_own(d, chunks, s);
        if (d.hidden != kQwen7.hidden) add_past(d, {2048, 4096, 8192}, {2048, 8192, 32768}, pairs / 4, s);
    }
    // Chunks that are no power of two, keys that no tile divides.
    if (!quick) add_past(kQwen7, {1536, 3072, 6144, 12288}, {3072, 8192, 10000}, pairs, s);
    if (!quick) add_own(kQwen7, {1536, 3072, 6144, 12288}, s);
    hold_out(s.attention);
    add_blocks(kQwen7, quick ? std::vector<int64_t>{2048} : std::vector<int64_t>{4096, 2048, 8192},
               {512, 2048, 8192}, s);
    if (!quick) {
        for (const Dims& d : {kQwen05, kLlama1, kMistral7, kQwen14}) add_blocks(d, {4096}, {8192}, s);
    }
    const std::vector<Dims> some =
        quick ? std::vector<Dims>{kQwen7} : std::vector<Dims>{kQwen7, kQwen05, kLlama1, kQwen14};
    for (const Dims& d : some) {
        for (const int64_t tokens :
             quick ? std::vector<int64_t>{4096} : std::vector<int64_t>{4096, 1024, 2048, 16384}) {
            for (const char* kernel : kByChunk) s.memory.push_back({kernel, d, tokens});
        }
        for (const int64_t tokens : {4096, 2048}) {
            for (const char* kernel : kOfBlocks) s.memory.push_back({kernel, d, tokens});
        }
        for (const int64_t rows : {512, 1024, 4096}) s.memory.push_back({"loss", d, rows});
    }
    // "Tokens" of an update are its parameters.
    for (const int64_t parameters : {1 << 20, 1 << 24, 1 << 27}) {
        for (const char* kernel : kOfUpdate) s.memory.push_back({kernel, kQwen7, parameters});
    }
    const std::vector<int64_t> pieces =
        quick ? std::vector<int64_t>{128 * kKiB, kMiB, 64 * kMiB}
              : std::vector<int64_t>{16 * kKiB, 32 * kKiB, 64 * kKiB, 128 * kKiB, 256 * kKiB, 512 * kKiB,
                                     kMiB,      4 * kMiB,  16 * kMiB, 64 * kMiB,  256 * kMiB};
    add_transfers(pieces, 256 * kMiB, 2048, true, s);
    return s;
}

Shapes of_cpu(bool quick) {
    Shapes s;
    const std::vector<Dims> models = quick ? std::vector<Dims>{kTiny} : std::vector<Dims>{kTiny, kSmall};
    const std::vector<int64_t> chunks =
        quick ? std::vector<int64_t>{128, 256} : std::vector<int64_t>{128, 256, 512, 1024};
    add_gemms(models, chunks, quick ? std::vector<int64_t>{64} : std::vector<int64_t>{128, 256}, s);
    for (const Dims& d : models) {
        add_past(d, chunks, quick ? std::vector<int64_t>{256} : std::vector<int64_t>{256, 1024}, 1 << 20, s);
        add_own(d, chunks, s);
    }
    hold_out(s.attention);
    add_blocks(kTiny, {256}, {256}, s);
    for (const Dims& d : models) {
        for (const int64_t tokens : chunks) {
            for (const char* kernel : kByChunk) s.memory.push_back({kernel, d, tokens});
        }
        for (const char* kernel : kOfBlocks) s.memory.push_back({kernel, d, 256});
        s.memory.push_back({"loss", d, 64});
    }
    for (const char* kernel : kOfUpdate) s.memory.push_back({kernel, kTiny, quick ? 1 << 16 : 1 << 20});
    add_transfers(quick ? std::vector<int64_t>{64 * kKiB, kMiB}
                        : std::vector<int64_t>{16 * kKiB, 256 * kKiB, kMiB, 16 * kMiB},
                  (quick ? 4 : 64) * kMiB, 256, false, s);
    return s;
}

}  // namespace

Shapes shapes_of(Extent extent) {
    switch (extent) {
        case Extent::full:
            return of_gpu(false);
        case Extent::quick:
            return of_gpu(true);
        case Extent::cpu:
            return of_cpu(false);
        case Extent::cpu_quick:
            return of_cpu(true);
    }
    return {};
}

Shapes checked_shapes(bool gpu) {
    Shapes s;
    const Dims& d = gpu ? kQwen7 : kTiny;
    const int64_t tokens = gpu ? 4096 : 256;
    s.gemm = {{tokens, 2 * d.inner, d.hidden}};
    s.attention = {attention_row(d, tokens, gpu ? 8192 : 256, false)};
    TransferRow r;
    r.to_device = true;
    r.piece = kMiB;
    r.pieces = gpu ? 256 : 4;
    s.transfers = {r};
    if (gpu) {  // what differs most from one machine to another
        r.piece = 128 * kKiB;
        r.pieces = 2048;
        s.transfers.push_back(r);
    }
    return s;
}

}  // namespace headroom::engine
