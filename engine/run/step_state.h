// What an executor keeps while a step runs: views of the arena, the page table, and where in the step it is.
// Only for the files of the executor.
//
// Which norm, weight gradient or adapter an op is follows from the ops before it: the order inside a layer is
// fixed (program/layer.h).
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "decoder/adapters.h"
#include "decoder/attention.h"
#include "decoder/block_attention.h"
#include "decoder/optimizer.h"
#include "decoder/pointwise.h"
#include "decoder/products.h"
#include "memory/copies.h"
#include "memory/page_file.h"
#include "plan/waiting_pages.h"
#include "program/layer.h"
#include "program/page_cache.h"
#include "program/page_lists.h"
#include "program/page_traffic.h"
#include "program/page_units.h"
#include "program/past_pieces.h"
#include "run/executor.h"
#include "run/op_streams.h"

namespace headroom::engine {

at::ScalarType scalar_type(Dtype dtype);
// Chunks that a later one reads.
inline int64_t paged_chunks(const Plan& plan) {
    return plan.chunks() - 1;
}
// Of a tensor of one fp64 value. On a GPU it waits for the current stream, and allocates nothing.
double value_of(const at::Tensor& one);

// Views of one layer's buffers for the tokens of one chunk.
struct LayerViews {
    at::Tensor x, x_mid;        // [T, H]
    at::Tensor qkv;             // [T, Q + 2 KV]
    at::Tensor q, k, v;         // [T, h, d], [T, g, d]: of qkv, but for q and k where they have norms
    at::Tensor raw_q, raw_k;    // of qkv: before norms
    at::Tensor attention, lse;  // [T, h, d], [T, h]
    at::Tensor gate_up;         // [T or one tile, 2 I]
    at::Tensor out, down;       // [T, H]: before their norms, where a layer has four
};

// A page and its place in a slot.
struct PlacedPage {
    uint32_t page = 0;
    int64_t place = 0;
};

// A piece of what the update reads and writes: where it is updated, in a slot or at home.
struct UpdateViews {
    int64_t first = 0;              // parameter
    at::Tensor weights, gradients;  // flat
    OptimizerState states, home;    // home: the states where they live
};

// The slots of a Stager (program/stager.h), used in turn.
struct Ring {
    std::string name;
    int64_t slots = 1, item = 0;
    std::string slot() const { return name + " slot " + std::to_string(item % slots); }
    // The one before: of the item that was counted last.
    std::string last_slot() const { return name + " slot " + std::to_string((item - 1) % slots); }
    std::string next() {
        ++item;
        return last_slot();
    }
};

struct Executor::State {
    State(const Plan& plan, const Program& program, at::Tensor arena, at::Tensor host,
          OptimizerSettings settings, PageFile* disk);

    void begin(const at::Tensor& tokens);
    // Before the op begins, whose time on its stream is the device's, not the host's.
    void await_selection(OpId id);
    Result<void> run(OpId id);
    double loss() const { return value_of(loss_sum_) * target_scale_; }
    double gradient_norm() const { return norm_; }
    // "op 12 (read_pages, chunk 3, layer 1)"
    std::string place_of(OpId op) const;
    // The first error of a disk op that ran aside.
    Result<void> disk_state() const;
    int64_t loaded_page_bytes = 0, stored_page_bytes = 0;  // in this step
    int64_t disk_read_bytes = 0, disk_written_bytes = 0;
    // After a step.
    at::Tensor selected(int64_t chunk, int64_t layer);
    RecordedSelection recorded();

    const Plan& plan;
    const Program& program;
    at::Tensor arena, host;
    PageFile* disk;  // null: the program has no pages there
    OptimizerSettings settings;
    std::unique_ptr<OpStreams> streams;
    at::Tensor weights, adapters;  // adapters: undefined where all weights are trained
    at::Tensor trained;            // the one of them that is
    at::Tensor gradients, states;  // of what is trained
    OptimizerState optimizer;      // views of states
    int64_t steps = 0;

private:
    enum class Norm : uint8_t { attention, post_attention, mlp, post_mlp };

