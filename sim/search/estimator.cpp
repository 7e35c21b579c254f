#include "search/estimator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "program/page_traffic.h"
#include "search/estimator_parts.h"

namespace headroom {
namespace {

bool travels(const Residency& r, int64_t layers, int64_t chunks) {
    return r.device_layers < layers && r.device_chunks < chunks;
}

}  // namespace

Estimator::Estimator() = default;
Estimator::~Estimator() = default;

// Counted at powers of two, and taken to be straight between them; pages on disk as if they were on the host,
// which hardly changes the shares and is the same count for any number of them.
std::pair<double, double> Estimator::misses(const Plan& plan) {
    const CachePages cache = cache_pages(plan);
    if (cache.fill == 0 && cache.gradient == 0) return {1, 1};
    Group& g = group_of(plan);
    const auto loads = [&](int64_t pages) {
        const auto [at, fresh] = g.loads.try_emplace(pages, 0.0, 0.0);
        if (fresh) {
            Plan no_disk = plan;
            no_disk.decisions.kv_residency.disk_chunks = no_disk.decisions.kv_gradient_residency.disk_chunks =
                0;
            for (const PageMoves& m : all_moves(no_disk, selections(plan), {pages, pages, 0})->front()) {
                at->second.first += m.fill_host;
                at->second.second += m.back_host + m.grad_load_host;
            }
        }
        return at->second;
    };
    const int64_t most = ceil_div(plan.context.count(), plan.decisions.page.count());
    const auto left = [&](int64_t pages, auto part) {
        const double without = loads(0).*part;
        if (pages == 0 || without == 0) return 1.0;
        pages = std::min(pages, most);
        const auto low = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(pages)));
        const double at_low = loads(low).*part;
        if (pages == low) return at_low / without;
        const double share = static_cast<double>(pages - low) / static_cast<double>(low);
        return std::lerp(at_low, loads(2 * low).*part, share) / without;
    };
    using Loads = std::pair<double, double>;
    return {left(cache.fill, &Loads::first), left(cache.gradient, &Loads::second)};
}

void Estimator::set_link_speed(double factor) {
    if (factor == link_speed_) return;
    link_speed_ = factor;
    homes_.clear();
    last_homes_ = nullptr;
    last_group_ = nullptr;
}

void Estimator::set_bytes_only(bool bytes_only) {
    if (bytes_only_ && !bytes_only) last_group_ = nullptr, last_homes_ = nullptr;  // they may have no time
    bytes_only_ = bytes_only;
}

