#include "search/estimator.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "program/page_traffic.h"
#include "search/estimator_parts.h"

namespace headroom {
namespace {

bool travels(const Residency& r, int64_t layers, int64_t chunks) {
    return r.device_layers < layers && r.device_chunks < chunks;
}

// Cache sizes that hit alike are one: the highest three bits.
int64_t coarse(int64_t pages) {
    const int64_t low = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(pages))) - 3;
    return low > 0 ? pages >> low << low : pages;
}

}  // namespace

Estimator::Estimator() = default;
Estimator::~Estimator() = default;

std::pair<double, double> Estimator::misses(const Plan& plan) {
    CachePages cache = cache_pages(plan);
    if (cache.fill == 0 && cache.gradient == 0) return {1, 1};
    cache.fill = coarse(cache.fill);
    cache.gradient = coarse(cache.gradient);
    Group& g = group_of(plan);
    const auto [at, fresh] = g.misses.try_emplace({cache.fill, cache.gradient}, 1.0, 1.0);
    if (!fresh) return at->second;
    const auto sums = [&](const CachePages& pages) {
        std::pair<double, double> sum;
        for (const PageMoves& m : all_moves(plan, selections(plan), pages)->front()) {
            sum.first += m.fill_host;
            sum.second += m.back_host + m.grad_load_host;
        }
        return sum;
    };
    const auto without = sums({}), with = sums(cache);
    if (without.first > 0) at->second.first = with.first / without.first;
    if (without.second > 0) at->second.second = with.second / without.second;
    return at->second;
}

void Estimator::set_link_speed(double factor) {
    if (factor == link_speed_) return;
    link_speed_ = factor;
    homes_.clear();
    last_homes_ = nullptr;
    last_group_ = nullptr;
}

void Estimator::set_bytes_only(bool bytes_only) {
    if (bytes_only_ && !bytes_only) last_group_ = nullptr;  // it may have no time
    bytes_only_ = bytes_only;
}

