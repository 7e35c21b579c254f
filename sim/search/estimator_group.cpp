#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <numeric>
#include <type_traits>
#include <utility>

#include "program/layer.h"
#include "program/page_traffic.h"
#include "program/parameters.h"
#include "program/past.h"
#include "search/estimator_parts.h"
#include "simulate/simulate.h"
#include "strategy/strategy.h"

namespace headroom {
namespace {

constexpr int64_t kPoints = 16;      // chunks at which a pass is priced
constexpr int64_t kEarlyChunk = 16;  // of a long dense step: where the past is past its beginning

// On the line from `a` (t = 0) through `b` (t = 1); never below zero.
double mix(double a, double b, double t) {
    return std::max(0.0, a + t * (b - a));
}

Busy mix(const Busy& a, const Busy& b, double t) {
    Busy m;
    m.compute = mix(a.compute, b.compute, t);
    m.peer = mix(a.peer, b.peer, t);
    m.disk = mix(a.disk, b.disk, t);
    m.other_in = mix(a.other_in, b.other_in, t);
    m.other_out = mix(a.other_out, b.other_out, t);
    for (size_t c = 0; c < kCopies; ++c) {
        m.pages_in[c] = mix(a.pages_in[c], b.pages_in[c], t);
        m.gradients_in[c] = mix(a.gradients_in[c], b.gradients_in[c], t);
        m.pages_out[c] = mix(a.pages_out[c], b.pages_out[c], t);
        m.gradients_out[c] = mix(a.gradients_out[c], b.gradients_out[c], t);
    }
    return m;
}

// A chunk whose past is longer than any one call, where the step has so many.
int64_t early_chunk(const Plan& plan) {
    return std::max(kEarlyChunk, ceil_div(2 * PastFlow::longest_call(plan), plan.decisions.chunk.count()));
}

// The chunks whose work is looked at: all of a short step, else a few. Work of a dense chunk is affine in its
// number once the past is longer than any one call, so the line is read off early chunks, which are quick to
// lower.
std::vector<int64_t> sample_chunks(const Plan& plan) {
    const int64_t n = plan.chunks();
    std::vector<int64_t> chunks;
    if (n <= kFewChunks) {
        for (int64_t c = 0; c < n; ++c) chunks.push_back(c);
        return chunks;
    }
    const int64_t early = early_chunk(plan);
    if (!plan.decisions.attention.sparse && 2 * early < n / 2) return {early, 2 * early, n - 1};
    return {1, n / 2, n - 2, n - 1};
}

// The chunks that give a step's sizes. One with a past takes and releases what any other does, in the same
// order; but two in flight take buffers between each other's, and where attention outputs are kept in the
// fill pass, the last chunk, which has none, computes them beside what its layers keep.
std::vector<int64_t> size_chunks(const Plan& plan) {
    const Decisions& d = plan.decisions;
    const int64_t n = plan.chunks();
    if (n <= 2 || d.wavefront > 1) return sample_chunks(plan);
    const int64_t one = std::min(early_chunk(plan), n - 2);
    if (d.attention_outputs == AttentionOutputs::host || d.attention_outputs == AttentionOutputs::device)
        return {one, n - 1};
    return {one};
}

bool starts_with(const std::string& text, const char* prefix) {
    return text.rfind(prefix, 0) == 0;
}

// Decisions by which candidates differ inside of one search, in a fixed order; unused places are 0.
class KeyWriter {
public:
    void add(int64_t v) { key_[used_++] = v; }
    template <class E>
    requires std::is_enum_v<E>
    void add(E v) { add(static_cast<int64_t>(v)); }
    Estimator::Key key() const { return key_; }

private:
    Estimator::Key key_{};
    size_t used_ = 0;
};

void add_selection(KeyWriter& w, const Plan& p) {
    const Decisions& d = p.decisions;
    w.add(d.attention.sparse ? 1 : 0);
    if (!d.attention.sparse) return;
    for (const int64_t v : {d.chunk.count(), d.page.count(), d.attention.budget, d.attention.block,
                            d.attention.sink, d.attention.local, d.attention.waiting})
        w.add(v);
}

void add_homes(KeyWriter& w, const Plan& p) {
    const Decisions& d = p.decisions;
    for (const int64_t v : {d.tensor_ranks, d.ring_ranks, d.chunk.count()}) w.add(v);
    w.add(d.weights);
    for (const Home home : {d.weights_home, d.gradients_home, d.states_home}) w.add(home);
}

Estimator::Key selection_key(const Plan& p) {
    KeyWriter w;
    add_selection(w, p);
    return w.key();
}

Estimator::Key homes_key(const Plan& p) {
    KeyWriter w;
    add_homes(w, p);
    return w.key();
}

// `ns`: of the op, for each way of copying pages.
void add_busy(Busy& busy, const Op& op, const std::array<int64_t, kCopies>& ns) {
    const auto add = [&](std::array<double, kCopies>& sums) {
        for (size_t c = 0; c < kCopies; ++c) sums[c] += static_cast<double>(ns[c]);
    };
    switch (op.stream) {
        case Stream::compute:
            busy.compute += static_cast<double>(ns[0]);
            break;
        case Stream::peer:
            busy.peer += static_cast<double>(ns[0]);
            break;
        case Stream::disk:
            busy.disk += static_cast<double>(ns[0]);
            break;
        case Stream::to_device:
            if (op.kind == OpKind::load_pages) return add(busy.pages_in);
            if (op.kind == OpKind::load_page_gradients) return add(busy.gradients_in);
            busy.other_in += static_cast<double>(ns[0]);
            break;
        case Stream::to_host:
            if (op.kind == OpKind::store_pages) return add(busy.pages_out);
            if (op.kind == OpKind::store_page_gradients) return add(busy.gradients_out);
            busy.other_out += static_cast<double>(ns[0]);
            break;
        case Stream::count_:
            break;
    }
}

using Samples = std::map<int64_t, Busy>;

Busy at_chunk(const Samples& by_chunk, int64_t chunk, int64_t n) {
    const std::vector<std::pair<int64_t, Busy>> samples(by_chunk.begin(), by_chunk.end());
    if (samples.empty()) return {};
    // The last chunk of the step has passes of its own; the others lie on a line between samples.
    size_t count = samples.size();
    if (samples.back().first == n - 1) {
        if (chunk == n - 1 || count == 1) return samples.back().second;
        --count;
    }
    if (count == 1) return samples.front().second;
    size_t hi = 1;
    while (hi + 1 < count && samples[hi].first < chunk) ++hi;
    const auto& [a, busy_a] = samples[hi - 1];
    const auto& [b, busy_b] = samples[hi];
    return mix(busy_a, busy_b, static_cast<double>(chunk - a) / static_cast<double>(b - a));
}

// The points of a pass of `chunks` chunks, in a step of n.
std::vector<PricedChunk> points_of(const Samples& samples, int64_t chunks, int64_t n) {
    std::vector<PricedChunk> points;
    if (samples.empty()) return points;
    const int64_t count = std::min(chunks, kPoints);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t c = (2 * i + 1) * chunks / (2 * count);
        points.push_back({at_chunk(samples, c, n), static_cast<double>(chunks) / static_cast<double>(count)});
    }
    return points;
}

// Decisions that the sizes of a group depend on. Pages on disk pass through buffers of their own, however
// many they are.
void add_sizes(KeyWriter& w, const Plan& p) {
    const Decisions& d = p.decisions;
    const Residency &k = d.kv_residency, &g = d.kv_gradient_residency;
    const auto all = strategies();
    w.add(std::find_if(all.begin(), all.end(), [&](const Strategy* s) { return s->name() == d.strategy; }) -
          all.begin());
    for (const int64_t v : {d.tensor_ranks, d.ring_ranks, d.chunk.count(), d.page.count(), d.segment.count(),
                            d.staging_slot.count(), d.wavefront, d.loss_tile.count(), d.logits_fp32,
                            d.mlp_tile.count(), k.device_chunks, g.device_chunks}) {
        w.add(v);
    }
    for (const bool v : {k.disk_chunks > 0 || g.disk_chunks > 0, d.honour_windows, d.deterministic,
                         d.fill_head, d.write_back_clean, d.load_gradients_forward})
        w.add(v ? 1 : 0);
    for (const Dtype v : {d.weights, d.kv, d.kv_gradients}) w.add(v);
    w.add(d.gradient_pages);
    w.add(d.attention_outputs);
    w.add(d.activations);
    add_selection(w, p);
    if (by_chunks(p)) return;
    w.add(d.staging_slots);
    w.add(d.prefetch);
}

Estimator::Key sizes_key(const Plan& p) {
    KeyWriter w;
    add_sizes(w, p);
    return w.key();
}

}  // namespace

