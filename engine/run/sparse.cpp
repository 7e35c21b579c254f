// Attention to the pages that the chunk's blocks selected: where they are brought together, and the sums of
// what comes back.
#include <algorithm>

#include "decoder/block_attention.h"
#include "decoder/packed_pages.h"
#include "decoder/pages.h"
#include "run/step_state.h"

namespace headroom::engine {

// ---- lists of addresses, written by the host for a kernel ----

std::byte* Executor::State::next_list(int64_t bytes) {
    const Buffer& lists = need("page lists");
    const int64_t entry = lists.bytes / kPageLists;
    TORCH_CHECK(bytes <= entry, "a page list of ", bytes, " bytes does not fit the planned ", entry);
    OpId& user = list_users_[static_cast<size_t>(next_list_)];
    if (user != kNone) streams->wait_for(user);
    user = op_;
    std::byte* const list = data(lists) + next_list_ * entry;
    next_list_ = (next_list_ + 1) % kPageLists;
    return list;
}

// Ops of the compute stream follow one another, so that one list is in use at a time.
Executor::State::CopiedList Executor::State::list_on_device(const void* list, int64_t bytes) {
    const CopiedList copied{static_cast<const std::byte*>(list), data(need("page list"))};
    copy_list(copied.written, copied.here, bytes, arena.device());
    return copied;
}

at::Tensor Executor::State::part_of_list(const CopiedList& list, const void* at, int64_t count,
                                         at::ScalarType type) const {
    return list_view(list.here + (static_cast<const std::byte*>(at) - list.written), count, type);
}

at::Tensor Executor::State::list_view(std::byte* at, int64_t count, at::ScalarType type) const {
    // On a GPU: its own memory, or pinned memory, which kernels read as it lies.
    return at::for_blob(at, {count})
        .options(arena.options().dtype(type))
        .target_device(arena.device())
        .make_tensor();
}

// ---- where pages are ----

bool Executor::State::on_device(const Residency& home, uint32_t page) const {
    return past_place(plan, home, layer_, page * plan.decisions.page.count()) == PastPlace::device;
}

std::vector<uint32_t> Executor::State::selected_off_device(const Residency& home) {
    std::vector<uint32_t> pages = selected_pages();
    std::erase_if(pages, [&](uint32_t p) { return on_device(home, p); });
    return pages;
}

// Enough to fill the link, few enough to leave the chip to others (kernels/pages.h).
constexpr int64_t kLinkBlocks = 16;

Result<void> Executor::State::move_selected(PageKind kind, const std::string& slot,
                                            const std::vector<PlacedPage>& pages, bool to_slot) {
    moves_.clear();
    const int64_t parts = host_pages_.parts(kind);
    for (int half = 0; half < 2; ++half) {
        int64_t bounced = 0;  // units on their way from or to the disk
        for (const PlacedPage& p : pages) {
            const PageTable& home = home_of(kind, p.page);
            if (&home == &pages_ || !home.has(kind, layer_, p.page)) continue;  // here; no sum yet
            const bool on_disk = &home == &disk_pages_;
            for (int64_t part = 0; part < parts; ++part) {
                const int64_t unit = home.unit(kind, layer_, p.page, part);
                std::byte* const there = away(home, unit, bounced, half);
                if (on_disk && !to_slot) add_disk_piece(unit, 1, bounced, half);
                bounced += on_disk ? 1 : 0;
                std::byte* const here = unit_in(slot, p.place * parts + part, half);
                moves_.emplace_back(to_slot ? here : there, to_slot ? there : here);
            }
        }
    }
    (to_slot ? loaded_page_bytes : stored_page_bytes) += static_cast<int64_t>(moves_.size()) * unit_bytes();
    if (plan.decisions.page_copy == PageCopy::gather) {
        copy_by_kernel(moves_, kLinkBlocks);
        return {};
    }
    copies_.clear();
    for (const auto& [to, from] : moves_) copies_.add(to, from, unit_bytes());
    return issue_copies();
}

void Executor::State::copy_by_kernel(const std::vector<std::pair<std::byte*, std::byte*>>& pieces,
                                     int64_t most_blocks) {
    const auto count = static_cast<int64_t>(pieces.size());
    if (count == 0) return;
    std::byte* const list = next_list(copy_list_bytes(ceil_div(count, 2)));
    auto* const from = reinterpret_cast<int64_t*>(list);
    for (int64_t i = 0; i < count; ++i) {
        from[i] = reinterpret_cast<int64_t>(pieces[static_cast<size_t>(i)].second);
        from[count + i] = reinterpret_cast<int64_t>(pieces[static_cast<size_t>(i)].first);
    }
    copy_pages(list_view(list, count, at::kLong), list_view(list + count * 8, count, at::kLong), unit_bytes(),
               most_blocks);
}

namespace {

std::vector<PlacedPage> one_after_the_other(const std::vector<uint32_t>& pages) {
    std::vector<PlacedPage> placed;
    for (size_t i = 0; i < pages.size(); ++i) placed.push_back({pages[i], static_cast<int64_t>(i)});
    return placed;
}

}  // namespace

// K and V that the slot has: of the pages that are neither on the device nor in the cache.
std::vector<uint32_t> Executor::State::loaded_pages() {
    std::vector<uint32_t> pages = page_use().missed;
    std::erase_if(pages, [&](uint32_t p) { return on_device(plan.decisions.kv_residency, p); });
    return pages;
}

Result<void> Executor::State::load_selected(const Op& op) {
    return move_selected(PageKind::kv, kv_slots_.next(), selected_to_load(op), true);
}

// ---- attention ----

// K and V of each block's pages, side by side: [blocks, picks, page, g, d].
void Executor::State::gather_selected() {
    const at::Tensor rows = selection();
    const std::vector<uint32_t> loaded = loaded_pages();
    const std::vector<PageUse::Held>& found = page_use().found;
    const int64_t parts = units_.kv, count = rows.numel() * parts;
    const int32_t* page = rows.const_data_ptr<int32_t>();
    const bool packs = packs_pages(plan);
    const int64_t list_bytes = gather_list_bytes(count, packs);
    auto* const from = reinterpret_cast<int64_t*>(next_list(list_bytes));
    int64_t *const to = from + 2 * count, *const scales = to + 2 * count;
    auto* const gathered = data(need("gathered pages"));
    const int64_t gathered_unit = unit_tokens(PageKind::kv) * plan.model.kv_size() * element(),
                  scale_bytes = plan.model.kv_heads * 4;
    for (int half = 0; half < 2; ++half) {
        const int64_t first_scale = packs ? reinterpret_cast<int64_t>(page_scales(half, 0, 1).data_ptr()) : 0;
        for (int64_t i = 0; i < count; ++i) {
            const auto p = static_cast<uint32_t>(page[i / parts]);
            const std::byte* source = nullptr;
            if (on_device(plan.decisions.kv_residency, p)) {
                source = unit_in("page pool", pages_.unit(PageKind::kv, layer_, p, i % parts), half);
            } else if (const auto held = std::lower_bound(
                           found.begin(), found.end(), p,
                           [](const PageUse::Held& h, uint32_t wanted) { return h.page < wanted; });
                       held != found.end() && held->page == p) {
                source = in_cache(PageKind::kv, held->slot, i % parts, half);
            } else {
                const auto place = std::lower_bound(loaded.begin(), loaded.end(), p) - loaded.begin();
                source = unit_in(kv_slots_.last_slot(), place * parts + i % parts, half);
            }
            from[half * count + i] = reinterpret_cast<int64_t>(source);
            to[half * count + i] = reinterpret_cast<int64_t>(gathered + (half * count + i) * gathered_unit);
            if (packs) scales[half * count + i] = first_scale + p * scale_bytes;
        }
    }
    const CopiedList copied = list_on_device(from, list_bytes);
    const auto list = [&](const int64_t* at) { return part_of_list(copied, at, 2 * count, at::kLong); };
    if (packs) {
        unpack_pages({list(from), list(scales), list(to)},
                     {plan.decisions.page.count(), plan.model.kv_heads, plan.model.head_dim}, type_);
    } else if (unpacks_pages(plan)) {
        convert_pages(list(from), list(to), unit_bytes(), scalar_type(plan.decisions.kv), type_);
    } else {
        copy_pages(list(from), list(to), unit_bytes());
    }
    cache_loaded();
    cache_own_pages(own_slots_.last_slot());
}

at::Tensor Executor::State::by_block(const std::string& buffer, int half) const {
    const int64_t blocks = ceil_div(rows_, block()), keys = picks() * plan.decisions.page.count();
    return view(buffer, {blocks, keys, plan.model.kv_heads, plan.model.head_dim}, type_,
                half * blocks * keys * plan.model.kv_size() * element());
}

void Executor::State::attend_selected() {
    const LayerViews& v = layer_views();
    const auto part = attention_in("attention of one segment");
    block_attention_forward(v.q, by_block("gathered pages", 0), by_block("gathered pages", 1), block(),
                            part.first, part.second,
                            {whole("attention forward"), {}, whole("sums by block"), {}, false});
    partial_pending_ = true;
}

void Executor::State::attend_selected_backward() {
    const Model& m = plan.model;
    const LayerViews& v = layer_views();
    const at::Tensor d_q = view("d q summed", {rows_, m.heads, m.head_dim}, sum_);
    block_attention_backward(v.q, by_block("gathered pages", 0), by_block("gathered pages", 1), v.attention,
                             v.lse, rows("d attention", m.q_size()).unflatten(1, {m.heads, m.head_dim}),
                             block(), d_q, !d_q_fresh_, by_block("dK and dV of one piece", 0),
                             by_block("dK and dV of one piece", 1), packed_scratch());
    d_q_fresh_ = false;
    emitted_ = true;
}

// ---- sums of dK and dV ----

// The slot that the layer's load of sums went to.
std::string Executor::State::gradient_slot_in_work() const {
    return gradient_slots_.last_slot();
}

std::vector<PlacedPage> Executor::State::selected_to_load(const Op& op) {
    if (op.kind == OpKind::load_pages) return one_after_the_other(loaded_pages());
    return emitted_ ? one_after_the_other(missed_gradients()) : own_gradients_off_cache();
}

Result<void> Executor::State::load_selected_gradients(const Op& op) {
    return move_selected(PageKind::gradient, gradient_slots_.next(), selected_to_load(op), true);
}

// The chunk's own, by their place in it; those of the cache are read there.
std::vector<PlacedPage> Executor::State::own_gradients_off_cache() const {
    const int64_t page = plan.decisions.page.count(), first = chunk_first() / page;
    const PageCache& cache = gradient_cache_[static_cast<size_t>(layer_)];
    std::vector<PlacedPage> pages;
    for (int64_t i = 0; i < ceil_div(rows_, page); ++i) {
        if (!cache.holds(static_cast<uint32_t>(first + i)))
            pages.push_back({static_cast<uint32_t>(first + i), i});
    }
    return pages;
}

Result<void> Executor::State::load_own_selected_gradients(const Op& op) {
    return move_selected(PageKind::gradient, own_gradient_slots_.next(), selected_to_load(op), true);
}

Result<void> Executor::State::sum_selected() {
    // By unit: entry e of a page is entries e parts + i of its parts i.
    const EmissionsByPage e = emissions_by_page(selection());
    const int64_t parts = units_.gradient, distinct = static_cast<int64_t>(e.pages.size()) * parts,
                  count = static_cast<int64_t>(e.entries.size()) * parts;
    const Residency& home = plan.decisions.kv_gradient_residency;
    const int64_t list_bytes = sum_list_bytes(distinct, count);
    std::byte* const list = next_list(list_bytes);
    auto* const to = reinterpret_cast<int64_t*>(list);
    auto* const begin = reinterpret_cast<int32_t*>(to + 2 * distinct);
    int32_t* const entries = begin + distinct + 1;
    auto* const fresh = reinterpret_cast<uint8_t*>(entries + count);
    const PageUse& use = page_use();
    size_t found = 0;   // of those in the cache, in the order of pages like the others
    int64_t place = 0;  // in the slot
    int32_t next = 0;
    for (int64_t i = 0; i < distinct; ++i) {
        const auto index = static_cast<size_t>(i / parts);
        const int64_t part = i % parts;
        const auto p = static_cast<uint32_t>(e.pages[index]);
        const bool here = on_device(home, p);
        while (found < use.found.size() && use.found[found].page < p) ++found;
        const bool held = !here && found < use.found.size() && use.found[found].page == p;
        if (part == 0) {
            fresh[i] = !held && !home_of(PageKind::gradient, p).has(PageKind::gradient, layer_, p);
            if (here && fresh[i]) HEADROOM_CHECK(pages_.take(PageKind::gradient, layer_, p));
        } else {
            fresh[i] = fresh[i - 1];
        }
        begin[i] = next;
        for (int32_t k = e.begin[index]; k < e.begin[index + 1]; ++k)
            entries[next++] = static_cast<int32_t>(e.entries[static_cast<size_t>(k)] * parts + part);
        for (int half = 0; half < 2; ++half) {
            to[half * distinct + i] = reinterpret_cast<int64_t>(
                here   ? unit_in("page pool", pages_.unit(PageKind::gradient, layer_, p, part), half)
                : held ? in_cache(PageKind::gradient, use.found[found].slot, part, half)
                       : unit_in(gradient_slot_in_work(), place, half));
        }
        if (!here && !held) ++place;
    }
    begin[distinct] = next;
    const at::ScalarType type = scalar_type(plan.decisions.kv_gradients);
    const CopiedList copied = list_on_device(list, list_bytes);
    for (int half = 0; half < 2; ++half) {
        const PageSums sums{part_of_list(copied, begin, distinct + 1, at::kInt),
                            part_of_list(copied, entries, count, at::kInt),
                            part_of_list(copied, to + half * distinct, distinct, at::kLong),
                            part_of_list(copied, fresh, distinct, at::kByte)};
        const at::Tensor emitted = by_block("dK and dV of one piece", half);
        sum_pages(
            emitted.view({count, unit_tokens(PageKind::gradient), plan.model.kv_heads, plan.model.head_dim}),
            sums, type);
    }
    cache_sums();
    return {};
}

// The sums of the chunk's own pages that later chunks chose, wherever they are, to its dK and dV.
void Executor::State::add_own_selected_sums() {
    const Model& m = plan.model;
    const int64_t page = plan.decisions.page.count(), first = chunk_first() / page,
                  pages = ceil_div(rows_, page), parts = units_.gradient,
                  unit = unit_tokens(PageKind::gradient), row = m.q_size() + 2 * m.kv_size();
    const PageCache& cache = gradient_cache_[static_cast<size_t>(layer_)];
    const bool here = gradient_place(chunk_) == PastPlace::device;
    const auto source = [&](int64_t p, int64_t part, int half) -> const std::byte* {
        if (here) {
            if (!pages_.has(PageKind::gradient, layer_, p)) return nullptr;
            return unit_in("page pool", pages_.unit(PageKind::gradient, layer_, p, part), half);
        }
        if (const int64_t held = cache.slot(static_cast<uint32_t>(p)); held >= 0)
            return in_cache(PageKind::gradient, held, part, half);
        if (!home_of(PageKind::gradient, p).has(PageKind::gradient, layer_, p)) return nullptr;
        return unit_in(own_gradient_slots_.last_slot(), (p - first) * parts + part, half);
    };
    const int64_t most = 2 * pages * parts;
    const int64_t list_bytes = own_sum_list_bytes(pages * parts);
    auto* const from = reinterpret_cast<int64_t*>(next_list(list_bytes));
    int64_t* const to = from + most;
    auto* const tokens = reinterpret_cast<int32_t*>(to + most);
    std::byte* const rows_at = data(need("d qkv"));
    int64_t count = 0;
    for (int half = 0; half < 2; ++half) {
        for (int64_t i = 0; i < pages * parts; ++i) {
            const std::byte* sums = source(first + i / parts, i % parts, half);
            if (sums == nullptr || i * unit >= rows_) continue;
            from[count] = reinterpret_cast<int64_t>(sums);
            to[count] = reinterpret_cast<int64_t>(
                rows_at + (i * unit * row + m.q_size() + half * m.kv_size()) * element());
            tokens[count++] = static_cast<int32_t>(std::min(unit, rows_ - i * unit));
        }
    }
    if (count == 0) return;
    const CopiedList copied = list_on_device(from, list_bytes);
    const auto list = [&](const void* at, at::ScalarType type) {
        return part_of_list(copied, at, count, type);
    };
    add_page_rows({list(from, at::kLong), list(to, at::kLong), list(tokens, at::kInt)},
                  scalar_type(plan.decisions.kv_gradients), type_, m.kv_size(), row, unit);
}

Result<void> Executor::State::store_selected_gradients() {
    const std::vector<PlacedPage> pages = stored_gradients();
    for (const PlacedPage& p : pages) {
        PageTable& home = home_of(PageKind::gradient, p.page);
        if (!home.has(PageKind::gradient, layer_, p.page))
            HEADROOM_CHECK(home.take(PageKind::gradient, layer_, p.page));
    }
    begin_store();
    return move_selected(PageKind::gradient, gradient_slot_in_work(), pages, false);
}

}  // namespace headroom::engine