std::array<int64_t, kTiers> Estimator::need_bytes(const Plan& plan, const Group& g) {
    if (!by_chunks(plan)) return g.whole_need;
    const Homes& h = homes_of(plan);
    const Decisions& d = plan.decisions;
    const int64_t n = plan.chunks(), layers = plan.model.layer_count();
    const int64_t per_chunk = d.chunk.count() / d.page.count();
    const Residency &kv = d.kv_residency, &gr = d.kv_gradient_residency;
    std::array<int64_t, kTiers> need{};
    for (size_t t = 0; t < kTiers; ++t) need[t] = g.standing[t] + h.standing[t];
    need[0] += g.scratch;
    if (residency_is_free(plan)) {
        const int64_t more = d.staging_slots - 2;
        need[0] += travels(kv, layers, n - 1) ? more * g.kv_slot : -g.kv_slots;
        need[0] += travels(gr, layers, n - 1) ? more * g.gradient_slot : -g.gradient_slots;
        if (g.sparse_layers > 0) need[0] += d.page_cache.count();
    }
    need[0] += (d.staging_slots - 2) * g.input_slots;

    // Pools. K and V of a chunk live until the chunk after it has run backward; gradient pages from first
    // touch.
    const bool layer_major = !residency_is_free(plan);
    const int64_t pool_layers = layer_major ? 1 : layers;
    const int64_t kv_layers = layer_major ? 1 : kv.device_layers,
                  gr_layers = layer_major ? 1 : gr.device_layers;
    std::array<int64_t, kTiers> pool{};
    // Gradient pages of a layer appear just before it lets go of the chunk whose K and V no one reads again:
    // that is one layer's K and V more than what is left when the chunk is done. All at once, they stand
    // beside all K and V.
    const bool at_once = d.gradient_pages == GradientPages::all_at_once;
    // Where the sparse layers' gradient pages have several homes, their numbers there.
    const bool several_homes =
        !g.live_gradients.empty() && !at_once && (gr.device_chunks > 0 || gr.disk_chunks > 0);
    const Selected* const by_owner = several_homes ? &selected(plan) : nullptr;
    const auto placed = [&](int64_t c) {
        const std::vector<int64_t>& before =
            by_owner->live_before[static_cast<size_t>((n - 1 - c) / sample_stride(n))];
        const int64_t near = std::min(gr.device_chunks, n), far = std::max(near, n - gr.disk_chunks);
        const int64_t on_device = before[static_cast<size_t>(near)],
                      off_disk = before[static_cast<size_t>(far)];
        return std::array<int64_t, kTiers>{on_device, off_disk - on_device, before.back() - off_disk};
    };
    const auto live = [&](int64_t c) {  // at the peak of chunk c's backward pass
        std::array<int64_t, kTiers> bytes{};
        const int64_t kv_chunks = at_once || layer_major ? c : std::max<int64_t>(0, c - 1);
        const int64_t on_disk = std::clamp<int64_t>(kv_chunks - (n - kv.disk_chunks), 0, kv_chunks);
        const int64_t near = std::min(kv.device_chunks, kv_chunks);
        bytes[0] += (kv_layers * kv_chunks + (pool_layers - kv_layers) * near) * per_chunk * g.kv_page;
        bytes[2] += (pool_layers - kv_layers) * on_disk * per_chunk * g.kv_page;
        bytes[1] += (pool_layers - kv_layers) * (kv_chunks - near - on_disk) * per_chunk * g.kv_page;
        if (!at_once && c > 0 && !layer_major) {
            const bool here = kv_layers == pool_layers || c - 1 < kv.device_chunks;
            const size_t tier = here ? 0 : c - 1 >= n - kv.disk_chunks ? 2 : 1;
            bytes[tier] += per_chunk * g.kv_page;
            if (kv_layers > 0 && tier != 0) bytes[0] += per_chunk * g.kv_page;
        }
        // Gradient pages of sparse layers (alike), then of each dense one; device layers are spread evenly.
        const double page = static_cast<double>(g.gradient_page);
        double pages = 0;
        if (several_homes) {
            const double of_each = page * static_cast<double>(g.sparse_layers) / static_cast<double>(layers);
            const std::array<int64_t, kTiers> at = placed(c);
            for (size_t t = 0; t < kTiers; ++t) {
                const double here = t == 0 ? static_cast<double>(gr_layers * (at[0] + at[1] + at[2])) : 0;
                bytes[t] += static_cast<int64_t>(
                    of_each * (here + static_cast<double>((pool_layers - gr_layers) * at[t])));
            }
        } else if (!g.live_gradients.empty()) {
            pages += static_cast<double>(g.live_gradients[static_cast<size_t>(c)] * g.sparse_layers);
        }
        for (const int64_t w : g.window_pages)
            pages += static_cast<double>(std::min(w, (at_once ? c + 1 : std::min(c + 1, n - 1)) * per_chunk));
        pages /= static_cast<double>(layers);
        const double device_share = static_cast<double>(gr_layers),
                     off = static_cast<double>(pool_layers - gr_layers);
        const double near_share =
            n > 1 ? static_cast<double>(std::min(gr.device_chunks, n - 1)) / static_cast<double>(n - 1) : 0;
        const double disk_share =
            n > 1 ? static_cast<double>(std::min(gr.disk_chunks, n - 1)) / static_cast<double>(n - 1) : 0;
        bytes[0] += static_cast<int64_t>(page * pages * (device_share + off * near_share));
        bytes[2] += static_cast<int64_t>(page * pages * off * disk_share);
        bytes[1] += static_cast<int64_t>(page * pages * off * (1 - near_share - disk_share));
        return bytes;
    };
    const int64_t stride = g.live_gradients.empty() ? n : sample_stride(n);
    for (int64_t c = n - 1; c >= 0; c -= stride) {
        const auto bytes = live(c);
        for (size_t t = 0; t < kTiers; ++t) pool[t] = std::max(pool[t], bytes[t]);
    }
    // Before the first gradient page: K and V of all chunks but the last.
    const int64_t on_disk = std::clamp<int64_t>(kv.disk_chunks - 1, 0, n - 1),
                  near = std::min(kv.device_chunks, n - 1);
    const int64_t away = (pool_layers - kv_layers) * per_chunk * g.kv_page;
    pool[0] = std::max(pool[0], kv_layers * (n - 1) * per_chunk * g.kv_page + away * near);
    pool[1] = std::max(pool[1], away * (n - 1 - near - on_disk));
    pool[2] = std::max(pool[2], away * on_disk);
    for (size_t t = 0; t < kTiers; ++t) need[t] += pool[t];
    if (d.attention_outputs == AttentionOutputs::host) need[1] += layers * (n - 1) * g.output_bytes;
    if (d.attention_outputs == AttentionOutputs::device) need[0] += layers * (n - 1) * g.output_bytes;
    if (layer_major) {
        need[d.activations == Activations::checkpoint_host ? 1 : 0] += (layers + 1) * n * g.hidden_bytes;
    } else if (d.activations == Activations::checkpoint_host) {
        need[1] += layers * g.hidden_bytes;
    }

    return need;
}

