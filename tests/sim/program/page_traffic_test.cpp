// page_moves() against a slow and obvious account of every page.
#include "program/page_traffic.h"

#include <bit>
#include <list>

#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

using Counts = std::array<uint32_t, sizeof(PageMoves) / sizeof(uint32_t)>;

class Reference {
public:
    Reference(const Plan& plan, const Selections& selections, CachePages cache)
        : plan_(plan),
          selections_(selections),
          cache_(cache),
          pages_per_chunk_(plan.decisions.chunk / plan.decisions.page),
          pages_(ceil_div(plan.context.count(), plan.decisions.page.count())) {}

    std::vector<PageMoves> run() {
        rows_.assign(static_cast<size_t>(plan_.chunks()), {});
        for (int64_t c = 0; c < plan_.chunks(); ++c) fill(c);
        lru_.clear();
        const bool made = plan_.decisions.gradient_pages == GradientPages::all_at_once;
        exists_.assign(static_cast<size_t>(pages_), made);
        at_home_ = exists_;
        for (int64_t c = plan_.chunks() - 1; c >= 0; --c) back(c);
        return rows_;
    }

private:
    char home(const Residency& r, int64_t page) const {
        const int64_t chunk = page / pages_per_chunk_;
        if (chunk < r.device_chunks) return 'd';
        return chunk >= plan_.chunks() - r.disk_chunks ? 'k' : 'h';
    }
    char kv(int64_t page) const { return home(plan_.decisions.kv_residency, page); }
    char gradient(int64_t page) const { return home(plan_.decisions.kv_gradient_residency, page); }
    std::vector<int64_t> selected(int64_t c) const {
        std::vector<int64_t> list;
        for (uint32_t i = selections_.begin[static_cast<size_t>(c)];
             i < selections_.begin[static_cast<size_t>(c) + 1]; ++i) {
            list.push_back(selections_.pages[i]);
        }
        return list;
    }
    std::vector<int64_t> own(int64_t c) const {
        std::vector<int64_t> list;
        for (int64_t p = 0; p < pages_; ++p) {
            if (p / pages_per_chunk_ == c) list.push_back(p);
        }
        return list;
    }
    bool cached(int64_t page) const { return std::find(lru_.begin(), lru_.end(), page) != lru_.end(); }
    // Most recent last; the page that falls out, or -1.
    int64_t use(int64_t page, int64_t capacity) {
        lru_.remove(page);
        lru_.push_back(page);
        if (static_cast<int64_t>(lru_.size()) <= capacity) return -1;
        const int64_t out = lru_.front();
        lru_.pop_front();
        return out;
    }
    static void count(char place, uint32_t& host, uint32_t& disk) {
        if (place == 'h') ++host;
        if (place == 'k') ++disk;
    }

    // Of pages one after the other, those that are not the neighbour of the one before.
    uint32_t runs(const std::vector<int64_t>& pages, bool within_chunks) const {
        uint32_t count = 0;
        for (size_t i = 0; i < pages.size(); ++i) {
            const bool first_of_chunk = within_chunks && pages[i] % pages_per_chunk_ == 0;
            if (i == 0 || pages[i] != pages[i - 1] + 1 || first_of_chunk) ++count;
        }
        return count;
    }

    void fill(int64_t c) {
        PageMoves& row = rows_[static_cast<size_t>(c)];
        std::vector<int64_t> again, from_host, sums;
        for (const int64_t p : selected(c)) {
            ++row.selected;
            if (plan_.decisions.gradient_pages == GradientPages::all_at_once) {
                count(gradient(p), row.fill_grad_host, row.fill_grad_disk);
                if (gradient(p) == 'h') sums.push_back(p);
            }
            if (kv(p) == 'd') continue;
            count(kv(p), row.again_host, row.again_disk);
            if (kv(p) == 'h') again.push_back(p);
        }
        row.again_runs = runs(again, true);
        row.fill_grad_runs = runs(sums, false);
        // All that is there is found before anything comes in.
        std::vector<int64_t> missed;
        for (const int64_t p : selected(c)) {
            if (kv(p) == 'd') continue;
            if (cached(p)) {
                ++row.fill_hit;
                use(p, cache_.fill);
            } else {
                count(kv(p), row.fill_host, row.fill_disk);
                missed.push_back(p);
                if (kv(p) == 'h') from_host.push_back(p);
            }
        }
        row.fill_runs = runs(from_host, true);
        for (const int64_t p : missed) {
            if (cache_.fill > 0 && use(p, cache_.fill) >= 0) ++row.fill_evicted;
        }
        for (const int64_t p : own(c)) {
            if (kv(p) != 'd' && cache_.fill > 0 && use(p, cache_.fill) >= 0) ++row.fill_evicted;
        }
    }

    void store(int64_t page, PageMoves& row) {
        if (gradient(page) == 'd') return;
        if (gradient(page) == 'h') stored_.push_back(page);
        count(gradient(page), row.grad_store_host, row.grad_store_disk);
        if (!at_home_[static_cast<size_t>(page)]) count(gradient(page), row.taken_host, row.taken_disk);
        at_home_[static_cast<size_t>(page)] = true;
    }

