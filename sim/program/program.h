// One training step as the engine executes it and the simulator prices it: ops on streams, what each waits
// for, buffers with addresses, and what each op changes in memory.
//
// Contract:
//  - A stream executes its ops in the order of their ids. An op starts when it is the next of its stream and
//  all
//    ops it waits for have ended. It waits only for ops of lower id, so the program has no cycle and never
//    blocks.
//  - Op ids depend on the plan alone, never on a selection: a predicted and a measured run lie side by side.
//  - All figures are of one GPU (rank); ranks run the same program in step (docs/decisions).
#pragma once

#include <array>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "hardware/work.h"

namespace headroom {

using OpId = uint32_t;
using BufferId = uint32_t;
inline constexpr uint32_t kNone = 0xffffffffu;
inline constexpr uint16_t kNoLayer = 0xffffu;

enum class Stream : uint8_t { compute, to_device, to_host, peer, disk, count_ };
enum class Tier : uint8_t { device, host, disk, count_ };
enum class Pass : uint8_t { setup, fill, gradient, update, count_ };

enum class OpKind : uint8_t {
    embed,
    norm,
    qkv,
    rope,
    page_means,
    select,
    attention_own,
    attention_past,
    merge,
    attention_out,
    router,
    gate_up,
    activation,
    down,
    head,
    loss,
    lora,
    head_backward,
    down_backward,
    activation_backward,
    gate_up_backward,
    router_backward,
    norm_backward,
    attention_out_backward,
    attention_own_backward,
    attention_past_backward,
    accumulate_kv_gradients,
    gather_pages,
    rope_backward,
    qkv_backward,
    embed_backward,
    lora_backward,
    weight_gradient,
    load_pages,
    store_pages,
    load_page_gradients,
    store_page_gradients,
    selection_to_host,
    load_activations,
    store_activations,
    load_attention_outputs,
    store_attention_outputs,
    load_weights,
    load_gradients,
    store_gradients,
    load_states,
    store_states,
    read_pages,
    write_pages,  // disk
    send_pages,
    all_reduce,
    all_gather,
    reduce_scatter,  // peer
    zero,
    gradient_norm,
    update,
    count_
};

// Who owns a byte.
enum class Category : uint8_t {
    weights,
    gradients,
    optimizer,
    kv,
    kv_gradients,
    activations,
    attention_outputs,
    logits,
    staging,
    page_cache,
    selection,
    page_tables,
    workspace,
    libraries,
    slack,
    count_
};

inline constexpr size_t kStreams = static_cast<size_t>(Stream::count_);
inline constexpr size_t kTiers = static_cast<size_t>(Tier::count_);
inline constexpr size_t kCategories = static_cast<size_t>(Category::count_);
inline constexpr size_t kOpKinds = static_cast<size_t>(OpKind::count_);

std::string_view name_of(Stream v);
std::string_view name_of(Tier v);
std::string_view name_of(Pass v);
std::string_view name_of(OpKind v);
std::string_view name_of(Category v);

// 16 bytes; a 4Mi step has one to two million.
struct Op {
    uint32_t work = 0;  // index of Program::works
    uint32_t chunk = kNone;
    uint16_t layer = kNoLayer;
    uint16_t piece = 0;  // which piece of the past, tile or unit, where an op kind is cut into several
    OpKind kind = OpKind::embed;
    Stream stream = Stream::compute;
    Pass pass = Pass::setup;
    uint8_t sequence = 0;  // of the batch, modulo 256
};

// Vertex = op; out-edges lead to the ops it waits for (other streams only: a stream's own order is implied).
using WaitGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                     boost::no_property, uint32_t, uint32_t>;

struct Buffer {
    std::string name;
    Tier tier = Tier::device;
    Category category = Category::activations;
    int64_t bytes = 0;
    int64_t address = 0;  // offset in the arena of its tier, aligned to kAlignment
    // True: other buffers may have the same address at other times (all its users are compute ops).
    // False: its address is its own for the whole step.
    bool shares = false;
};
inline constexpr int64_t kAlignment = 512;

// A buffer is live from the start of `first` to the end of `last`; kNone: from the beginning, to the end.
struct Lifetime {
    BufferId buffer = kNone;
    OpId first = kNone, last = kNone;
};

// At the start or the end of `op`, `bytes` more (or less) of a tier are live. 16 bytes; in op order.
struct MemoryChange {
    int64_t bytes = 0;
    OpId op = 0;
    Tier tier = Tier::device;
    Category category = Category::activations;
    bool at_end = false;
};

// Page traffic of one chunk in one layer and one pass, in pages (K and V, or dK and dV, of one page count
// once).
struct Traffic {
    uint32_t chunk = 0;
    uint16_t layer = 0;
    Pass pass = Pass::fill;
    uint32_t selected = 0;          // distinct past pages attended
    uint32_t loaded = 0;            // K and V pages that travelled to the device
    uint32_t hit = 0;               // found in the page cache
    uint32_t evicted = 0;           // dropped from the page cache
    uint32_t gradients_loaded = 0;  // dK and dV pages to the device
    uint32_t written_back =
        0;  // pages to the host: own K and V in the fill pass, dK and dV in the gradient pass
    uint32_t first_touched = 0;  // gradient pages taken from the pool
    int64_t loaded_bytes = 0, written_bytes = 0;
};

// What of a step is written down.
struct LowerOptions {
    // Only these chunks (ascending), with buffers as for the whole step; empty: all. The search prices a few
    // chunks of a long step this way.
    std::span<const int64_t> chunks;
    // Those of a step of n chunks that are emitted, ascending.
    std::vector<int64_t> of(int64_t n) const {
        std::vector<int64_t> emitted(chunks.begin(), chunks.end());
        for (int64_t c = 0; c < n && chunks.empty(); ++c) emitted.push_back(c);
        return emitted;
    }
    // Buffers, arenas and standing bytes, to the byte; no ops and nothing that names them (StepBuilder).
    bool sizes_only = false;
};

struct Program {
    std::vector<Work> works;  // distinct
    std::vector<Op> ops;
    WaitGraph waits;
    std::vector<Buffer> buffers;
    std::vector<Lifetime> lifetimes;  // of buffers
    std::vector<MemoryChange> changes;
    std::array<int64_t, kTiers> arena{};  // bytes of the one arena of each tier
    // Live before the first op, by tier and category (libraries included; they are outside the arena).
    std::array<std::array<int64_t, kCategories>, kTiers> standing{};
    std::vector<Traffic> traffic;

    size_t size() const { return ops.size(); }
    const Work& work_of(OpId op) const { return works[ops[op].work]; }
};

}  // namespace headroom