Estimator::Key Estimator::group_key(const Plan& p) const {
    KeyWriter w;
    add_sizes(w, p);
    w.add(p.decisions.kv_residency.disk_chunks);
    w.add(p.decisions.kv_gradient_residency.disk_chunks);
    if (!by_chunks(p)) {  // priced whole, homes included
        add_homes(w, p);
        w.add(std::bit_cast<int64_t>(link_speed_));
    }
    return w.key();
}

const SelectionSet& Estimator::selections(const Plan& plan) {
    return selected(plan).set;
}

const Estimator::Selected& Estimator::selected(const Plan& plan) {
    const std::lock_guard lock(selecting_);
    auto& entry = selections_[selection_key(plan)];
    if (entry) return *entry;
    entry = std::make_unique<Selected>();
    entry->set = select_pages(plan);
    if (entry->set.layers.empty()) return *entry;
    const Selections& s = entry->set.layers.front();
    const int64_t n = plan.chunks(), per_chunk = plan.decisions.chunk.count() / plan.decisions.page.count();
    const int64_t pages = ceil_div(plan.context.count(), plan.decisions.page.count());
    std::vector<int64_t> last_reader(static_cast<size_t>(pages), -1);
    for (int64_t c = 0; c < n; ++c) {
        for (uint32_t i = s.begin[static_cast<size_t>(c)]; i < s.begin[static_cast<size_t>(c) + 1]; ++i)
            last_reader[s.pages[i]] = c;
    }
    std::vector<int64_t> change(static_cast<size_t>(n) + 1, 0);
    const int64_t stride = sample_stride(n);
    entry->live_before.assign(static_cast<size_t>(ceil_div(n, stride)),
                              std::vector<int64_t>(static_cast<size_t>(n) + 1, 0));
    for (int64_t p = 0; p < pages; ++p) {
        const int64_t owner = p / per_chunk, last = last_reader[static_cast<size_t>(p)];
        if (last < owner) continue;
        ++change[static_cast<size_t>(owner)];
        --change[static_cast<size_t>(last) + 1];
        // The samples n - 1 - i * stride in owner ... last.
        for (int64_t i = ceil_div(n - 1 - last, stride); n - 1 - i * stride >= owner; ++i)
            ++entry->live_before[static_cast<size_t>(i)][static_cast<size_t>(owner) + 1];
    }
    for (std::vector<int64_t>& of : entry->live_before) std::partial_sum(of.begin(), of.end(), of.begin());
    std::partial_sum(change.begin(), change.end() - 1, std::back_inserter(entry->live));
    return *entry;
}