std::array<int64_t, kTiers> Estimator::need_bytes(const Plan& plan) {
    return need_bytes(plan, group_of(plan));
}

int64_t Estimator::host_bytes(const Plan& plan, const Plan& like) {
    return need_bytes(plan, group_of(like))[1];
}

Score Estimator::score(const Plan& plan) {
    const Group& g = group_of(plan);
    Score score;
    score.need_bytes = need_bytes(plan, g);
    if (bytes_only_) return score;
    if (!by_chunks(plan)) {
        const int64_t once = std::min(g.whole_ns, homes_of(plan).setup_and_update_ns);
        score.step_ns = once + (g.whole_ns - once) * plan.recipe.batch;
        return score;
    }
    const Homes& h = homes_of(plan);
    const Decisions& d = plan.decisions;
    const int64_t n = plan.chunks(), layers = plan.model.layer_count();
    const bool layer_major = !residency_is_free(plan);
    const Residency &kv = d.kv_residency, &gr = d.kv_gradient_residency;
    double fill_miss = 1, back_miss = 1;
    if (g.sparse_layers > 0 && d.page_cache.count() > 0) std::tie(fill_miss, back_miss) = misses(plan);
    const size_t how = static_cast<size_t>(d.page_copy);

    // Time: the busiest stream of each chunk.
    const double kv_share =
        layer_major ? 0 : static_cast<double>(layers - kv.device_layers) / static_cast<double>(layers);
    const double gr_share =
        layer_major ? 0 : static_cast<double>(layers - gr.device_layers) / static_cast<double>(layers);
    double total = 0;
    for (const bool fill : {true, false}) {
        for (const auto& [b, weight] : fill ? g.fill : g.gradient) {
            const double miss = fill ? fill_miss : back_miss;
            const double in =
                (miss * kv_share * b.pages_in[how] + miss * gr_share * b.gradients_in[how] + b.other_in) /
                    link_speed_ +
                (layer_major
                     ? static_cast<double>(fill ? h.fill_in_ns : h.gradient_in_ns) / static_cast<double>(n)
                     : static_cast<double>(fill ? h.fill_in_ns : h.gradient_in_ns + h.gradients_in_ns));
            const double out =
                (kv_share * b.pages_out[how] + gr_share * b.gradients_out[how] + b.other_out) / link_speed_ +
                (fill ? 0.0
                      : static_cast<double>(h.gradients_out_ns) /
                            (layer_major ? static_cast<double>(n) : 1.0));
            total += weight * std::max({b.compute, in, out, b.peer, b.disk});
        }
    }
    score.step_ns = h.setup_and_update_ns + static_cast<int64_t>(total) * plan.recipe.batch;
    return score;
}

}  // namespace headroom
