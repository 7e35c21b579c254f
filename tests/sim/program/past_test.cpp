// What travels of the past, in closed form.
#include "program/past.h"

#include <map>

#include "program/check.h"
#include "program/chunk_step.h"
#include "program/page_lists.h"
#include "program/page_traffic.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

constexpr int64_t kPageKv = 1024;  // bytes of K and V (bf16) of one page of one layer of the tiny model

Program passed(const Plan& plan) {
    Program p = chunk_step(plan, select_pages(plan));
    const Result<void> ok = check_program(p);
    EXPECT_TRUE(ok) << ok.error().text();
    return p;
}

// Dense, nothing on the device, 5 chunks of 4 pages, the last of 3.
Plan offloaded() {
    Plan p = tiny_plan(5, 32, 24);
    p.decisions.kv_residency = p.decisions.kv_gradient_residency = Residency{};
    return p;
}

TEST(Past, DenseLoadsThePagesBeforeTheChunk) {
    const Program p = passed(offloaded());
    std::map<std::pair<Pass, uint32_t>, int64_t> loaded;
    for (const Op& op : p.ops) {
        if (op.kind == OpKind::load_pages) loaded[{op.pass, op.chunk}] += p.works[op.work].bytes;
    }
    for (uint32_t c = 1; c < 5; ++c) {
        const int64_t past = c * 4 * kPageKv;
        // The last layer of the fill pass has no attention; the gradient pass reads for forward and backward.
        EXPECT_EQ((loaded[{Pass::fill, c}]), c < 4 ? 2 * past : 0) << c;
        EXPECT_EQ((loaded[{Pass::gradient, c}]), 3 * 2 * past) << c;
    }
    EXPECT_EQ((loaded[{Pass::fill, 0}]), 0);
    // Own pages of all chunks but the last, once.
    EXPECT_EQ(bytes_of_kind(p, OpKind::store_pages), 3 * 4 * 4 * kPageKv);
}

TEST(Past, DenseGradientsAreMadeByTheLastChunkAndThenAddedTo) {
    const Program p = passed(offloaded());
    std::map<uint32_t, int64_t> stored, loaded;
    for (const Op& op : p.ops) {
        if (op.kind == OpKind::store_page_gradients) stored[op.chunk] += p.works[op.work].bytes;
        if (op.kind == OpKind::load_page_gradients) loaded[op.chunk] += p.works[op.work].bytes;
    }
    for (uint32_t c = 0; c < 5; ++c) {
        const int64_t past = 3 * c * 4 * kPageKv, own = 3 * 4 * kPageKv;
        EXPECT_EQ(stored[c], past) << c;
        EXPECT_EQ(loaded[c], c == 4 ? 0 : past + own)
            << c;  // the last chunk finds none, and has none of its own
    }
}

TEST(Past, TrafficRowsAreTheWorksOfTheOps) {
    Plan plan = offloaded();
    plan.decisions.write_back_clean = true;
    for (const bool sparse : {false, true}) {
        plan.decisions.attention.sparse = sparse;
        const Program p = passed(plan);
        int64_t in = 0, out = 0, own = 0;
        for (const Traffic& row : p.traffic) {
            in += row.loaded_bytes;
            out += row.written_bytes;
        }
        // The sums of a chunk's own pages are no part of its past: they stand in no row.
        if (sparse) {
            const auto moves = all_moves(plan, select_pages(plan), {});
            for (const PageMoves& m : moves->at(0)) own += m.own_host;
        } else {
            own = 4 * 4;
        }
        EXPECT_EQ(out,
                  bytes_of_kind(p, OpKind::store_pages) + bytes_of_kind(p, OpKind::store_page_gradients));
        EXPECT_EQ(in + 3 * own * kPageKv,
                  bytes_of_kind(p, OpKind::load_pages) + bytes_of_kind(p, OpKind::load_page_gradients));
    }
}