// K and V of a chunk live until the chunk after it has run backward; gradient pages from first touch.
Estimator::Pools Estimator::pools_of(const Plan& plan, const Group& g) {
    const Decisions& d = plan.decisions;
    const int64_t n = plan.chunks(), layers = plan.model.layer_count();
    const Residency &kv = d.kv_residency, &gr = d.kv_gradient_residency;
    const bool layer_major = !residency_is_free(plan);
    // Gradient pages of a layer appear just before it lets go of the chunk whose K and V no one reads again:
    // that is one layer's K and V more than what is left when the chunk is done. All at once, they stand
    // beside all K and V.
    const bool at_once = d.gradient_pages == GradientPages::all_at_once;
    const int64_t per_chunk = d.chunk.count() / d.page.count();
    const double kv_chunk = static_cast<double>(per_chunk * g.kv_page);  // of one layer
    // Where the sparse layers' gradient pages have several homes, their numbers there.
    const bool several_homes =
        !g.live_gradients.empty() && !at_once && (gr.device_chunks > 0 || gr.disk_chunks > 0);
    const Selected* const by_owner = several_homes ? &selected(plan) : nullptr;

    Pools pools;
    const auto add_kv = [&](std::array<PoolLine, kTiers>& line, int64_t chunks, int64_t on_disk) {
        const int64_t near = std::min(kv.device_chunks, chunks);
        line[0].kv_device = static_cast<double>(chunks) * kv_chunk;
        line[0].kv_off = static_cast<double>(near) * kv_chunk;
        line[1].kv_off = static_cast<double>(chunks - near - on_disk) * kv_chunk;
        line[2].kv_off = static_cast<double>(on_disk) * kv_chunk;
    };
    const auto add_gradients = [&](std::array<PoolLine, kTiers>& line, int64_t c) {
        // Pages of sparse layers (alike), then of each dense one; device layers are spread evenly.
        const double page = static_cast<double>(g.gradient_page);
        const auto with_spare = [&](int64_t drawn) {
            const double room = at_once ? 1 : 1 + plan.selection.spread;
            return std::min(room * static_cast<double>(drawn),
                            std::max(static_cast<double>(drawn), static_cast<double>((c + 1) * per_chunk)));
        };
        double pages = 0;
        if (several_homes) {
            const double of_each = page * static_cast<double>(g.sparse_layers) / static_cast<double>(layers);
            const std::vector<int64_t>& before =
                by_owner->live_before[static_cast<size_t>((n - 1 - c) / sample_stride(n))];
            const int64_t near = std::min(gr.device_chunks, n), far = std::max(near, n - gr.disk_chunks);
            const std::array<int64_t, kTiers> until{before[static_cast<size_t>(near)],
                                                    before[static_cast<size_t>(far)], before.back()};
            line[0].gradients_device = of_each * with_spare(until[2]);
            line[0].gradients_off = of_each * with_spare(until[0]);
            line[1].gradients_off = of_each * with_spare(until[1] - until[0]);
            line[2].gradients_off = of_each * with_spare(until[2] - until[1]);
        } else if (!g.live_gradients.empty()) {
            pages +=
                with_spare(g.live_gradients[static_cast<size_t>(c)]) * static_cast<double>(g.sparse_layers);
        }
        for (const int64_t w : g.window_pages)
            pages += static_cast<double>(std::min(w, (at_once ? c + 1 : std::min(c + 1, n - 1)) * per_chunk));
        pages /= static_cast<double>(layers);
        const auto share = [&](int64_t chunks) {
            return n > 1 ? static_cast<double>(std::min(chunks, n - 1)) / static_cast<double>(n - 1) : 0;
        };
        const double near_share = share(gr.device_chunks), disk_share = share(gr.disk_chunks);
        line[0].gradients_device += page * pages;
        line[0].gradients_off += page * pages * near_share;
        line[1].gradients_off += page * pages * (1 - near_share - disk_share);
        line[2].gradients_off += page * pages * disk_share;
    };
    const int64_t stride = g.live_gradients.empty() ? n : sample_stride(n);
    for (int64_t c = n - 1; c >= 0; c -= stride) {  // at the peak of chunk c's backward pass
        std::array<PoolLine, kTiers> line{};
        const int64_t kv_chunks = at_once || layer_major ? c : std::max<int64_t>(0, c - 1);
        add_kv(line, kv_chunks, std::clamp<int64_t>(kv_chunks - (n - kv.disk_chunks), 0, kv_chunks));
        if (!at_once && c > 0 && !layer_major) {
            if (c - 1 < kv.device_chunks) {
                line[0].always = kv_chunk;
            } else {
                line[0].where_any_device = kv_chunk;
                line[c - 1 >= n - kv.disk_chunks ? 2 : 1].where_any_off = kv_chunk;
            }
        }
        add_gradients(line, c);
        for (size_t t = 0; t < kTiers; ++t) pools.lines[t].push_back(line[t]);
    }
    // Before the first gradient page: K and V of all chunks but the last.
    std::array<PoolLine, kTiers> line{};
    add_kv(line, n - 1, std::clamp<int64_t>(kv.disk_chunks - 1, 0, n - 1));
    for (size_t t = 0; t < kTiers; ++t) pools.lines[t].push_back(line[t]);
    return pools;
}