    void enter(const Op& op);  // a chunk, layer or pass
    void begin_sequence();

    // buffers.cpp
    const Buffer* find(const std::string& name) const;  // null: the program has none
    const Buffer& need(const std::string& name) const;
    bool has(const std::string& name) const { return by_name_.contains(name); }
    std::byte* data(const Buffer& buffer) const;
    // `sizes` of the buffer called `name`, from `offset` bytes into it on.
    at::Tensor view(const std::string& name, at::IntArrayRef sizes, at::ScalarType type,
                    int64_t offset = 0) const;
    at::Tensor rows(const std::string& name, int64_t columns) const;  // [T, columns] of activations
    at::Tensor whole(const std::string& name) const;                  // uint8
    // The MLP of a chunk is computed in tiles (plan.mlp_tile; else one): the tokens of the op in work,
    // what is theirs of a buffer of the whole chunk, and [tokens, columns] of one that holds a tile.
    struct Tile {
        int64_t first, rows;
    };
    Tile mlp_tile() const;
    at::Tensor of_tile(const at::Tensor& chunk) const;
    at::Tensor tile_rows(const std::string& name, int64_t columns) const;
    at::Tensor gate_up();
    // Output [T, h, d] and log-sum-exp [T, h], which lies as [h, T], of the attention buffer called `name`,
    // `offset` bytes into it.
    std::pair<at::Tensor, at::Tensor> attention_in(const std::string& name, int64_t offset = 0) const;
    const LayerViews& layer_views();
    LayerViews make_views(const std::string& x, const std::string& qkv,
                          std::pair<at::Tensor, at::Tensor> attention, const std::string& x_mid,
                          const std::string& gate_up) const;
    std::string hidden() const;                    // of the chunk in the fill pass
    std::string layer_input(int64_t layer) const;  // in the forward of the gradient pass
    int64_t full_rows() const;                     // of a chunk that is not the ragged last one
    int64_t input_bytes() const { return full_rows() * plan.model.hidden * element(); }
    bool keeps_outputs() const;     // of this chunk, from the fill pass to the gradient pass
    int64_t output_bytes() const;   // of them, in one layer
    int64_t output_offset() const;  // of this chunk and layer in their pool
    std::string of_layer(const char* name, int64_t layer) const;

    // past.cpp: pages and where they stand
    void make_page_tables();
    int64_t unit_bytes() const { return units_.bytes / 2; }  // of K, or of V
    int64_t unit_tokens(PageKind kind) const {
        return plan.decisions.page.count() / (kind == PageKind::kv ? units_.kv : units_.gradient);
    }
    // K (half 0) or V (half 1) of a unit of a pool, or of a slot, whose units follow its pages.
    std::byte* unit_in(const std::string& buffer, int64_t unit, int half) const;
    // K (half 0) or V (half 1) of a run of units of the device's pool as [tokens, g, d].
    at::Tensor page_view(PageKind kind, const PageRun& run, int half) const;
    // Of K (half 0) or V (half 1) of so many pages of this layer: [count, g]. Only where pages are packed.
    at::Tensor page_scales(int half, int64_t first, int64_t count) const;
    // Final K or V [T, g, d] of tokens from page `first` on, to their pages, which lie side by side.
    void write_pages(const at::Tensor& values, const at::Tensor& pages, int half, int64_t first) const;
    // All pages of a piece of the past, as attention reads them: to "gathered pages", K then V.
    void unpack_piece(const Op& op);
    at::Tensor unpacked_piece(const PastPiece& piece, int half) const;  // [tokens of its pages, g, d]
    // The same of a slot: `tokens` from its `first`th on.
    at::Tensor slot_view(PageKind kind, const std::string& slot, int half, int64_t first,
                         int64_t tokens) const;
    PastPlace kv_place(int64_t chunk) const;
    PastPlace gradient_place(int64_t chunk) const;
    PastPiece piece_of(const Op& op, bool backward) const;
    // Calls visit(k, v, first token, tokens) for tokens [first, last) of the past, at most a segment at once.
    void visit_past(
        const PastPiece& piece,
        const std::function<void(const at::Tensor&, const at::Tensor&, int64_t, int64_t)>& visit) const;
    void close_chunk();