Estimator::Sizes Estimator::sizes_in(const Program& program) {
    Sizes s;
    int64_t first_scratch = program.arena[0];
    for (const Buffer& b : program.buffers) {
        if (b.shares) first_scratch = std::min(first_scratch, b.address);
        const bool staged_kv = starts_with(b.name, "staged pages"),
                   staged_gradient = starts_with(b.name, "staged page gradients");
        if (staged_kv) s.kv_slot = b.bytes;
        if (staged_gradient) s.gradient_slot = b.bytes;
        for (const char* name : {"hidden states in slot", "hidden states out slot",
                                 "hidden gradients in slot", "layer inputs"}) {
            if (starts_with(b.name, name)) s.input_slots += b.bytes / 2;
        }
        if (staged_kv || starts_with(b.name, "own pages")) s.kv_slots += b.bytes;
        if (staged_gradient || starts_with(b.name, "own page gradients")) s.gradient_slots += b.bytes;
    }
    s.scratch = program.arena[0] - first_scratch;
    for (size_t t = 0; t < kTiers; ++t) {
        for (size_t c = 0; c < kCategories; ++c) {
            const Category category = static_cast<Category>(c);
            if (category == Category::weights || category == Category::gradients ||
                category == Category::optimizer)
                continue;
            s.standing[t] += program.standing[t][c];
        }
    }
    s.whole_need = program.arena;
    s.whole_need[0] += program.standing[0][static_cast<size_t>(Category::libraries)];
    return s;
}

