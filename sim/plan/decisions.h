// Everything a plan decides, each decision one member with the key it has in scenario and plan files.
//
// Contract: plain data. visit_decisions() is the only list of keys: reading, writing, fixing and comparing go
// through it, so a new decision is one member and one line there.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "base/units.h"
#include "hardware/work.h"

namespace headroom {

// Where a tensor kind lives between uses. `ranks`: sharded over the GPUs, gathered over the peer link.
enum class Home : uint8_t { device, host, ranks };
// Attention outputs and their log-sum-exp: computed again in every forward, kept from a chunk's second
// forward for its third, or kept from the fill pass on the device or the host.
enum class AttentionOutputs : uint8_t { recompute, chunk, device, host };
// Of the chunk (or sequence) in its backward pass: every activation kept; or layer inputs alone, with one
// more forward per layer.
enum class Activations : uint8_t { keep, checkpoint_device, checkpoint_host };
enum class GradientPages : uint8_t { first_touch, all_at_once };

// Which keys a query attends besides its own chunk.
struct Attention {
    bool sparse = false;
    int64_t budget = 64;  // pages selected per block, sink and local included
    int64_t block = 128;  // queries that select together; at most the chunk
    int64_t sink = 1;     // first pages of the sequence, always selected
    int64_t local = 8;    // last pages before the chunk, always selected
    // Of a layer's pages (on average over its tier's layers), so many may have gradients and wait for their
    // own chunk at once; where they do, pages are selected that add to none of them. 0: any number.
    int64_t waiting = 0;
    bool operator==(const Attention&) const = default;
};

// Homes of paged tensors. Layers [spread evenly] on the device hold all their pages there; of the others, the
// first `device_chunks` chunks are on the device (every later chunk reads them), the last `disk_chunks` on
// disk (read least), the rest on the host.
struct Residency {
    int64_t device_layers = 0;
    int64_t device_chunks = 0;
    int64_t disk_chunks = 0;
    bool operator==(const Residency&) const = default;
};

struct Decisions {
    std::string strategy = "chunked";  // a registered strategy (strategy/strategy.h)
    int64_t tensor_ranks = 1;          // tensor parallel degree; divides kv_heads
    int64_t ring_ranks = 1;            // ring attention degree

    // These change the trained result: fixed by the scenario or its defaults, searched only where it allows.
    Attention attention;
    Tokens chunk{4096};  // a multiple of page (changes the result when sparse)
    Tokens page{128};
    bool honour_windows = true;  // windowed layers attend their window (the model's own definition)
    Dtype weights = Dtype::bf16;
    Dtype kv = Dtype::bf16;
    Dtype kv_gradients = Dtype::bf16;

    // These do not.
    Tokens segment{8192};  // keys attended by one library call
    bool deterministic = false;
    Home weights_home = Home::device;
    Home gradients_home = Home::device;
    Home states_home = Home::device;
    Residency kv_residency;           // of K and V
    Residency kv_gradient_residency;  // of dK and dV
    GradientPages gradient_pages = GradientPages::first_touch;
    AttentionOutputs attention_outputs = AttentionOutputs::recompute;
    Activations activations = Activations::keep;
    int64_t prefetch = 1;       // pieces of work ahead that a load may run; 0: when it is needed
    int64_t staging_slots = 2;  // slots that pages travel through; >= prefetch + 1
    // Largest slot of K and V pages; the past of a layer travels in such pieces.
    Bytes staging_slot{kGiB / 2};
    PageCopy page_copy = PageCopy::batch;
    Bytes page_cache{0};      // device memory that keeps host pages after use (sparse)
    int64_t wavefront = 1;    // chunks in flight in the fill pass: 1 or 2
    Tokens loss_tile{1024};   // tokens whose logits exist at once; 0: the whole chunk or sequence
    int64_t logits_fp32 = 0;  // fp32 copies of the logits beside the bf16 ones
    Tokens mlp_tile{0};       // tokens of the MLP at once; 0: all
    // What the authors' code does and a better plan does not.
    bool fill_head = false;               // LM head and the whole last layer in the fill pass
    bool write_back_clean = false;        // unchanged K and V written back after every use
    bool load_gradients_forward = false;  // dK and dV travel in forward passes too

    bool operator==(const Decisions&) const = default;
};

// Calls visit(key, member) for every decision, in file order. `D` is Decisions or const Decisions.
template <class D, class Visit>
void visit_decisions(D& d, Visit&& visit) {
    visit("strategy", d.strategy);
    visit("tensor_ranks", d.tensor_ranks);
    visit("ring_ranks", d.ring_ranks);
    visit("attention", d.attention);
    visit("chunk", d.chunk);
    visit("page", d.page);
    visit("honour_windows", d.honour_windows);
    visit("weights_dtype", d.weights);
    visit("kv_dtype", d.kv);
    visit("kv_gradients_dtype", d.kv_gradients);
    visit("segment", d.segment);
    visit("deterministic", d.deterministic);
    visit("weights_home", d.weights_home);
    visit("gradients_home", d.gradients_home);
    visit("states_home", d.states_home);
    visit("kv", d.kv_residency);
    visit("kv_gradients", d.kv_gradient_residency);
    visit("gradient_pages", d.gradient_pages);
    visit("attention_outputs", d.attention_outputs);
    visit("activations", d.activations);
    visit("prefetch", d.prefetch);
    visit("staging_slots", d.staging_slots);
    visit("staging_slot", d.staging_slot);
    visit("page_copy", d.page_copy);
    visit("page_cache", d.page_cache);
    visit("wavefront", d.wavefront);
    visit("loss_tile", d.loss_tile);
    visit("logits_fp32", d.logits_fp32);
    visit("mlp_tile", d.mlp_tile);
    visit("fill_head", d.fill_head);
    visit("write_back_clean", d.write_back_clean);
    visit("load_gradients_forward", d.load_gradients_forward);
}

}  // namespace headroom