int64_t Estimator::Pools::most(size_t tier, int64_t kv_device, int64_t kv_off, int64_t gradients_device,
                               int64_t gradients_off) const {
    const auto d = [](int64_t count) { return static_cast<double>(count); };
    const double any_device = kv_device > 0 ? 1 : 0, any_off = kv_off > 0 ? 1 : 0;
    double most = 0;
    for (const PoolLine& l : lines[tier]) {
        most =
            std::max(most, l.always + any_device * l.where_any_device + any_off * l.where_any_off +
                               d(kv_device) * l.kv_device + d(kv_off) * l.kv_off +
                               d(gradients_device) * l.gradients_device + d(gradients_off) * l.gradients_off);
    }
    return static_cast<int64_t>(most);
}

int64_t Estimator::need_bytes(size_t tier, const Plan& plan, const Group& g, const Homes& h,
                              const Pools& pools) {
    const Decisions& d = plan.decisions;
    const int64_t n = plan.chunks(), layers = plan.model.layer_count();
    const Residency &kv = d.kv_residency, &gr = d.kv_gradient_residency;
    const bool layer_major = !residency_is_free(plan);
    int64_t need = g.standing[tier] + h.standing[tier];
    if (tier == 0) {
        need += g.scratch;
        if (!layer_major) {
            const int64_t more = d.staging_slots - 2;
            need += travels(kv, layers, n - 1) ? more * g.kv_slot : -g.kv_slots;
            need += travels(gr, layers, n - 1) ? more * g.gradient_slot : -g.gradient_slots;
            if (g.sparse_layers > 0) need += d.page_cache.count();
        }
        need += (d.staging_slots - 2) * g.input_slots;
    }
    need += layer_major ? pools.most(tier, 1, 0, 1, 0)
                        : pools.most(tier, kv.device_layers, layers - kv.device_layers, gr.device_layers,
                                     layers - gr.device_layers);
    const auto is = [tier](size_t wanted, bool holds) { return tier == wanted && holds; };
    if (is(1, d.attention_outputs == AttentionOutputs::host) ||
        is(0, d.attention_outputs == AttentionOutputs::device))
        need += layers * (n - 1) * g.output_bytes;
    const bool hidden_on_host = d.activations == Activations::checkpoint_host;
    if (layer_major) {
        if (tier == (hidden_on_host ? 1 : 0)) need += (layers + 1) * n * g.hidden_bytes;
    } else if (is(1, hidden_on_host)) {
        need += layers * g.hidden_bytes;
    }
    return need;
}

const Estimator::Pools& Estimator::pools(const Plan& plan, Group& group) {
    if (!group.pools) group.pools = pools_of(plan, group);
    return *group.pools;
}

std::array<int64_t, kTiers> Estimator::need_bytes(const Plan& plan, Group& g) {
    if (!by_chunks(plan)) return g.whole_need;
    const Homes& h = homes_of(plan);
    const Pools& p = pools(plan, g);
    std::array<int64_t, kTiers> need{};
    for (size_t t = 0; t < kTiers; ++t) need[t] = need_bytes(t, plan, g, h, p);
    return need;
}

std::array<int64_t, kTiers> Estimator::need_bytes(const Plan& plan) {
    return need_bytes(plan, group_of(plan));
}

int64_t Estimator::device_bytes(const Plan& plan) {
    Group& g = group_of(plan);
    return by_chunks(plan) ? need_bytes(0, plan, g, homes_of(plan), pools(plan, g)) : g.whole_need[0];
}

int64_t Estimator::host_bytes(const Plan& plan, const Plan& like) {
    const Group& g = group_of(like);
    return by_chunks(plan) ? need_bytes(1, plan, g, homes_of(plan), pools_of(plan, g)) : g.whole_need[1];
}

Score Estimator::score(const Plan& plan) {
    Group& g = group_of(plan);
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