const Estimator::Sizes& Estimator::sizes_of(const Plan& plan) {
    const auto lowered = [&](const std::vector<int64_t>& chunks) {
        return sizes_in(
            find_strategy(plan.decisions.strategy)->lower(plan, selected(plan).set, {chunks, true}));
    };
    auto& entry = sizes_[sizes_key(plan)];  // stays where it is when others are added
    if (entry) return *entry;
    Plan no_disk = plan;
    no_disk.decisions.kv_residency.disk_chunks = no_disk.decisions.kv_gradient_residency.disk_chunks = 0;
    if (by_chunks(plan) && sizes_key(no_disk) != sizes_key(plan)) {
        // Scratch is the compute stream's, which does not see the disk; any chunk gives the rest.
        const int64_t scratch = sizes_of(no_disk).scratch;
        entry = std::make_unique<Sizes>(lowered({0}));
        entry->scratch = scratch;
    } else {
        entry = std::make_unique<Sizes>(lowered(size_chunks(plan)));
    }
    return *entry;
}

Estimator::Group& Estimator::group_of(const Plan& plan) {
    const Key key = group_key(plan);
    if (last_group_ != nullptr && key == last_group_key_) return *last_group_;
    auto& entry = groups_[key];
    if (!entry || (!entry->timed && !bytes_only_)) {
        entry = std::make_unique<Group>();
        Group& g = *entry;
        g.timed = !bytes_only_;
        Plan p = plan;
        const int64_t n = p.chunks();
        const bool whole = !by_chunks(p);
        if (!whole || bytes_only_)
            p.decisions.weights_home = p.decisions.gradients_home = p.decisions.states_home = Home::device;
        if (!whole) {
            p.decisions.staging_slots = 2;
            p.decisions.prefetch = 1;
            p.decisions.page_copy = PageCopy::batch;
            p.decisions.page_cache = Bytes(0);
        }
        if (!whole && residency_is_free(p))
            p.decisions.kv_residency.device_layers = p.decisions.kv_gradient_residency.device_layers = 0;
        const Selected& of_selection = selected(p);
        Plan one = p;
        one.recipe.batch = 1;
        Program program;
        if (g.timed) {
            const std::vector<int64_t> chunks = sample_chunks(p);
            program = find_strategy(p.decisions.strategy)->lower(one, of_selection.set, {chunks, false});
            static_cast<Sizes&>(g) = sizes_in(program);
        } else {
            static_cast<Sizes&>(g) = sizes_of(one);
            // Lowered with parameters on the device, which stand beside all else: put where they are.
            for (size_t t = 0; whole && t < kTiers; ++t)
                g.whole_need[t] += homes_of(plan).arena[t] - homes_of(p).arena[t];
        }
        const RankSizes s(p);
        const int64_t rows =
            ceil_div(std::min(p.decisions.chunk.count(), p.context.count()), p.decisions.ring_ranks);
        g.output_bytes = rows * (s.q * s.element + s.heads * s.sum);
        g.hidden_bytes = rows * s.hidden * s.element;
        g.kv_page = bytes_of(p.decisions.kv, 2 * p.decisions.page.count() * s.kv).count();
        g.gradient_page = bytes_of(p.decisions.kv_gradients, 2 * p.decisions.page.count() * s.kv).count();

        if (whole && g.timed) {
            if (const Result<Simulation> simulated = simulate(program, p.hardware))
                g.whole_ns = simulated->duration_ns;
        } else if (g.timed) {
            std::vector<std::array<int64_t, kCopies>> cost(program.works.size());
            for (size_t i = 0; i < cost.size(); ++i) {
                for (size_t c = 0; c < kCopies; ++c) {
                    Work work = program.works[i];
                    if (work.kind == WorkKind::copy_to_device || work.kind == WorkKind::copy_to_host)
                        work.copy = static_cast<PageCopy>(c);
                    cost[i][c] = duration_of(work, p.hardware).count();
                }
            }
            std::map<int64_t, Busy> fill, gradient;
            for (const Op& op : program.ops) {
                if (op.chunk == kNone) continue;
                if (op.pass == Pass::fill) add_busy(fill[op.chunk], op, cost[op.work]);
                if (op.pass == Pass::gradient) add_busy(gradient[op.chunk], op, cost[op.work]);
            }
            const bool head_chunk = p.decisions.fill_head || !residency_is_free(p);
            g.fill = points_of(fill, head_chunk ? n : n - 1, n);
            g.gradient = points_of(gradient, n, n);
        }
        // Gradient pages alive, by layer kind.
        const int64_t per_chunk = p.decisions.chunk.count() / p.decisions.page.count();
        const bool at_once = p.decisions.gradient_pages == GradientPages::all_at_once;
        for (const Layer& layer : p.model.layers) {
            const int64_t window = p.decisions.honour_windows ? layer.window : 0;
            if (p.decisions.attention.sparse && window == 0) {
                ++g.sparse_layers;
            } else {
                const int64_t reach = visible_past((n - 1) * p.decisions.chunk.count(), window);
                const int64_t pages =
                    ceil_div(reach, p.decisions.page.count()) + (window > 0 ? per_chunk : 0);
                g.window_pages.push_back(at_once ? n * per_chunk : std::min(pages, (n - 1) * per_chunk));
            }
        }
        g.live_gradients = of_selection.live;
        if (at_once) {
            for (size_t c = 0; c < g.live_gradients.size(); ++c)
                g.live_gradients[c] = (static_cast<int64_t>(c) + 1) * per_chunk;
        }
        if (g.sparse_layers == 0) g.live_gradients.clear();
    }
    last_group_key_ = key;
    return *(last_group_ = entry.get());
}