    // disk.cpp: pages by tier, and those whose home is the disk
    const PageTable& home_of(PageKind kind, int64_t page) const;  // of the layer in work
    PageTable& home_of(PageKind kind, int64_t page);
    bool uses_disk() const { return has("disk bounce slot 0"); }
    // K (half 0) or V (half 1) of a unit of a page off the device: in the host's pool, or where it stands, as
    // the `place`th, in the buffer on its way from or to the disk.
    std::byte* away(const PageTable& home, int64_t unit, int64_t place, int half) const;
    // That units of the disk's pool are read to, or written from, that place.
    void add_disk_piece(int64_t unit, int64_t units, int64_t place, int half);
    Result<void> read_from_disk();
    Result<void> write_to_disk();
    void run_on_disk(bool write);

    // forward.cpp
    void embed();
    void norm();
    void qkv();
    void attention_own();
    void attention_past(const Op& op);
    void merge();
    void attention_out();
    void down();
    void head();
    at::Tensor chunk_targets() const;  // [T] int64: the next token, -1 where there is none
    void adapt(bool backward);
    at::Tensor layer_output() const;  // where the layer's hidden state goes
    void multiply(Projection projection, at::Tensor out, const at::Tensor& left, const at::Tensor& right);
    Span span_of(int64_t key_at) const;

    // rope.cpp
    void find_rope();  // rope_: of this chunk and layer
    Result<void> rope();
    void rope_backward();

    // backward.cpp
    void weight_gradient();
    // Gradient of what attention or MLP gives: that of the hidden state, or of what the norm was applied to.
    at::Tensor d_projected() const;
    bool last_mlp_tile() const;
    Norm first_norm_backward() const;
    void norm_backward();
    AttentionScratch attention_scratch(const std::string& workspace) const;  // of that buffer
    BlockScratch packed_scratch() const;
    void attention_own_backward();
    void attention_past_backward(const Op& op);
    Result<void> accumulate(const Op& op);
    std::string gradient_slot(bool fresh) const;
    void add_own_sums();
    void embed_backward();
    void add_embedding_rows(const at::Tensor& ids, const at::Tensor& rows, at::Tensor table) const;

    // transfers.cpp: copies between the tiers, and from and to the slots that they travel through
    void keep_outputs_or_inputs();                                  // a merge op that merges nothing
    std::pair<int64_t, int64_t> pages_of_load(const Op& op) const;  // dense: the first, and the one after
    void begin_store();                                             // its pieces for the disk: none yet
    Result<void> load_pages(const Op& op);
    Result<void> store_pages();
    Result<void> load_page_gradients(const Op& op);
    Result<void> store_page_gradients();
    Result<void> move_buffer(const std::string& to, int64_t to_offset, const std::string& from,
                             int64_t from_offset, int64_t bytes);
    Result<void> issue_copies();
    // Adds the copies of pages [first, last), all of one home, to or from a slot whose first page is `first`.
    void add_page_copies(PageKind kind, int64_t first, int64_t last, const std::string& slot, bool to_slot);

    // selection.cpp: of the chunk and layer in work
    int64_t past_pages() const;                                   // before the chunk
    int64_t block() const;                                        // queries that select together
    int64_t picks() const;                                        // pages of a block
    at::Tensor device_selection() const;                          // [blocks, picks] int32
    at::Tensor host_selection() const;                            // where it stands on the host
    void settle_selection();                                      // what was handed over last is there
    at::Tensor selection();                                       // host_selection(), once it is there
    std::vector<uint32_t> selected_pages();                       // distinct, ascending
    at::Tensor page_vectors(int64_t first, int64_t count) const;  // [count, g, d] of this layer
    void page_means_op();
    void select_op();
    Result<void> selection_to_host();
    void make_waiting_pages();  // none waits
    size_t limit_of(int64_t layer) const;
    void choose_pending();

