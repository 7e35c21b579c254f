#include "program/page_traffic.h"

#include <algorithm>

#include "program/page_cache.h"
#include "program/program.h"

namespace headroom {
namespace {

enum class Place : uint8_t { device, host, disk };

struct Places {
    int64_t device_until, disk_from;  // in pages
    Place of(int64_t page) const {
        return page < device_until ? Place::device : page >= disk_from ? Place::disk : Place::host;
    }
};

// Counts runs of neighbours among pages that come one after the other.
struct Runs {
    uint32_t& count;
    int64_t last = -2;
    // `begins`: a run begins with the page even where it follows the last one.
    void add(int64_t page, bool begins = false) {
        count += begins || page != last + 1 ? 1 : 0;
        last = page;
    }
};

}  // namespace

int64_t cache_share(const Plan& plan, int64_t layer) {
    const Decisions& d = plan.decisions;
    const int64_t layers = plan.model.layer_count();
    const auto has_share = [&](int64_t l) {
        return !Plan::device_layer(d.kv_residency, l, layers) ||
               !Plan::device_layer(d.kv_gradient_residency, l, layers);
    };
    if (layer < layers && !has_share(layer)) return -1;
    int64_t before = 0;
    for (int64_t l = 0; l < layer; ++l) before += has_share(l) ? 1 : 0;
    return before;
}

CachePages cache_pages(const Plan& plan) {
    const Decisions& d = plan.decisions;
    const int64_t shares = cache_share(plan, plan.model.layer_count());
    if (d.page_cache.count() == 0 || shares == 0) return {};
    const int64_t share = d.page_cache.count() / shares / kAlignment * kAlignment;
    const int64_t values = 2 * d.page.count() * (plan.model.kv_size() / d.tensor_ranks);
    const int64_t kv = bytes_of(d.kv, values).count(), gradient = bytes_of(d.kv_gradients, values).count();
    return CachePages{share / kv, share / (kv + gradient), share};
}

bool cacheable(const Plan& plan, int64_t page) {
    const Decisions& d = plan.decisions;
    const int64_t chunk = page / (d.chunk.count() / d.page.count());
    return chunk >= d.kv_residency.device_chunks || chunk >= d.kv_gradient_residency.device_chunks;
}

std::vector<PageMoves> page_moves(const Plan& plan, const Selections& selections, CachePages capacity,
                                  const FoundInCache& found) {
    const int64_t chunks = plan.chunks(), page_tokens = plan.decisions.page.count();
    const int64_t per_chunk = plan.decisions.chunk.count() / page_tokens;
    const int64_t pages = ceil_div(plan.context.count(), page_tokens);
    const auto places = [&](const Residency& r) {
        return Places{r.device_chunks * per_chunk, (chunks - r.disk_chunks) * per_chunk};
    };
    const Places kv = places(plan.decisions.kv_residency),
                 grad = places(plan.decisions.kv_gradient_residency);
    const bool all_at_once = plan.decisions.gradient_pages == GradientPages::all_at_once;
    std::vector<PageMoves> rows(static_cast<size_t>(chunks));

    // Runs of neighbours among ascending pages, of those whose K and V are on the host.
    const auto runs_on_host = [&](const std::vector<uint32_t>& of) {
        uint32_t count = 0;
        Runs runs{count};
        for (const uint32_t page : of)
            if (kv.of(page) == Place::host) runs.add(page, page % per_chunk == 0);
        return count;
    };

    PageCache cache(pages, capacity.fill);
    PageUse use;
    const auto tell_found = [&](Pass pass, int64_t chunk) {
        for (const PageUse::Held& held : use.found) found(pass, chunk, held.page);
    };
    std::vector<uint32_t> away;  // selected and not on the device
    const auto always = [](uint32_t) { return true; };
    for (int64_t c = 0; c < chunks; ++c) {
        PageMoves& row = rows[static_cast<size_t>(c)];
        const uint32_t begin = selections.begin[static_cast<size_t>(c)],
                       end = selections.begin[static_cast<size_t>(c) + 1];
        row.selected = end - begin;
        away.clear();
        Runs gradients_found{row.fill_grad_runs};
        for (uint32_t i = begin; i < end; ++i) {
            const uint32_t page = selections.pages[i];
            const Place place = kv.of(page);
            if (all_at_once) {
                if (grad.of(page) == Place::host) {
                    ++row.fill_grad_host;
                    gradients_found.add(page);
                }
                if (grad.of(page) == Place::disk) ++row.fill_grad_disk;
            }
            if (place == Place::device) continue;
            (place == Place::host ? row.again_host : row.again_disk) += 1;
            away.push_back(page);
        }
        row.again_runs = runs_on_host(away);
        use_pages(cache, away, always, use);
        if (found) tell_found(Pass::fill, c);
        row.fill_runs = runs_on_host(use.missed);
        row.fill_hit = static_cast<uint32_t>(use.found.size());
        row.fill_evicted = static_cast<uint32_t>(use.given_up.size());
        for (const uint32_t page : use.missed)
            (kv.of(page) == Place::host ? row.fill_host : row.fill_disk) += 1;
        if (capacity.fill == 0) continue;
        const int64_t last = std::min(pages, (c + 1) * per_chunk);
        for (int64_t p = c * per_chunk; p < last; ++p) {
            if (kv.of(p) != Place::device && cache.insert(static_cast<uint32_t>(p)) != cache.none())
                ++row.fill_evicted;
        }
    }

    PageCache back(pages, capacity.gradient);
    std::vector<bool> touched(static_cast<size_t>(pages), all_at_once);  // a sum exists
    std::vector<bool> written(static_cast<size_t>(pages), all_at_once);  // ... in its home
    for (int64_t c = chunks - 1; c >= 0; --c) {
        PageMoves& row = rows[static_cast<size_t>(c)];
        Runs loaded{row.grad_load_runs}, stored{row.grad_store_runs};
        const auto write_back = [&](uint32_t page) {
            const Place home = grad.of(page);
            if (home == Place::device) return;
            if (home == Place::host) {
                stored.add(page);
            }
            (home == Place::host ? row.grad_store_host : row.grad_store_disk) += 1;
            if (!written[page]) (home == Place::host ? row.taken_host : row.taken_disk) += 1;
            written[page] = true;
        };
        const uint32_t begin = selections.begin[static_cast<size_t>(c)],
                       end = selections.begin[static_cast<size_t>(c) + 1];
        const auto may_enter = [&](uint32_t page) {
            return kv.of(page) != Place::device || grad.of(page) != Place::device;
        };
        use_pages(back, {selections.pages.data() + begin, end - begin}, may_enter, use);
        if (found) tell_found(Pass::gradient, c);
        row.back_hit = static_cast<uint32_t>(use.found.size());
        row.back_evicted = static_cast<uint32_t>(use.given_up.size());
        row.back_runs = runs_on_host(use.missed);
        for (const uint32_t page : use.missed) {
            const Place kv_place = kv.of(page), grad_place = grad.of(page);
            if (kv_place == Place::host) ++row.back_host;
            if (kv_place == Place::disk) ++row.back_disk;
            if (!touched[page]) {
                touched[page] = true;
                ++row.first_touched;
                if (grad_place == Place::device) {
                    ++row.taken_device;
                    written[page] = true;
                }
            } else {
                if (grad_place == Place::host) {
                    ++row.grad_load_host;
                    loaded.add(page);
                }
                if (grad_place == Place::disk) ++row.grad_load_disk;
            }
            if (capacity.gradient == 0 || !may_enter(page)) write_back(page);
        }
        for (const PageUse::Held& out : use.given_up) write_back(out.page);
        const int64_t last = std::min(pages, (c + 1) * per_chunk);
        Runs own{row.own_runs};
        for (int64_t p = c * per_chunk; p < last; ++p) {
            const uint32_t page = static_cast<uint32_t>(p);
            const bool held = back.holds(page);
            if (held) back.drop(page);
            if (!touched[page]) continue;
            ++row.own_touched;
            const Place home = grad.of(p);
            if (!held && home == Place::host) {
                ++row.own_host;
                own.add(p);
            }
            if (!held && home == Place::disk) ++row.own_disk;
            if (!written[page]) continue;
            if (home == Place::device) ++row.freed_device;
            if (home == Place::host) ++row.freed_host;
            if (home == Place::disk) ++row.freed_disk;
        }
    }
    return rows;
}

std::shared_ptr<const std::vector<std::vector<PageMoves>>> all_moves(const Plan& plan,
                                                                     const SelectionSet& selections,
                                                                     CachePages cache) {
    const Decisions& d = plan.decisions;
    const SelectionSet::MovesKey key{d.kv_residency.device_chunks,
                                     d.kv_residency.disk_chunks,
                                     d.kv_gradient_residency.device_chunks,
                                     d.kv_gradient_residency.disk_chunks,
                                     static_cast<int64_t>(d.gradient_pages),
                                     cache.fill,
                                     cache.gradient};
    const std::scoped_lock lock(selections.memo->mutex);
    auto& entry = selections.memo->moves[key];
    if (!entry) {
        auto moves = std::make_shared<std::vector<std::vector<PageMoves>>>();
        for (const Selections& s : selections.layers) moves->push_back(page_moves(plan, s, cache));
        entry = std::move(moves);
    }
    return entry;
}

}  // namespace headroom