const Estimator::Homes& Estimator::homes_of(const Plan& plan) {
    const Key key = homes_key(plan);
    if (last_homes_ != nullptr && key == last_homes_key_) return *last_homes_;
    auto& entry = homes_[key];
    if (!entry || (!entry->timed && !bytes_only_)) {
        entry = std::make_unique<Homes>();
        Homes& h = *entry;
        h.timed = !bytes_only_;
        StepBuilder builder(0, bytes_only_);
        LayerEmitter emitter(plan, builder, std::min(plan.decisions.chunk.count(), plan.context.count()), 0);
        ParameterFlow flow(plan, builder, emitter);
        flow.begin_step();
        flow.update();
        const Program program = builder.finish();
        for (size_t t = 0; t < kTiers; ++t) {
            for (const Category c : {Category::weights, Category::gradients, Category::optimizer}) {
                h.standing[t] += program.standing[t][static_cast<size_t>(c)];
            }
        }
        h.arena = program.arena;
        if (h.timed) {
            if (const Result<Simulation> simulated = simulate(program, plan.hardware))
                h.setup_and_update_ns = simulated->duration_ns;
        }

        const ParameterUnits units(plan);
        const ParameterBytes bytes(plan);
        const auto link = [&](WorkKind direction, int64_t b) {
            return duration_of(copy(direction, b, ceil_div(b, 64 * kMiB)), plan.hardware).count();
        };
        const int64_t head = units.head > 0 ? units.head : units.embedding;
        if (plan.decisions.weights_home == Home::host) {
            for (const int64_t p : units.layers)
                h.fill_in_ns += link(WorkKind::copy_to_device, p * bytes.weight);
            h.gradient_in_ns = 2 * h.fill_in_ns + link(WorkKind::copy_to_device, head * bytes.weight);
        }
        if (plan.decisions.gradients_home == Home::host) {
            for (const int64_t p : units.trainable_layers) {
                h.gradients_in_ns += link(WorkKind::copy_to_device, p * bytes.gradient);
                h.gradients_out_ns += link(WorkKind::copy_to_host, p * bytes.gradient);
            }
            if (units.trainable_rest > 0) {
                h.gradients_in_ns += link(WorkKind::copy_to_device, head * bytes.gradient);
                h.gradients_out_ns += link(WorkKind::copy_to_host, head * bytes.gradient);
            }
        }
    }
    last_homes_key_ = key;
    return *(last_homes_ = entry.get());
}

}  // namespace headroom