// Of the gradient pages that sparse layers are drawn to have, on each tier; where all are made at once, or
// all are read, nothing is drawn.
TEST(Past, PoolsHaveRoomForWiderSelections) {
    const auto pool = [](const Plan& plan, const std::string& name) {
        const Program p = passed(plan);
        int64_t bytes = 0;
        for (const Buffer& b : p.buffers) bytes += b.name == name ? b.bytes : 0;
        return bytes;
    };
    const auto alive = [](const Plan& plan) {  // the most dK and dV at once, on the host
        int64_t bytes = 0, most = 0;
        for (const MemoryChange& c : passed(plan).changes) {
            if (c.category != Category::kv_gradients || c.tier != Tier::host) continue;
            bytes += c.bytes;
            most = std::max(most, bytes);
        }
        return most;
    };
    Plan plan = tiny_plan(16, 32, 32);
    plan.decisions.attention = {true, 6, 32, 1, 1};
    plan.decisions.kv_residency = Residency{3, 0, 0};
    plan.decisions.kv_gradient_residency = Residency{};
    Plan wider = plan, widest = plan;
    wider.selection.spread = 0.5;
    widest.selection.spread = 4;
    const int64_t drawn = pool(plan, "host page pool");
    EXPECT_NEAR(static_cast<double>(pool(wider, "host page pool")), 1.5 * static_cast<double>(drawn),
                3 * kPageKv);
    // No more than there are pages before a chunk that has some alive: 15 chunks of 4 pages, three layers.
    EXPECT_GT(pool(widest, "host page pool"), pool(wider, "host page pool"));
    EXPECT_LE(pool(widest, "host page pool"), 3 * 15 * 4 * kPageKv);
    EXPECT_EQ(pool(wider, "page pool"), pool(plan, "page pool"));
    EXPECT_EQ(alive(wider), alive(plan));
    // A limit of what waits is the most there is room for, but for a chunk's own pages in its step.
    for (Plan* p : {&plan, &widest}) {
        Plan limited = *p;
        limited.decisions.attention.waiting = 8;
        EXPECT_GT(alive(*p), (3 * 8 + 4) * kPageKv);
        EXPECT_GE(alive(limited), 3 * 8 * kPageKv);
        EXPECT_LE(alive(limited), (3 * 8 + 4) * kPageKv);
        EXPECT_GE(pool(limited, "host page pool"), alive(limited) + 4 * kPageKv);
        EXPECT_LE(pool(limited, "host page pool"), (3 * 8 + 2 * 4) * kPageKv);
    }
    for (Plan* p : {&plan, &wider}) p->decisions.gradient_pages = GradientPages::all_at_once;
    EXPECT_EQ(pool(wider, "host page pool"), pool(plan, "host page pool"));
    for (Plan* p : {&plan, &wider}) {
        p->decisions.gradient_pages = GradientPages::first_touch;
        p->decisions.attention.sparse = false;
    }
    EXPECT_EQ(pool(wider, "host page pool"), pool(plan, "host page pool"));
}

TEST(Past, FirstTouchesCoverThePagesThatLaterChunksSee) {
    const auto touched = [](const Plan& plan) {
        int64_t pages = 0;
        for (const Traffic& row : passed(plan).traffic) pages += row.first_touched;
        return pages;
    };
    Plan plan = offloaded();
    EXPECT_EQ(touched(plan), 3 * 4 * 4);
    // A window of 10 reaches 9 keys back: the last 2 pages of each chunk.
    for (Layer& l : plan.model.layers) l.window = 10;
    EXPECT_EQ(touched(plan), 3 * 4 * 2);
    // Of 44: 43 keys, across a chunk's border and into the middle of a page.
    for (Layer& l : plan.model.layers) l.window = 44;
    EXPECT_EQ(touched(plan), 3 * 4 * 4);
    plan.decisions.honour_windows = false;
    EXPECT_EQ(touched(plan), 3 * 4 * 4);
}

TEST(Past, AWindowReadsBackTheSumsOfThePagesItReaches) {
    Plan plan = offloaded();
    for (Layer& l : plan.model.layers) l.window = 10;
    // Of the 4 pages of a chunk the last 2, touched by the next chunk alone: loaded once, for their own
    // chunk.
    EXPECT_EQ(bytes_of_kind(passed(plan), OpKind::load_page_gradients), 4 * 3 * 2 * kPageKv);
}