    // sparse.cpp: attention to selected pages
    // Memory for lists that the op in work hands to a kernel: it stays until that has ended.
    std::byte* next_list(int64_t bytes);  // pinned
    // A list for an op of the compute stream: as the host wrote it, and its copy on the device.
    struct CopiedList {
        const std::byte* written;
        std::byte* here;
    };
    CopiedList list_on_device(const void* list, int64_t bytes);
    // `count` values of the copy; `at`: where the host wrote the first.
    at::Tensor part_of_list(const CopiedList& list, const void* at, int64_t count, at::ScalarType type) const;
    at::Tensor list_view(std::byte* at, int64_t count, at::ScalarType type) const;
    bool on_device(const Residency& home, uint32_t page) const;
    std::vector<uint32_t> selected_off_device(const Residency& home);
    Result<void> move_selected(PageKind kind, const std::string& slot, const std::vector<PlacedPage>& pages,
                               bool to_slot);
    // Pieces (to, from) of a unit each; most_blocks as kernels/pages.h has it.
    void copy_by_kernel(const std::vector<std::pair<std::byte*, std::byte*>>& pieces, int64_t most_blocks);
    std::vector<uint32_t> loaded_pages();
    Result<void> load_selected(const Op& op);
    void gather_selected();
    at::Tensor by_block(const std::string& buffer, int half) const;  // [blocks, keys, g, d]
    void attend_selected();
    void attend_selected_backward();
    std::string gradient_slot_in_work() const;
    std::vector<PlacedPage> own_gradients_off_cache() const;
    // What a load brings, by its place in the slot; sums among it that do not exist yet are not loaded.
    std::vector<PlacedPage> selected_to_load(const Op& op);
    Result<void> load_selected_gradients(const Op& op);
    Result<void> load_own_selected_gradients(const Op& op);
    Result<void> sum_selected();
    void add_own_selected_sums();
    Result<void> store_selected_gradients();

    // cache.cpp
    void make_page_caches();  // empty
    const PageUse& page_use();
    const PageCache& cache_in_work() const;
    std::byte* in_cache(PageKind kind, int64_t slot, int64_t part, int half) const;
    // Adds the moves of one page between its slot in the cache and its place in a staging slot to moves_.
    void add_cache_moves(PageKind kind, int64_t slot, const std::string& staging, int64_t place,
                         bool to_cache);
    void cache_loaded();
    void cache_own_pages(const std::string& slot);
    std::vector<uint32_t> missed_gradients();
    std::vector<PageUse::Held> given_up_gradients();
    void cache_sums();
    std::vector<PlacedPage> stored_gradients();

    // homes.cpp: weights, gradients and states that live on the host
    // Of the layer in work, its matrices and norms (half 0) or biases (1) in the buffer of all parameters.
    at::Tensor layer_pieces(const at::Tensor& flat, int half) const;
    std::array<at::Tensor, 2> head_pieces(const at::Tensor& flat) const;
    at::Tensor in_slot(const std::string& slot, int64_t elements, at::ScalarType type,
                       int64_t offset = 0) const;
    Result<void> load_weights(const Op& op);
    at::Tensor embedding_rows() const;  // [T, H], loaded
    at::Tensor begin_sums(const Op& op);
    void add_gradient_copies(const Op& op, const at::Tensor& slot, bool to_slot);
    Result<void> load_gradients(const Op& op);
    Result<void> store_gradients(const Op& op);
    at::Tensor embedding_row_gradients() const;  // [T, H]
    void scatter_embedding_rows();
    UpdateViews update_views(int64_t piece) const;
    Result<void> load_update(const Op& op, bool all);
    Result<void> store_update(const Op& op);

    // update.cpp
    void gradient_norm_op(const Op& op);
    void update(const Op& op);

    const Layer& layer() const { return plan.model.layers[static_cast<size_t>(layer_)]; }
    const LayerParameters& w() const { return parameters_.layers[static_cast<size_t>(layer_)]; }
    const LayerParameters& g() const { return sums_.layers[static_cast<size_t>(layer_)]; }
    int64_t element() const { return static_cast<int64_t>(c10::elementSize(type_)); }
    NormRule norm_rule() const { return {plan.model.norm_epsilon, norms_add_one(plan.model)}; }
    int64_t chunk_first() const { return chunk_ * plan.decisions.chunk.count(); }

