// Bounds of each decision, and the relations between them.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "plan/check.h"
#include "plan/names.h"

namespace headroom {
namespace {

using Where = const std::string&;

tl::unexpected<Error> wrong(Where where, const std::string& key, int64_t found, std::string allowed) {
    return fail(key_place(where, key), fmt::format("{}", found), std::move(allowed));
}

Result<void> check_divides(Where where, int64_t ranks, int64_t size, const char* what) {
    if (size % ranks == 0) return {};
    return wrong(where, "plan.tensor_ranks", ranks,
                 fmt::format("a divisor of the model's {} {}", size, what));
}

Result<void> check_ranks(const Plan& p, Where where) {
    const Decisions& d = p.decisions;
    HEADROOM_CHECK(check_range(where, "plan.tensor_ranks", d.tensor_ranks, 1, p.gpus, "GPUs"));
    HEADROOM_CHECK(check_range(where, "plan.ring_ranks", d.ring_ranks, 1, p.gpus, "GPUs"));
    if (d.tensor_ranks * d.ring_ranks != p.gpus) {
        return fail(key_place(where, "plan.tensor_ranks"),
                    fmt::format("{} x {} ring_ranks", d.tensor_ranks, d.ring_ranks),
                    fmt::format("degrees whose product is the number of GPUs, {}", p.gpus));
    }
    HEADROOM_CHECK(check_divides(where, d.tensor_ranks, p.model.heads, "query heads"));
    HEADROOM_CHECK(check_divides(where, d.tensor_ranks, p.model.kv_heads, "KV heads"));
    HEADROOM_CHECK(check_divides(where, d.tensor_ranks, p.model.intermediate, "MLP columns"));
    return check_divides(where, d.tensor_ranks, p.model.experts.intermediate, "expert columns");
}

Result<void> check_pages(const Plan& p, Where where) {
    const Decisions& d = p.decisions;
    const int64_t page = d.page.count(), chunk = d.chunk.count(), segment = d.segment.count();
    if (page < 8 || page > 4096 || page % 8 != 0) {
        return wrong(where, "plan.page", page, "a multiple of 8 from 8 to 4096 tokens");
    }
    if (chunk < page || chunk % page != 0) {
        return wrong(where, "plan.chunk", chunk,
                     fmt::format("a positive multiple of the page, {} tokens", page));
    }
    // A chunk that holds the whole context has nothing before it, so only longer contexts are bounded.
    const int64_t longest = std::max(kMaxChunk, round_up(p.context.count(), page));
    if (chunk > longest) return wrong(where, "plan.chunk", chunk, fmt::format("at most {} tokens", longest));
    if (chunk > kMaxChunk && chunk < p.context.count()) {
        return wrong(where, "plan.chunk", chunk,
                     fmt::format("at most {} tokens, or the whole context in one chunk", kMaxChunk));
    }
    const int64_t parts = checked_mul(checked_mul(p.chunks(), p.model.layer_count()), p.recipe.batch);
    if (parts > kMaxChunkLayers) {
        return fail(
            key_place(where, "plan.chunk"),
            fmt::format("{} tokens cut {} into {} chunks of {} layers, {} in all", chunk, p.context.count(),
                        format_integer(p.chunks()), p.model.layer_count(), format_integer(parts)),
            fmt::format("at most {} chunk-layers a step: use a larger chunk",
                        format_integer(kMaxChunkLayers)));
    }
    if (segment < page || segment % page != 0 || segment > kMaxContext) {
        return wrong(where, "plan.segment", segment,
                     fmt::format("a positive multiple of the page, {} tokens, up to {}", page, kMaxContext));
    }
    return {};
}

Result<void> check_residency(const Plan& p, Where where, const char* key, const Residency& r) {
    const std::string name = std::string("plan.") + key;
    HEADROOM_CHECK(
        check_range(where, name + ".device_layers", r.device_layers, 0, p.model.layer_count(), "layers"));
    HEADROOM_CHECK(check_range(where, name + ".device_chunks", r.device_chunks, 0, p.chunks(),
                               "chunks (all that this context has)"));
    return check_range(where, name + ".disk_chunks", r.disk_chunks, 0, p.chunks() - r.device_chunks,
                       "chunks (those of this context that are not on the device)");
}

Result<void> check_dtype(Where where, const char* key, Dtype dtype, std::initializer_list<Dtype> allowed) {
    if (std::find(allowed.begin(), allowed.end(), dtype) != allowed.end()) return {};
    std::vector<std::string> list;
    for (Dtype a : allowed) list.emplace_back(name_of(a));
    return fail(key_place(where, std::string("plan.") + key), "'" + std::string(name_of(dtype)) + "'",
                one_of(list));
}

Result<void> check_travel(const Plan& p, Where where) {
    const Decisions& d = p.decisions;
    HEADROOM_CHECK(check_range(where, "plan.staging_slots", d.staging_slots, 1, 1024, "slots"));
    HEADROOM_CHECK(check_range(where, "plan.prefetch", d.prefetch, 0, d.staging_slots - 1,
                               fmt::format("(less than the {} staging_slots)", d.staging_slots)));
    HEADROOM_CHECK(check_range(where, "plan.staging_slot", d.staging_slot.count(), page_bytes(p).count(),
                               p.hardware.device_memory.count(),
                               "bytes (from K and V of one page to the device memory)"));
    return check_range(where, "plan.page_cache", d.page_cache.count(), 0, p.hardware.device_memory.count(),
                       "bytes");
}

}  // namespace

Result<void> check_decisions(const Plan& p, const std::string& where) {
    const Decisions& d = p.decisions;
    if (d.strategy.empty())
        return fail(key_place(where, "plan.strategy"), "an empty name", "a strategy's name");
    HEADROOM_CHECK(check_ranks(p, where));
    HEADROOM_CHECK(check_pages(p, where));
    HEADROOM_CHECK(
        check_dtype(where, "weights_dtype", d.weights, {Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}));
    HEADROOM_CHECK(check_dtype(where, "kv_dtype", d.kv,
                               {Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::fp8}));
    HEADROOM_CHECK(
        check_dtype(where, "kv_gradients_dtype", d.kv_gradients, {Dtype::fp64, Dtype::fp32, Dtype::bf16}));
    HEADROOM_CHECK(check_residency(p, where, "kv", d.kv_residency));
    HEADROOM_CHECK(check_residency(p, where, "kv_gradients", d.kv_gradient_residency));
    HEADROOM_CHECK(check_travel(p, where));
    HEADROOM_CHECK(check_range(where, "plan.wavefront", d.wavefront, 1, 2, "chunks in flight"));
    HEADROOM_CHECK(
        check_range(where, "plan.loss_tile", d.loss_tile.count(), 0, kMaxContext, "tokens (0: all at once)"));
    // Op::piece counts a chunk's tiles.
    const int64_t chunk = std::min(d.chunk.count(), p.context.count());
    const int64_t least_tile = d.mlp_tile.count() > 0 ? ceil_div(chunk, 0xffff) : 0;
    HEADROOM_CHECK(check_range(where, "plan.mlp_tile", d.mlp_tile.count(), least_tile, kMaxContext,
                               "tokens (0: all at once)"));
    return check_range(where, "plan.logits_fp32", d.logits_fp32, 0, 8, "copies");
}

}  // namespace headroom