// `stores` leave the device by way of `slots` slots, each written by the op `writer` of the same chunk and
// layer.
void expect_slots_respected(const Program& p, OpKind stores, OpKind writer, size_t slots) {
    const HappensBefore before(p);
    std::vector<OpId> emptied;
    OpId written = kNone;
    for (OpId id = 0; id < p.size(); ++id) {
        if (p.ops[id].pass != Pass::fill) continue;
        if (p.ops[id].kind == writer) written = id;
        if (p.ops[id].kind != stores) continue;
        EXPECT_TRUE(before(written, id));
        if (emptied.size() >= slots) {
            EXPECT_TRUE(before(emptied[emptied.size() - slots], written)) << id;
        }
        emptied.push_back(id);
    }
    EXPECT_GT(emptied.size(), slots);
}

TEST(Past, WhatLeavesTheDeviceWaitsInASlotOfItsOwn) {
    for (const int64_t wavefront : {1, 2}) {
        Plan plan = offloaded();
        plan.decisions.wavefront = wavefront;
        const size_t slots = static_cast<size_t>(wavefront) + 1;
        expect_slots_respected(passed(plan), OpKind::store_pages, OpKind::rope, slots);
        plan.decisions.kv_residency.device_layers = 3;
        plan.decisions.attention_outputs = AttentionOutputs::host;
        expect_slots_respected(passed(plan), OpKind::store_attention_outputs, OpKind::attention_own, slots);
    }
}

TEST(Past, WhatStaysOnTheDeviceDoesNotTravel) {
    Plan plan = tiny_plan(5, 32, 24);
    for (const bool sparse : {false, true}) {
        plan.decisions.attention.sparse = sparse;
        // Whole layers, or all chunks that a later one reads.
        for (const Residency& r :
             {Residency{3, 0, 0}, Residency{0, 4, 1}, Residency{0, 5, 0}, Residency{1, 4, 0}}) {
            plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = r;
            const Program p = passed(plan);
            // The host is told what was selected, wherever the pages are.
            EXPECT_EQ(count_ops(p,
                                [](const Op& op) {
                                    return op.stream != Stream::compute &&
                                           op.kind != OpKind::selection_to_host;
                                }),
                      0);
        }
    }
}

TEST(Past, AllGradientPagesAtOnceStandFromTheStart) {
    Plan plan = tiny_plan(5, 32, 24);
    const auto pool = [](const Program& p) {
        for (const Buffer& b : p.buffers) {
            if (b.name == "page pool") return b.bytes;
        }
        return int64_t{0};
    };
    plan.decisions.gradient_pages = GradientPages::all_at_once;
    // K and V of 4 chunks, dK and dV of 19 pages.
    EXPECT_EQ(pool(passed(plan)), 3 * (16 + 19) * kPageKv);
    plan.decisions.gradient_pages = GradientPages::first_touch;
    EXPECT_LT(pool(passed(plan)), 3 * (16 + 19) * kPageKv);
}

TEST(Past, UnchangedPagesTravelBackWhereThePlanSaysSo) {
    Plan plan = offloaded();
    const int64_t clean = bytes_of_kind(passed(plan), OpKind::store_pages);
    const int64_t loads = bytes_of_kind(passed(plan), OpKind::load_pages);
    plan.decisions.write_back_clean = true;
    EXPECT_EQ(bytes_of_kind(passed(plan), OpKind::store_pages), clean + loads);
}

TEST(Past, UnchangedSelectedPagesTravelBackToo) {
    Plan plan = offloaded();
    plan.decisions.attention.sparse = true;
    plan.decisions.kv_residency.disk_chunks = 2;
    const int64_t clean = bytes_of_kind(passed(plan), OpKind::store_pages);
    const int64_t written = bytes_of_kind(passed(plan), OpKind::write_pages);
    const int64_t loads = bytes_of_kind(passed(plan), OpKind::load_pages);
    const int64_t read = bytes_of_kind(passed(plan), OpKind::read_pages);
    ASSERT_GT(loads, 0);
    plan.decisions.write_back_clean = true;
    EXPECT_EQ(bytes_of_kind(passed(plan), OpKind::store_pages), clean + loads);
    EXPECT_EQ(bytes_of_kind(passed(plan), OpKind::write_pages), written + read);
}