    std::unordered_map<std::string, BufferId> by_name_;
    ModelParameters parameters_, sums_;  // sums_: undefined where only adapters are trained
    std::vector<LayerAdapters> adapters_, adapter_sums_;
    at::ScalarType type_, sum_;      // of activations; of log-sum-exp and running sums
    at::Tensor tokens_;              // [batch, context] int32, on the device
    std::vector<int64_t> host_ids_;  // the same on the host, where weights live there
    at::Tensor scratch_;             // of sums over tokens (decoder/reductions.h)
    PageUnits units_;
    PageTable pages_, host_pages_, disk_pages_;
    std::vector<PageFile::Piece> disk_pieces_;  // of the read or store in work
    std::atomic<bool> disk_failed_ = false;     // disk_error_ says how
    Error disk_error_;
    Copies copies_;
    CachePages cached_;                                   // what the page cache holds of a layer
    std::vector<int64_t> cache_at_;                       // by layer: where its share begins, bytes
    std::vector<PageCache> fill_cache_, gradient_cache_;  // by layer
    PageUse use_;                                         // of the chunk, layer and pass in work, once known
    bool use_known_ = false;
    std::vector<std::pair<std::byte*, std::byte*>> moves_;  // to, from: of the op in work
    Ring kv_slots_, own_slots_, gradient_slots_, own_gradient_slots_, output_slots_, input_slots_,
        input_out_slots_, layer_weight_slots_{"layer weights", 2},
        layer_gradient_slots_{"layer gradients", 2}, update_slots_{"update", 2},
        bounce_slots_{"disk bounce", kDiskBounceSlots};
    std::string input_slot_;             // that the layer's input was loaded to
    std::vector<int64_t> touched_from_;  // by layer: gradient pages exist from this token on
    OpId op_ = kNone;                    // that is handed over
    OpId selection_copy_ = kNone;        // the last copy of a selection to the host that was not waited for
    // Where waiting pages have a limit: whose pages are to be chosen once that copy is there (-1: nobody's).
    struct ToChoose {
        int64_t chunk = -1, layer = -1;
    };
    ToChoose to_choose_;
    std::array<WaitingPages, 2> waiting_pages_;  // of layers whose gradients stay on the device; of others
    int64_t next_list_ = 0;                      // of the page lists
    std::array<OpId, kPageLists> list_users_{};
    PastPiece summed_{};         // the piece that was accumulated last
    bool summed_fresh_ = false;  // its gradient pages did not exist before
    // Where the step is.
    Pass pass_ = Pass::setup;
    int64_t sequence_ = 0, chunk_ = -1, layer_ = -1, rows_ = 0;
    uint8_t sequence_id_ = 0;                      // of the last op: sequence_ modulo 256
    OpKind before_ = OpKind::zero;                 // the last op of the compute stream
    Norm next_norm_ = Norm::attention;             // of the next norm op
    Norm next_norm_backward_ = Norm::mlp;          // backward, a layer's come in turn
    Projection projection_ = Projection::qkv;      // of the last product, whose adapters come next
    Projection next_gradient_ = Projection::down;  // backward, a layer's come in turn
    bool backward_ = false;                        // this chunk is in its backward pass
    bool past_backward_ = false;                   // and this layer's attention too
    bool four_norms_ = false, gelu_ = false;
    double embedding_scale_ = 1;  // as its dtype holds it
    bool views_known_ = false, d_q_fresh_ = true, emitted_ = false;
    bool partial_pending_ = false;  // an attention to the past that is not merged yet
    LayerViews views_;
    struct KnownRope {
        int64_t chunk = -1;
        RopeTable keys, queries;  // queries may be scaled
    };
    std::vector<KnownRope> ropes_;   // by chunk in flight and kind of layer
    RopeTable rope_, rope_q_;        // of this chunk and layer
    at::Tensor loss_sum_, squares_;  // fp64, one value each, on the device
    double target_scale_ = 0, norm_ = 0;
};

}  // namespace headroom::engine