    void back(int64_t c) {
        PageMoves& row = rows_[static_cast<size_t>(c)];
        std::vector<int64_t> missed, from_host, sums;
        stored_.clear();
        for (const int64_t p : selected(c)) {
            const size_t i = static_cast<size_t>(p);
            if (cached(p)) {
                ++row.back_hit;
                use(p, cache_.gradient);
                continue;
            }
            missed.push_back(p);
            if (kv(p) == 'h') from_host.push_back(p);
            if (exists_[i] && gradient(p) == 'h') sums.push_back(p);
            count(kv(p), row.back_host, row.back_disk);
            if (exists_[i]) count(gradient(p), row.grad_load_host, row.grad_load_disk);
            if (!exists_[i]) {
                ++row.first_touched;
                if (gradient(p) == 'd') ++row.taken_device, at_home_[i] = true;
            }
            exists_[i] = true;
        }
        for (const int64_t p : missed) {
            if (cache_.gradient == 0 || (kv(p) == 'd' && gradient(p) == 'd')) {
                store(p, row);
                continue;
            }
            const int64_t out = use(p, cache_.gradient);
            if (out >= 0) {
                ++row.back_evicted;
                store(out, row);
            }
        }
        row.back_runs = runs(from_host, true);
        row.grad_load_runs = runs(sums, false);
        row.grad_store_runs = runs(stored_, false);
        std::vector<int64_t> own_sums;
        for (const int64_t p : own(c)) {
            const size_t i = static_cast<size_t>(p);
            const bool was_cached = cached(p);
            lru_.remove(p);
            if (!exists_[i]) continue;
            ++row.own_touched;
            if (!was_cached) count(gradient(p), row.own_host, row.own_disk);
            if (!was_cached && gradient(p) == 'h') own_sums.push_back(p);
            if (!at_home_[i]) continue;
            if (gradient(p) == 'd') ++row.freed_device;
            count(gradient(p), row.freed_host, row.freed_disk);
        }
        row.own_runs = runs(own_sums, false);
    }

    const Plan& plan_;
    const Selections& selections_;
    CachePages cache_;
    int64_t pages_per_chunk_, pages_;
    std::list<int64_t> lru_;
    std::vector<bool> exists_, at_home_;
    std::vector<int64_t> stored_;  // of the chunk in work, to the host
    std::vector<PageMoves> rows_;
};

Plan draw_sparse_plan() {
    Plan plan = draw_chunked_plan();
    plan.decisions.attention.sparse = true;
    return plan;
}

Selections draw_of(const Plan& plan) {
    const Decisions& d = plan.decisions;
    return draw_selections(plan.selection, d.attention, plan.chunks(), d.chunk.count(), d.page.count());
}

RC_GTEST_PROP(PageTraffic, EqualsThePlainAccount, ()) {
    const Plan plan = draw_sparse_plan();
    const Selections selections = draw_of(plan);
    const CachePages cache{draw::coin() ? 0 : draw::in(1, 60), draw::coin() ? 0 : draw::in(1, 60)};
    const std::vector<PageMoves> moves = page_moves(plan, selections, cache);
    const std::vector<PageMoves> expected = Reference(plan, selections, cache).run();
    RC_ASSERT(moves.size() == expected.size());
    for (size_t c = 0; c < moves.size(); ++c) {
        RC_LOG() << "chunk " << c << "\n";
        RC_ASSERT(std::bit_cast<Counts>(moves[c]) == std::bit_cast<Counts>(expected[c]));
    }
}

RC_GTEST_PROP(PageTraffic, GradientPagesAreMadeOnceAndFreedOnce, ()) {
    Plan plan = draw_sparse_plan();
    plan.decisions.gradient_pages = GradientPages::first_touch;
    const CachePages cache{0, draw::in(0, 60)};
    int64_t touched = 0, read = 0, taken = 0, freed = 0;
    for (const PageMoves& m : page_moves(plan, draw_of(plan), cache)) {
        touched += m.first_touched;
        read += m.own_touched;
        taken += m.taken_device + m.taken_host + m.taken_disk;
        freed += m.freed_device + m.freed_host + m.freed_disk;
    }
    RC_ASSERT(touched == read);
    RC_ASSERT(taken == freed);
    if (cache.gradient == 0) RC_ASSERT(taken == touched);
}

TEST(PageTraffic, LayersOffTheDeviceShareTheCache) {
    Plan plan = tiny_plan();
    plan.decisions.page_cache = Bytes(60 * 1024);
    plan.decisions.kv_residency.device_layers = 1;
    EXPECT_EQ(cache_pages(plan).fill, 30);      // 1 KiB for K and V of a page
    EXPECT_EQ(cache_pages(plan).gradient, 15);  // dK and dV as well
    plan.decisions.kv_residency.device_layers = 3;
    EXPECT_EQ(cache_pages(plan).fill, 0);
}

// A layer whose sums alone are off the device has a share too; shares begin where copies can.
TEST(PageTraffic, SharesOfTheCache) {
    Plan plan = tiny_plan();
    plan.decisions.kv_residency.device_layers = 3;
    plan.decisions.kv_gradient_residency.device_layers = 0;
    plan.decisions.page_cache = Bytes(10'000);
    EXPECT_EQ(cache_pages(plan).bytes, 3072);  // a third, down to 512
    EXPECT_EQ(cache_share(plan, 0), 0);
    EXPECT_EQ(cache_share(plan, 2), 2);
    plan.decisions.kv_gradient_residency.device_layers = 3;
    EXPECT_EQ(cache_share(plan, 2), -1);
    EXPECT_EQ(cache_pages(plan).bytes, 0);
}

TEST(PageTraffic, MovesAreWorkedOutOnceForEachCacheAndResidency) {
    Plan plan = tiny_plan();
    plan.decisions.attention.sparse = true;
    const SelectionSet selections = select_pages(plan);
    const auto first = all_moves(plan, selections, {});
    EXPECT_EQ(all_moves(plan, selections, {}), first);
    EXPECT_NE(all_moves(plan, selections, {4, 4}), first);
    plan.decisions.kv_residency.device_chunks = 2;
    EXPECT_NE(all_moves(plan, selections, {}), first);
}

}  // namespace
}  // namespace headroom::test