TEST(Past, GradientsTravelInForwardPassesWhereThePlanSaysSo) {
    Plan plan = offloaded();
    plan.decisions.gradient_pages = GradientPages::all_at_once;
    const int64_t usual = bytes_of_kind(passed(plan), OpKind::load_page_gradients);
    plan.decisions.load_gradients_forward = true;
    // Fill pass: chunks 1 to 3, 2 layers; gradient pass: chunks 1 to 4, 3 layers.
    const int64_t more = (2 * (1 + 2 + 3) + 3 * (1 + 2 + 3 + 4)) * 4 * kPageKv;
    EXPECT_EQ(bytes_of_kind(passed(plan), OpKind::load_page_gradients), usual + more);
}

TEST(Past, GradientsOfSelectedPagesTravelInForwardPassesToo) {
    for (const GradientPages pages : {GradientPages::all_at_once, GradientPages::first_touch}) {
        Plan plan = offloaded();
        plan.decisions.attention.sparse = true;
        plan.decisions.gradient_pages = pages;
        const int64_t usual = bytes_of_kind(passed(plan), OpKind::load_page_gradients);
        plan.decisions.load_gradients_forward = true;
        // Fill pass: 2 layers, all selected pages where every sum exists from the start; gradient pass: 3
        // layers, the pages that later chunks have added to.
        const auto moves = all_moves(plan, select_pages(plan), {});
        int64_t fill = 0, gradient = 0;
        for (size_t c = 0; c < 5; ++c) {
            const PageMoves& m = moves->at(0)[c];
            if (c < 4) fill += pages == GradientPages::all_at_once ? m.selected : 0;
            gradient += m.grad_load_host;
        }
        ASSERT_GT(gradient, 0);
        EXPECT_EQ(bytes_of_kind(passed(plan), OpKind::load_page_gradients),
                  usual + (2 * fill + 3 * gradient) * kPageKv);
    }
}

// Chunks of one page, a cache of one page: chunk 2 leaves the sum of page 1 in the cache, and chunk 1, which
// reads page 0, makes room by writing it to its home, from where chunk 1 itself then reads it.
TEST(Past, OwnSumsThatTheCacheGaveUpInTheSameChunkAreAwaited) {
    Plan plan = tiny_plan(3, 8, 8);
    Decisions& d = plan.decisions;
    d.kv_residency = d.kv_gradient_residency = Residency{};
    d.attention.sparse = true;
    d.attention.sink = d.attention.local = 0;
    d.page_cache = Bytes(3 * 2 * kPageKv);
    ASSERT_EQ(cache_pages(plan).gradient, 1);
    const PageMoves moved = all_moves(plan, select_pages(plan), cache_pages(plan))->at(0)[1];
    ASSERT_EQ(moved.grad_store_host, 1);
    ASSERT_EQ(moved.own_host, 1);
    const Program p = passed(plan);
    std::map<uint16_t, OpId> stored;
    int64_t awaited = 0;
    for (OpId id = 0; id < p.size(); ++id) {
        const Op& op = p.ops[id];
        if (op.chunk != 1) continue;
        if (op.kind == OpKind::store_page_gradients) stored[op.layer] = id;
        if (op.kind != OpKind::load_page_gradients || !stored.contains(op.layer)) continue;
        const std::vector<OpId> waits = waits_of(p, id);
        EXPECT_NE(std::find(waits.begin(), waits.end(), stored[op.layer]), waits.end()) << op.layer;
        ++awaited;
    }
    EXPECT_EQ(awaited, 3);  // one a layer
}

// Pieces of one chunk share no page: the sums of the second do not wait for the first one's way to the host.
TEST(Past, SumsOfAPieceDoNotWaitForTheStoreOfAnother) {
    Plan plan = offloaded();
    plan.decisions.staging_slot = Bytes(4 * kPageKv);               // a chunk a piece
    plan.decisions.staging_slots = 4, plan.decisions.prefetch = 3;  // no wait for a slot or for its turn
    const Program p = passed(plan);
    int64_t loads = 0;
    for (OpId id = 0; id < p.size(); ++id) {
        const Op& op = p.ops[id];
        if (op.kind != OpKind::load_page_gradients) continue;
        ++loads;
        for (const OpId wait : waits_of(p, id)) {
            const Op& before = p.ops[wait];
            if (before.kind != OpKind::store_page_gradients || before.layer != op.layer) continue;
            EXPECT_NE(before.chunk, op.chunk) << "op " << id;
        }
    }
    EXPECT_EQ(loads,
              3 * (1 + 2 + 3 + 4));  // by layer: pieces of chunks 1 to 3, and each of these three's own
}

