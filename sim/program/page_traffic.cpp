#include "program/page_traffic.h"

#include <algorithm>

namespace headroom {
namespace {

enum class Place : uint8_t { device, host, disk };

// Least recently used pages, as a doubly linked list over page numbers.
class Cache {
public:
    Cache(int64_t pages, int64_t capacity)
        : capacity_(capacity),
          next_(static_cast<size_t>(pages) + 1),
          previous_(static_cast<size_t>(pages) + 1),
          held_(static_cast<size_t>(pages), false),
          end_(static_cast<uint32_t>(pages)) {
        next_[end_] = previous_[end_] = end_;
    }
    bool holds(uint32_t page) const { return held_[page]; }
    void touch(uint32_t page) {
        unlink(page);
        link(page);
    }
    // Puts a page in; returns the one that had to leave, or the sentinel none().
    uint32_t insert(uint32_t page) {
        if (capacity_ == 0) return page;
        uint32_t out = end_;
        if (size_ == capacity_) {
            out = next_[end_];
            drop(out);
        }
        held_[page] = true;
        ++size_;
        link(page);
        return out;
    }
    void drop(uint32_t page) {
        unlink(page);
        held_[page] = false;
        --size_;
    }
    uint32_t none() const { return end_; }

private:
    void link(uint32_t page) {  // as most recent
        previous_[page] = previous_[end_];
        next_[page] = end_;
        next_[previous_[end_]] = page;
        previous_[end_] = page;
    }
    void unlink(uint32_t page) {
        next_[previous_[page]] = next_[page];
        previous_[next_[page]] = previous_[page];
    }
    int64_t capacity_, size_ = 0;
    std::vector<uint32_t> next_, previous_;
    std::vector<bool> held_;
    uint32_t end_;
};

struct Places {
    int64_t device_until, disk_from;  // in pages
    Place of(int64_t page) const {
        return page < device_until ? Place::device : page >= disk_from ? Place::disk : Place::host;
    }
};

}  // namespace

CachePages cache_pages(const Plan& plan) {
    const Decisions& d = plan.decisions;
    const int64_t off_device = plan.model.layer_count() - d.kv_residency.device_layers;
    if (d.page_cache.count() == 0 || off_device <= 0) return {};
    const int64_t share = d.page_cache.count() / off_device;
    const int64_t values = 2 * d.page.count() * (plan.model.kv_size() / d.tensor_ranks);
    const int64_t kv = bytes_of(d.kv, values).count(), gradient = bytes_of(d.kv_gradients, values).count();
    return CachePages{share / kv, share / (kv + gradient)};
}

std::vector<PageMoves> page_moves(const Plan& plan, const Selections& selections, CachePages capacity) {
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

    Cache cache(pages, capacity.fill);
    for (int64_t c = 0; c < chunks; ++c) {
        PageMoves& row = rows[static_cast<size_t>(c)];
        const uint32_t begin = selections.begin[static_cast<size_t>(c)],
                       end = selections.begin[static_cast<size_t>(c) + 1];
        row.selected = end - begin;
        for (uint32_t i = begin; i < end; ++i) {
            const uint32_t page = selections.pages[i];
            const Place place = kv.of(page);
            if (all_at_once) {
                if (grad.of(page) == Place::host) ++row.fill_grad_host;
                if (grad.of(page) == Place::disk) ++row.fill_grad_disk;
            }
            if (place == Place::device) continue;
            (place == Place::host ? row.again_host : row.again_disk) += 1;
            if (cache.holds(page)) {
                cache.touch(page);
                ++row.fill_hit;
                continue;
            }
            (place == Place::host ? row.fill_host : row.fill_disk) += 1;
            if (capacity.fill > 0 && cache.insert(page) != cache.none()) ++row.fill_evicted;
        }
        if (capacity.fill == 0) continue;
        const int64_t last = std::min(pages, (c + 1) * per_chunk);
        for (int64_t p = c * per_chunk; p < last; ++p) {
            if (kv.of(p) != Place::device && cache.insert(static_cast<uint32_t>(p)) != cache.none())
                ++row.fill_evicted;
        }
    }

    Cache back(pages, capacity.gradient);
    std::vector<bool> touched(static_cast<size_t>(pages), all_at_once);  // a sum exists
    std::vector<bool> written(static_cast<size_t>(pages), all_at_once);  // ... in its home
    for (int64_t c = chunks - 1; c >= 0; --c) {
        PageMoves& row = rows[static_cast<size_t>(c)];
        const auto write_back = [&](uint32_t page) {
            const Place home = grad.of(page);
            if (home == Place::device) return;
            (home == Place::host ? row.grad_store_host : row.grad_store_disk) += 1;
            if (!written[page]) (home == Place::host ? row.taken_host : row.taken_disk) += 1;
            written[page] = true;
        };
        const uint32_t begin = selections.begin[static_cast<size_t>(c)],
                       end = selections.begin[static_cast<size_t>(c) + 1];
        for (uint32_t i = begin; i < end; ++i) {
            const uint32_t page = selections.pages[i];
            const Place kv_place = kv.of(page), grad_place = grad.of(page);
            const bool held = back.holds(page);
            if (held) {
                back.touch(page);
                ++row.back_hit;
            } else {
                if (kv_place == Place::host) ++row.back_host;
                if (kv_place == Place::disk) ++row.back_disk;
            }
            if (!touched[page]) {
                touched[page] = true;
                ++row.first_touched;
                if (grad_place == Place::device) {
                    ++row.taken_device;
                    written[page] = true;
                }
            } else if (!held) {
                if (grad_place == Place::host) ++row.grad_load_host;
                if (grad_place == Place::disk) ++row.grad_load_disk;
            }
            if (held) continue;
            const bool cacheable =
                capacity.gradient > 0 && (kv_place != Place::device || grad_place != Place::device);
            if (!cacheable) {
                write_back(page);
                continue;
            }
            const uint32_t out = back.insert(page);
            if (out != back.none()) {
                ++row.back_evicted;
                write_back(out);
            }
        }
        const int64_t last = std::min(pages, (c + 1) * per_chunk);
        for (int64_t p = c * per_chunk; p < last; ++p) {
            const uint32_t page = static_cast<uint32_t>(p);
            const bool held = back.holds(page);
            if (held) back.drop(page);
            if (!touched[page]) continue;
            ++row.own_touched;
            const Place home = grad.of(p);
            if (!held && home == Place::host) ++row.own_host;
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
