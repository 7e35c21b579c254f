// The page cache: which of a chunk's selected pages are in it, where they stand there, and what enters and
// leaves it. The planner counts the same moves (program/page_traffic.h).
#include <algorithm>

#include "decoder/pages.h"
#include "run/step_state.h"

namespace headroom::engine {

void Executor::State::make_page_caches() {
    cached_ = cache_pages(plan);
    if (!plan.decisions.attention.sparse) cached_ = {};
    fill_cache_.clear();
    gradient_cache_.clear();
    cache_at_.clear();
    const int64_t pages = ceil_div(plan.context.count(), plan.decisions.page.count());
    for (int64_t l = 0; l < plan.model.layer_count(); ++l) {
        const int64_t share = cache_share(plan, l);
        const bool has_share = selects_pages(plan, l) && share >= 0;
        cache_at_.push_back(share * cached_.bytes);
        fill_cache_.emplace_back(pages, has_share ? cached_.fill : 0);
        gradient_cache_.emplace_back(pages, has_share ? cached_.gradient : 0);
    }
}

// What the chunk in work does to the cache, worked out where its pass first asks.
const PageUse& Executor::State::page_use() {
    if (use_known_) return use_;
    use_known_ = true;
    const auto layer = static_cast<size_t>(layer_);
    if (past_backward_) {
        use_pages(
            gradient_cache_[layer], selected_pages(), [&](uint32_t p) { return cacheable(plan, p); }, use_);
        return use_;
    }
    const std::vector<uint32_t> away = selected_off_device(plan.decisions.kv_residency);
    if (pass_ == Pass::fill) {
        use_pages(
            fill_cache_[layer], away, [](uint32_t) { return true; }, use_);
    } else {  // a forward pass beside gradients: the cache is theirs
        use_.clear();
        use_.missed = away;
    }
    return use_;
}

const PageCache& Executor::State::cache_in_work() const {
    return (past_backward_ ? gradient_cache_ : fill_cache_)[static_cast<size_t>(layer_)];
}

std::byte* Executor::State::in_cache(PageKind kind, int64_t slot, int64_t part, int half) const {
    const int64_t kv = units_.kv * units_.bytes, gradient = units_.gradient * units_.bytes,
                  page = past_backward_ ? kv + gradient : kv;
    return data(need("page cache")) + cache_at_[static_cast<size_t>(layer_)] + slot * page +
           (kind == PageKind::kv ? 0 : kv) + half * (kind == PageKind::kv ? kv : gradient) / 2 +
           part * unit_bytes();
}

void Executor::State::add_cache_moves(PageKind kind, int64_t slot, const std::string& staging, int64_t place,
                                      bool to_cache) {
    const int64_t parts = pages_.parts(kind);
    for (int half = 0; half < 2; ++half) {
        for (int64_t part = 0; part < parts; ++part) {
            std::byte* const there = in_cache(kind, slot, part, half);
            std::byte* const here = unit_in(staging, place * parts + part, half);
            moves_.emplace_back(to_cache ? there : here, to_cache ? here : there);
        }
    }
}

// K and V that were loaded enter the cache, after all that it held was read.
void Executor::State::cache_loaded() {
    const PageCache& cache = cache_in_work();
    if (cache.capacity() == 0 || (pass_ != Pass::fill && !past_backward_)) return;
    moves_.clear();
    const std::vector<uint32_t> loaded = loaded_pages();
    for (size_t i = 0; i < loaded.size(); ++i) {
        if (cache.holds(loaded[i]))
            add_cache_moves(PageKind::kv, cache.slot(loaded[i]), kv_slots_.last_slot(),
                            static_cast<int64_t>(i), true);
    }
    copy_by_kernel(moves_, 0);
}

// In the fill pass a chunk's own pages enter it too, from the slot that they leave the device from.
void Executor::State::cache_own_pages(const std::string& slot) {
    PageCache& cache = fill_cache_[static_cast<size_t>(layer_)];
    if (pass_ != Pass::fill || cache.capacity() == 0 || kv_place(chunk_) == PastPlace::device) return;
    const int64_t page = plan.decisions.page.count(), first = chunk_first() / page,
                  count = ceil_div(rows_, page);
    for (int64_t i = 0; i < count; ++i) (void)cache.insert(static_cast<uint32_t>(first + i));
    moves_.clear();
    for (int64_t i = 0; i < count; ++i) {
        const int64_t place = cache.slot(static_cast<uint32_t>(first + i));
        if (place >= 0) add_cache_moves(PageKind::kv, place, slot, i, true);
    }
    copy_by_kernel(moves_, 0);
}

// Where the sums of a chunk's pages stand in the slot of page gradients: first those that it missed, then
// those that the cache gives up for them.
std::vector<uint32_t> Executor::State::missed_gradients() {
    std::vector<uint32_t> pages = page_use().missed;
    std::erase_if(pages, [&](uint32_t p) { return on_device(plan.decisions.kv_gradient_residency, p); });
    return pages;
}
std::vector<PageUse::Held> Executor::State::given_up_gradients() {
    const PageUse& use = page_use();
    std::vector<PageUse::Held> pages = use.given_up;
    std::erase_if(pages, [&](const PageUse::Held& out) {
        return on_device(plan.decisions.kv_gradient_residency, out.page) ||
               std::binary_search(use.missed.begin(), use.missed.end(), out.page);
    });
    return pages;
}

// Sums that are given up leave the cache for the slot that they are stored from; then those that were added
// up in the slot enter it.
void Executor::State::cache_sums() {
    const PageCache& cache = cache_in_work();
    if (cache.capacity() == 0) return;
    const std::vector<uint32_t> missed = missed_gradients();
    const std::string slot = gradient_slot_in_work();
    auto place = static_cast<int64_t>(missed.size());
    moves_.clear();
    for (const PageUse::Held& out : given_up_gradients())
        add_cache_moves(PageKind::gradient, out.slot, slot, place++, false);
    copy_by_kernel(moves_, 0);
    moves_.clear();
    for (size_t i = 0; i < missed.size(); ++i) {
        if (cache.holds(missed[i]))
            add_cache_moves(PageKind::gradient, cache.slot(missed[i]), slot, static_cast<int64_t>(i), true);
    }
    copy_by_kernel(moves_, 0);
}

// What leaves the slot for the host: all that was given up, and what never entered.
std::vector<PlacedPage> Executor::State::stored_gradients() {
    const PageUse& use = page_use();
    const PageCache& cache = cache_in_work();
    const auto was_given_up = [&](uint32_t p) {
        return std::any_of(use.given_up.begin(), use.given_up.end(),
                           [p](const PageUse::Held& out) { return out.page == p; });
    };
    std::vector<PlacedPage> pages;
    const std::vector<uint32_t> missed = missed_gradients();
    for (size_t i = 0; i < missed.size(); ++i) {
        if (cache.capacity() == 0 || !cacheable(plan, missed[i]) || was_given_up(missed[i]))
            pages.push_back({missed[i], static_cast<int64_t>(i)});
    }
    auto place = static_cast<int64_t>(missed.size());
    for (const PageUse::Held& out : given_up_gradients()) pages.push_back({out.page, place++});
    return pages;
}

}  // namespace headroom::engine