TEST(Past, PiecesFillASlotWithWholeSegments) {
    Plan plan = tiny_plan();
    plan.decisions.segment = Tokens(24);  // 3 pages
    plan.decisions.staging_slot = Bytes(8 * kPageKv);
    EXPECT_EQ(past_piece_tokens(plan), 6 * 8);
    plan.decisions.staging_slot = Bytes(2 * kPageKv);
    EXPECT_EQ(past_piece_tokens(plan), 2 * 8);
}

// Codes of a byte travel; the scales of all pages stay on the device; what is read is unpacked first.
TEST(Past, PackedPagesTravelAsCodesAndAreUnpackedWhereTheyAreRead) {
    for (const bool sparse : {false, true}) {
        Plan wide = offloaded(), packed = wide;
        wide.decisions.attention.sparse = packed.decisions.attention.sparse = sparse;
        packed.decisions.kv = Dtype::fp8;
        const Program a = passed(wide), b = passed(packed);
        EXPECT_EQ(bytes_of_kind(b, OpKind::load_pages) * 2, bytes_of_kind(a, OpKind::load_pages));
        EXPECT_EQ(bytes_of_kind(b, OpKind::store_pages) * 2, bytes_of_kind(a, OpKind::store_pages));
        EXPECT_EQ(bytes_of_kind(b, OpKind::store_page_gradients),
                  bytes_of_kind(a, OpKind::store_page_gradients));
        const auto bytes = [](const Program& p, const std::string& name) {
            int64_t sum = 0;
            for (const Buffer& buffer : p.buffers) sum += buffer.name == name ? buffer.bytes : 0;
            return sum;
        };
        const int64_t pages = ceil_div(packed.context.count(), packed.decisions.page.count());
        EXPECT_EQ(bytes(a, "page scales"), 0);
        EXPECT_EQ(bytes(b, "page scales"), 3 * 2 * pages * packed.model.kv_heads * 4);  // three layers
        // Of 4 blocks of 4 pages: source and target of K and of V; of packed pages of their scales too.
        EXPECT_EQ(bytes(a, "page lists"), sparse ? kPageLists * round_up(16 * 4 * 8, kAlignment) : 0);
        EXPECT_EQ(bytes(b, "page lists"), sparse ? kPageLists * round_up(16 * 6 * 8, kAlignment) : 0);
        // Every attention to the past reads what a gather before it made.
        int64_t gathers = 0, reads = 0;
        for (const Op& op : b.ops) {
            gathers += op.kind == OpKind::gather_pages ? 1 : 0;
            reads += op.kind == OpKind::attention_past || op.kind == OpKind::attention_past_backward ? 1 : 0;
        }
        EXPECT_EQ(gathers, reads);
        EXPECT_GT(reads, 0);
    }
}

TEST(Past, DiskPagesPassThroughTheHost) {
    Plan plan = offloaded();
    plan.decisions.kv_residency.disk_chunks = 2;  // chunks 3 and 4; 4 has no reader
    const Program p = passed(plan);
    EXPECT_EQ(bytes_of_kind(p, OpKind::write_pages), 3 * 4 * kPageKv);
    // Read by chunk 4 alone, forward and backward.
    EXPECT_EQ(bytes_of_kind(p, OpKind::read_pages), 2 * 3 * 4 * kPageKv);
    int bounces = 0;
    for (const Buffer& b : p.buffers) {
        if (b.name.starts_with("disk bounce")) {
            ++bounces;
            EXPECT_GE(b.bytes, 4 * kPageKv);  // a chunk's own pages
            EXPECT_EQ(b.address % 4096, 0);
        }
    }
    EXPECT_EQ(bounces, 2);
}

}  // namespace
}  // namespace headroom::test
