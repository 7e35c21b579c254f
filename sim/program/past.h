// The past of a chunk: pages of K, V, dK, dV by tier, the slots they travel through, and the attention to
// them.
//
// Contract: per chunk and layer, in this order:
//     fill pass       append(), forward(), ...
//     gradient pass   forward() (unless outputs were kept), backward(), own_gradients(), close()
// Pages are counted in units so that K, V and dK, dV pages share one pool per tier.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "program/builder.h"
#include "program/layer.h"
#include "program/page_traffic.h"
#include "program/past_pieces.h"
#include "program/stager.h"

namespace headroom {

class PastFlow {
public:
    // By layer modulo its size, rows by chunk; empty (or null) where attention is dense.
    using Moves = std::shared_ptr<const std::vector<std::vector<PageMoves>>>;
    PastFlow(const Plan& plan, StepBuilder& builder, LayerEmitter& emitter, Moves moves);

    // Keys of the largest call that any chunk meets (what LayerEmitter is sized with).
    static int64_t longest_call(const Plan& plan);

    // The chunk's K and V, final after `rope`, go to their pages. Fill pass only.
    void append(int64_t chunk, int64_t layer, OpId rope);
    // What the rope op of the next append() must wait for: the slot it writes to.
    OpId append_wait(int64_t layer, int64_t chunk) const;
    // Page vectors and, for sparse layers, the selection of this chunk.
    void select(int64_t chunk, int64_t layer);
    // Attention to the past, merged into the chunk's attention output. `known`: the selection was made
    // before.
    void forward(int64_t chunk, int64_t layer, bool known);
    void backward(int64_t chunk, int64_t layer);
    // Adds the finished page gradients of the chunk itself to its dK and dV.
    void own_gradients(int64_t chunk, int64_t layer);
    // Frees what no one reads any more; `op` is the last of this chunk and layer.
    void close(int64_t chunk, int64_t layer, OpId op);
    // Frees K and V of `chunks` in a layer that no pass reads again before they are made again (layer-major
    // order).
    void drop_layer(int64_t layer, std::span<const int64_t> chunks, OpId op);
    // All gradient pages at the start of the gradient pass, where the plan says so.
    void begin_gradients();
    void begin_sequence();

private:
    using Place = PastPlace;
    Place place(const Residency& r, int64_t layer, int64_t token) const;
    std::vector<PastPiece> pieces(int64_t chunk, int64_t layer, bool backward) const;
    void dense_forward(int64_t chunk, int64_t layer);
    void dense_backward(int64_t chunk, int64_t layer);
    void sparse_forward(int64_t chunk, int64_t layer, bool known);
    void sparse_backward(int64_t chunk, int64_t layer);
    // Where the plan writes unchanged K and V back (sparse): the store that empties their slot, else `read`,
    // their last use.
    OpId written_back(OpId read, int64_t host_pages, int64_t disk_pages, Traffic& row);
    // Where the plan loads sums of dK and dV in forward passes too (sparse): whether it does so here.
    bool loads_gradients_forward(int64_t layer) const;
    const PageMoves& moves(int64_t chunk, int64_t layer) const;
    // Whether no page of a layer ever leaves the device. The last chunk has no later reader, hence no
    // traffic.
    bool stays(const Residency& r, int64_t layer) const;
    // Whether a later chunk attends this one: the last has none, and a window may end with its own query.
    bool is_read(int64_t chunk, int64_t layer) const;
    // The last store of K and V that the chunk in work reads.
    OpId kv_stored(int64_t layer) const;
    // The last store that can hold sums of dK and dV of the chunk's own pages. What a chunk stores itself are
    // the sums of earlier pages, and of any page that a page cache gives up for them.
    OpId own_gradients_stored(int64_t layer) const;
    // Of a chunk's own pages, those that later chunks attend (dense; a window may reach only its last ones).
    int64_t attended_pages(int64_t chunk, int64_t layer) const;
    // Copies of pages to the device and back, by way of the host where they lie on disk.
    OpId load(Stager& stager, OpKind kind, Place from, int64_t pages, int64_t bytes_per_page, OpId wait,
              int64_t piece);
    OpId load_mixed(Stager& stager, OpKind kind, int64_t host_pages, int64_t disk_pages, int64_t page_bytes,
                    OpId wait, int64_t piece, OpId wait2 = kNone, int64_t runs = 0);
    OpId store(OpKind kind, Place to, int64_t pages, int64_t bytes_per_page, OpId wait, int64_t runs = 0);
    OpId store_mixed(OpKind kind, int64_t host_pages, int64_t disk_pages, int64_t page_bytes, OpId wait,
                     int64_t runs = 0);
    // `runs` of neighbours that the pages are; 0: each apart where attention is sparse, else runs of a chunk.
    uint32_t page_copy(WorkKind direction, int64_t pages, int64_t page_bytes, int64_t runs = 0);
    int64_t pages_of(int64_t tokens) const { return ceil_div(tokens, page_); }
    int64_t pages_of(const PastPiece& p) const { return ceil_div(p.last, page_) - p.first / page_; }
    int64_t visible(int64_t chunk, int64_t layer) const;
    int64_t past(int64_t chunk) const { return chunk * plan_.decisions.chunk.count(); }
    // Pool changes of gradient pages and of a chunk's K and V. What a program of some chunks never took
    // (search prices a few chunks of a step) is not freed either.
    void take_gradients(Place place, int64_t layer, int64_t pages, OpId op, OpId after = kNone);
    void free_gradients(Place place, int64_t layer, int64_t pages, OpId op);
    // Gradient pages of the layer are so many more or fewer; what may be selected beyond them.
    void hold_gradients(Place place, int64_t layer, int64_t pages);
    void take_kv(Place place, int64_t chunk, int64_t layer, OpId op, OpId after = kNone);
    void free_kv(int64_t chunk, int64_t layer, OpId op);
    PoolId pool_of(Place place) const { return pools_[static_cast<size_t>(place)]; }

    const Plan& plan_;
    StepBuilder& builder_;
    LayerEmitter& emitter_;
    Moves moves_;
    int64_t page_, chunks_, layers_;
    int64_t kv_page_, gradient_page_;  // bytes of a page: K and V; dK and dV
    int64_t kv_units_, gradient_units_;
    bool unpack_;  // pages have another dtype than the library reads
    std::array<PoolId, 3> pools_{};
    Stager own_, kv_, gradient_, own_gradient_;
    std::vector<OpId> disk_bounce_;  // last use of each host bounce slot
    size_t next_bounce_ = 0;
    std::vector<OpId> stored_;            // by layer: the last store of K and V
    std::vector<OpId> past_stored_;       // ... before the chunk in work
    std::vector<OpId> gradients_stored_;  // by layer: the last store of dK and dV
    // The last store of dK and dV of the layer in work before the chunk in work.
    OpId gradients_stored_before_ = kNone;
    std::vector<bool> kv_held_;                           // by layer and chunk
    std::vector<std::array<int64_t, 3>> gradients_held_;  // by layer and place: pages
    std::vector<std::array<int64_t, 3>> spare_;           // ... that there is room for beside them
    std::array<int64_t, 3> spare_in_all_{};               // by place
    std::vector<int64_t>
        touched_from_;       // by layer: gradient pages exist from this token on, a page's first (dense)
    OpId selected_ = kNone;  // after which the host knows the selection of the chunk and layer in work
};

}  // namespace headroom
