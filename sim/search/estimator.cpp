#include "search/estimator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "program/layer.h"
#include "program/page_traffic.h"
#include "program/parameters.h"
#include "program/past.h"
#include "simulate/simulate.h"

namespace headroom {
namespace {

constexpr int64_t kPoints = 16;   // chunks at which a pass is priced
constexpr int64_t kFewChunks = 8; // steps of up to this many chunks are lowered whole

constexpr size_t kCopies = 3;  // kinds of PageCopy

// Work of the streams on one chunk in one pass.
struct Busy {
    int64_t compute = 0, peer = 0, disk = 0;
    // Over the host link; pages by the way they are copied (PageCopy).
    std::array<int64_t, kCopies> pages_in{}, gradients_in{}, pages_out{}, gradients_out{};
    int64_t other_in = 0, other_out = 0;
};

// On the line from `a` (t = 0) through `b` (t = 1); never below zero.
int64_t mix(int64_t a, int64_t b, double t) {
    return std::max<int64_t>(0, static_cast<int64_t>(static_cast<double>(a) + t * static_cast<double>(b - a)));
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

// The chunks whose work is looked at: all of a short step, else a few.
std::vector<int64_t> sample_chunks(int64_t n) {
    std::vector<int64_t> chunks;
    if (n <= kFewChunks) {
        for (int64_t c = 0; c < n; ++c) chunks.push_back(c);
        return chunks;
    }
    return {1, n / 2, n - 2, n - 1};
}

bool by_chunks(const Plan& plan) { return plan.chunks() > 1; }
bool residency_is_free(const Plan& plan) { return plan.decisions.strategy != "layer-major"; }

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

bool travels(const Residency& r, int64_t layers, int64_t chunks) {
    return r.device_layers < layers && r.device_chunks < chunks;
}

}  // namespace

// Page gradients live at each chunk of the gradient pass, of one sparse layer, in pages.
struct PagesByChunk {
    int64_t chunk = 0, live = 0;
};

struct Estimator::Group {
    int64_t scratch = 0;
    std::array<int64_t, kTiers> standing{};   // without parameters, gradients, states
    int64_t kv_slots = 0, gradient_slots = 0; // of `standing`, on the device: all of two slots' ring
    int64_t kv_slot = 0, gradient_slot = 0, hidden_slots = 0;  // one slot more of each
    int64_t output_bytes = 0, hidden_bytes = 0;
    int64_t kv_page = 0, gradient_page = 0;   // bytes
    std::vector<std::pair<int64_t, Busy>> fill, gradient;  // by sample chunk, ascending
    std::vector<int64_t> live_gradients;      // pages of one sparse layer at each chunk of the gradient pass
    int64_t sparse_layers = 0;
    std::vector<int64_t> window_pages;        // by dense layer: most gradient pages alive, K and V aside
    std::array<int64_t, kTiers> whole_need{}; // one-chunk steps: everything, exactly
    int64_t whole_ns = 0;
};

struct Estimator::Homes {
    std::array<int64_t, kTiers> standing{};
    int64_t setup_and_update_ns = 0;
    int64_t fill_in_ns = 0, gradient_in_ns = 0;         // weights, for each chunk
    int64_t gradients_in_ns = 0, gradients_out_ns = 0;  // weight gradients, for each chunk
};

Estimator::Estimator(const Plan& base) : base_(base) {}
Estimator::~Estimator() = default;

namespace {

std::string selection_key(const Plan& p) {
    const Decisions& d = p.decisions;
    if (!d.attention.sparse) return "dense";
    return fmt::format("{}/{}/{}/{}/{}/{}/{}", p.context.count(), d.chunk.count(), d.page.count(), d.attention.budget,
                       d.attention.block, d.attention.sink, d.attention.local);
}

std::string homes_key(const Plan& p) {
    const Decisions& d = p.decisions;
    return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}", d.tensor_ranks, d.ring_ranks, d.chunk.count(), static_cast<int>(d.weights),
                       static_cast<int>(d.weights_home), static_cast<int>(d.gradients_home),
                       static_cast<int>(d.states_home), p.recipe.lora_rank);
}

std::string group_key(const Plan& p) {
    const Decisions& d = p.decisions;
    const Residency &k = d.kv_residency, &g = d.kv_gradient_residency;
    std::string key = fmt::format(
        "{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}", d.strategy, d.tensor_ranks, d.ring_ranks, selection_key(p),
        d.chunk.count(), d.page.count(), d.segment.count(), d.honour_windows, static_cast<int>(d.weights),
        static_cast<int>(d.kv), static_cast<int>(d.kv_gradients), d.deterministic, static_cast<int>(d.gradient_pages),
        static_cast<int>(d.attention_outputs), static_cast<int>(d.activations), d.staging_slot.count(), d.wavefront,
        d.loss_tile.count());
    key += fmt::format("/{}/{}/{}/{}/{}/{}/{}/{}/{}", d.logits_fp32, d.mlp_tile.count(), d.fill_head,
                       d.write_back_clean, d.load_gradients_forward, k.device_chunks, k.disk_chunks, g.device_chunks, g.disk_chunks);
    if (!by_chunks(p)) key += "/" + homes_key(p);  // priced whole, homes included
    return key;
}

// `ns`: of the op, for each way of copying pages.
void add_busy(Busy& busy, const Op& op, const std::array<int64_t, kCopies>& ns) {
    const auto add = [&](std::array<int64_t, kCopies>& sums) {
        for (size_t c = 0; c < kCopies; ++c) sums[c] += ns[c];
    };
    switch (op.stream) {
        case Stream::compute: busy.compute += ns[0]; break;
        case Stream::peer: busy.peer += ns[0]; break;
        case Stream::disk: busy.disk += ns[0]; break;
        case Stream::to_device:
            if (op.kind == OpKind::load_pages) return add(busy.pages_in);
            if (op.kind == OpKind::load_page_gradients) return add(busy.gradients_in);
            busy.other_in += ns[0];
            break;
        case Stream::to_host:
            if (op.kind == OpKind::store_pages) return add(busy.pages_out);
            if (op.kind == OpKind::store_page_gradients) return add(busy.gradients_out);
            busy.other_out += ns[0];
            break;
        case Stream::count_: break;
    }
}

}  // namespace

const SelectionSet& Estimator::selections(const Plan& plan) {
    auto& entry = selections_[selection_key(plan)];
    if (!entry) entry = std::make_unique<SelectionSet>(select_pages(plan));
    return *entry;
}

const Estimator::Group& Estimator::group_of(const Plan& plan) {
    const std::string key = group_key(plan);
    if (last_group_ != nullptr && key == last_group_key_) return *last_group_;
    auto& entry = groups_[key];
    if (!entry) {
        entry = std::make_unique<Group>();
        Group& g = *entry;
        Plan p = plan;
        const int64_t n = p.chunks(), layers = p.model.layer_count();
        const bool whole = !by_chunks(p);
        if (!whole) p.decisions.weights_home = p.decisions.gradients_home = p.decisions.states_home = Home::device;
        if (!whole) {
            p.decisions.staging_slots = 2;
            p.decisions.prefetch = 1;
            p.decisions.page_copy = PageCopy::batch;
            p.decisions.page_cache = Bytes(0);
        }
        if (!whole && residency_is_free(p)) p.decisions.kv_residency.device_layers = p.decisions.kv_gradient_residency.device_layers = 0;
        const SelectionSet& selected = selections(p);
        const std::vector<int64_t> chunks = sample_chunks(n);
        Plan few = p;
        few.recipe.batch = 1;
        const Program program = find_strategy(p.decisions.strategy)->lower(few, selected, chunks);

        int64_t first_scratch = program.arena[0];
        for (const Buffer& b : program.buffers) {
            if (b.shares) first_scratch = std::min(first_scratch, b.address);
            const bool staged_kv = starts_with(b.name, "staged pages"), staged_gradient = starts_with(b.name, "staged page gradients");
            if (staged_kv) g.kv_slot = b.bytes;
            if (staged_gradient) g.gradient_slot = b.bytes;
            if (starts_with(b.name, "hidden states in slot") || starts_with(b.name, "hidden states out slot") || starts_with(b.name, "hidden gradients in slot")) g.hidden_slots += b.bytes / 2;
            if (staged_kv || starts_with(b.name, "own pages")) g.kv_slots += b.bytes;
            if (staged_gradient || starts_with(b.name, "own page gradients")) g.gradient_slots += b.bytes;
        }
        g.scratch = program.arena[0] - first_scratch;
        for (size_t t = 0; t < kTiers; ++t) {
            for (size_t c = 0; c < kCategories; ++c) {
                const Category category = static_cast<Category>(c);
                if (category == Category::weights || category == Category::gradients || category == Category::optimizer) continue;
                g.standing[t] += program.standing[t][c];
            }
        }
        const RankSizes s(p);
        const int64_t rows = ceil_div(std::min(p.decisions.chunk.count(), p.context.count()), p.decisions.ring_ranks);
        g.output_bytes = rows * (s.q * s.element + s.heads * 4);
        g.hidden_bytes = rows * s.hidden * s.element;
        g.kv_page = bytes_of(p.decisions.kv, 2 * p.decisions.page.count() * s.kv).count();
        g.gradient_page = bytes_of(p.decisions.kv_gradients, 2 * p.decisions.page.count() * s.kv).count();

        if (whole) {
            Result<Simulation> simulated = simulate(program, p.hardware);
            g.whole_need = program.arena;
            g.whole_need[0] += program.standing[0][static_cast<size_t>(Category::libraries)];
            if (simulated) g.whole_ns = simulated->duration_ns;
        } else {
            std::vector<std::array<int64_t, kCopies>> cost(program.works.size());
            for (size_t i = 0; i < cost.size(); ++i) {
                for (size_t c = 0; c < kCopies; ++c) {
                    Work work = program.works[i];
                    if (work.kind == WorkKind::copy_to_device || work.kind == WorkKind::copy_to_host) work.copy = static_cast<PageCopy>(c);
                    cost[i][c] = duration_of(work, p.hardware).count();
                }
            }
            std::map<int64_t, Busy> fill, gradient;
            for (const Op& op : program.ops) {
                if (op.chunk == kNone) continue;
                if (op.pass == Pass::fill) add_busy(fill[op.chunk], op, cost[op.work]);
                if (op.pass == Pass::gradient) add_busy(gradient[op.chunk], op, cost[op.work]);
            }
            g.fill.assign(fill.begin(), fill.end());
            g.gradient.assign(gradient.begin(), gradient.end());
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
                const int64_t pages = ceil_div(reach, p.decisions.page.count()) + (window > 0 ? per_chunk : 0);
                g.window_pages.push_back(at_once ? n * per_chunk : std::min(pages, (n - 1) * per_chunk));
            }
        }
        if (g.sparse_layers > 0 && !selected.layers.empty()) {
            const auto all = all_moves(p, selected, {});
            const std::vector<PageMoves>& moves = all->front();
            g.live_gradients.assign(static_cast<size_t>(n), 0);
            int64_t live = at_once ? n * per_chunk : 0;
            for (int64_t c = n - 1; c >= 0; --c) {
                const PageMoves& m = moves[static_cast<size_t>(c)];
                live += m.first_touched;
                g.live_gradients[static_cast<size_t>(c)] = live;
                live -= at_once ? per_chunk : m.own_touched;
            }
        }
        (void)layers;
    }
    last_group_key_ = key;
    return *(last_group_ = entry.get());
}

const Estimator::Homes& Estimator::homes_of(const Plan& plan) {
    const std::string key = homes_key(plan);
    if (last_homes_ != nullptr && key == last_homes_key_) return *last_homes_;
    auto& entry = homes_[key];
    if (!entry) {
        entry = std::make_unique<Homes>();
        Homes& h = *entry;
        StepBuilder builder;
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
        if (const Result<Simulation> simulated = simulate(program, plan.hardware)) h.setup_and_update_ns = simulated->duration_ns;

        const ParameterUnits units(plan);
        const ParameterBytes bytes(plan);
        const auto link = [&](WorkKind direction, int64_t b) {
            return duration_of(copy(direction, b, ceil_div(b, 64 * kMiB)), plan.hardware).count();
        };
        const int64_t head = units.head > 0 ? units.head : units.embedding;
        if (plan.decisions.weights_home == Home::host) {
            for (const int64_t p : units.layers) h.fill_in_ns += link(WorkKind::copy_to_device, p * bytes.weight);
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

namespace {

Busy at_chunk(const std::vector<std::pair<int64_t, Busy>>& samples, int64_t chunk, int64_t n) {
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

}  // namespace

Score Estimator::score(const Plan& plan) {
    const Group& g = group_of(plan);
    Score score;
    if (!by_chunks(plan)) {
        score.need_bytes = g.whole_need;
        score.step_ns = g.whole_ns * plan.recipe.batch;
        return score;
    }
    const Homes& h = homes_of(plan);
    const Decisions& d = plan.decisions;
    const int64_t n = plan.chunks(), layers = plan.model.layer_count();
    const int64_t per_chunk = d.chunk.count() / d.page.count();
    const Residency &kv = d.kv_residency, &gr = d.kv_gradient_residency;
    auto& need = score.need_bytes;
    for (size_t t = 0; t < kTiers; ++t) need[t] = g.standing[t] + h.standing[t];
    need[0] += g.scratch;
    if (residency_is_free(plan)) {
        const int64_t more = d.staging_slots - 2;
        need[0] += travels(kv, layers, n - 1) ? more * g.kv_slot : -g.kv_slots;
        need[0] += travels(gr, layers, n) ? more * g.gradient_slot : -g.gradient_slots;
        if (g.sparse_layers > 0) need[0] += d.page_cache.count();
    } else {
        need[0] += (d.staging_slots - 2) * g.hidden_slots;
    }
    // What the page cache saves of the loads: a share, from the selections themselves.
    double fill_miss = 1, back_miss = 1;
    if (g.sparse_layers > 0 && d.page_cache.count() > 0 && kv.device_layers < layers) {
        const auto sums = [&](const CachePages& cache) {
            std::array<double, 2> sum{};
            for (const PageMoves& m : all_moves(plan, selections(plan), cache)->front()) {
                sum[0] += m.fill_host;
                sum[1] += m.back_host + m.grad_load_host;
            }
            return sum;
        };
        const auto without = sums({}), with = sums(cache_pages(plan));
        if (without[0] > 0) fill_miss = with[0] / without[0];
        if (without[1] > 0) back_miss = with[1] / without[1];
    }
    const size_t how = static_cast<size_t>(d.page_copy);

    // Pools. K and V of a chunk live until the chunk after it has run backward; gradient pages from first touch.
    const bool layer_major = !residency_is_free(plan);
    const int64_t pool_layers = layer_major ? 1 : layers;
    const int64_t kv_layers = layer_major ? 1 : kv.device_layers, gr_layers = layer_major ? 1 : gr.device_layers;
    std::array<int64_t, kTiers> pool{};
    const auto live = [&](int64_t c) {  // at the peak of chunk c's backward pass (c = n - 1: the first)
        std::array<int64_t, kTiers> bytes{};
        const int64_t kv_chunks = std::min(c + 0, n - 1);
        const int64_t on_disk = std::clamp<int64_t>(kv_chunks - (n - kv.disk_chunks), 0, kv_chunks);
        const int64_t near = std::min(kv.device_chunks, kv_chunks);
        bytes[0] += (kv_layers * kv_chunks + (pool_layers - kv_layers) * near) * per_chunk * g.kv_page;
        bytes[2] += (pool_layers - kv_layers) * on_disk * per_chunk * g.kv_page;
        bytes[1] += (pool_layers - kv_layers) * (kv_chunks - near - on_disk) * per_chunk * g.kv_page;
        // Gradient pages of sparse layers (alike), then of each dense one; device layers are spread evenly.
        double pages = 0;
        if (!g.live_gradients.empty()) pages += static_cast<double>(g.live_gradients[static_cast<size_t>(c)] * g.sparse_layers);
        for (const int64_t w : g.window_pages) pages += static_cast<double>(std::min(w, std::min(c + 1, n - 1) * per_chunk));
        pages /= static_cast<double>(layers);
        const double device_share = static_cast<double>(gr_layers), off = static_cast<double>(pool_layers - gr_layers);
        const double near_share = n > 1 ? static_cast<double>(std::min(gr.device_chunks, n - 1)) / static_cast<double>(n - 1) : 0;
        const double disk_share = n > 1 ? static_cast<double>(std::min(gr.disk_chunks, n - 1)) / static_cast<double>(n - 1) : 0;
        const double page = static_cast<double>(g.gradient_page);
        bytes[0] += static_cast<int64_t>(page * pages * (device_share + off * near_share));
        bytes[2] += static_cast<int64_t>(page * pages * off * disk_share);
        bytes[1] += static_cast<int64_t>(page * pages * off * (1 - near_share - disk_share));
        return bytes;
    };
    const int64_t stride = g.live_gradients.empty() ? n : std::max<int64_t>(1, n / 64);
    for (int64_t c = n - 1; c >= 0; c -= stride) {
        const auto bytes = live(c);
        for (size_t t = 0; t < kTiers; ++t) pool[t] = std::max(pool[t], bytes[t]);
    }
    for (size_t t = 0; t < kTiers; ++t) need[t] += pool[t];
    if (d.attention_outputs == AttentionOutputs::host) need[1] += layers * (n - 1) * g.output_bytes;
    if (d.attention_outputs == AttentionOutputs::device) need[0] += layers * (n - 1) * g.output_bytes;
    if (layer_major) {
        need[d.activations == Activations::checkpoint_host ? 1 : 0] += (layers + 1) * n * g.hidden_bytes;
    } else if (d.activations == Activations::checkpoint_host) {
        need[1] += layers * g.hidden_bytes;
    }

    // Time: the busiest stream of each chunk.
    const double kv_share = layer_major ? 0 : static_cast<double>(layers - kv.device_layers) / static_cast<double>(layers);
    const double gr_share = layer_major ? 0 : static_cast<double>(layers - gr.device_layers) / static_cast<double>(layers);
    double total = 0;
    for (const bool fill : {true, false}) {
        const auto& samples = fill ? g.fill : g.gradient;
        if (samples.empty()) continue;
        const int64_t chunks = fill && !layer_major && !d.fill_head ? n - 1 : n;
        const int64_t points = std::min(chunks, kPoints);
        for (int64_t i = 0; i < points; ++i) {
            const int64_t c = (2 * i + 1) * chunks / (2 * points);
            const Busy b = at_chunk(samples, c, n);
            const double weight = static_cast<double>(chunks) / static_cast<double>(points);
            const double miss = fill ? fill_miss : back_miss;
            const double in = miss * kv_share * static_cast<double>(b.pages_in[how]) + miss * gr_share * static_cast<double>(b.gradients_in[how]) +
                              static_cast<double>(b.other_in) +
                              (layer_major ? static_cast<double>(fill ? h.fill_in_ns : h.gradient_in_ns) / static_cast<double>(n)
                                           : static_cast<double>(fill ? h.fill_in_ns : h.gradient_in_ns + h.gradients_in_ns));
            const double out = kv_share * static_cast<double>(b.pages_out[how]) + gr_share * static_cast<double>(b.gradients_out[how]) +
                               static_cast<double>(b.other_out) +
                               (fill ? 0.0 : static_cast<double>(h.gradients_out_ns) / (layer_major ? static_cast<double>(n) : 1.0));
            total += weight * std::max({static_cast<double>(b.compute), in, out, static_cast<double>(b.peer), static_cast<double>(b.disk)});
        }
    }
    score.step_ns = h.setup_and_update_ns + static_cast<int64_t>(total) * plan.recipe.batch;
    return score;
}

int64_t Estimator::sampled_step_ns(const Plan& plan) {
    const int64_t n = plan.chunks();
    const Strategy& strategy = *find_strategy(plan.decisions.strategy);
    const SelectionSet& selected = selections(plan);
    if (n <= kFewChunks || plan.decisions.strategy == "layer-major") {
        Plan p = plan;
        std::vector<int64_t> chunks;
        if (n > kFewChunks) {
            p.recipe.batch = 1;
            chunks = {n / 8, n / 4, n / 2 - 1, n / 2, n - n / 4, n - n / 8};
        }
        const Program program = strategy.lower(p, selected, chunks);
        const Result<Simulation> s = simulate(program, plan.hardware);
        if (!s) return 0;
        if (chunks.empty()) return s->duration_ns;
        const int64_t fixed = homes_of(plan).setup_and_update_ns;
        return fixed + (s->duration_ns - fixed) * n / static_cast<int64_t>(chunks.size()) * plan.recipe.batch;
    }
    // Pairs of neighbours: the second of each pair runs as in the steady state.
    Plan p = plan;
    p.recipe.batch = 1;
    const std::vector<int64_t> starts{n / 8, n / 2, n - 3};
    std::vector<int64_t> chunks;
    for (const int64_t c : starts) {
        chunks.push_back(c);
        chunks.push_back(c + 1);
    }
    chunks.push_back(n - 1);
    const Program program = strategy.lower(p, selected, chunks);
    const Result<Simulation> s = simulate(program, plan.hardware);
    if (!s) return 0;
    // When the compute stream finished each chunk, by pass.
    std::map<int64_t, int64_t> fill_end, gradient_end;
    int64_t passes_end = 0;
    for (size_t i = 0; i < program.ops.size(); ++i) {
        const Op& op = program.ops[i];
        if (op.stream != Stream::compute || op.chunk == kNone) continue;
        if (op.pass == Pass::fill) fill_end[op.chunk] = s->end_ns[i];
        if (op.pass == Pass::gradient) gradient_end[op.chunk] = s->end_ns[i];
        passes_end = std::max(passes_end, s->end_ns[i]);
    }
    const auto line = [&](const std::vector<std::pair<double, double>>& points, double count) {
        // Mean of the line through the points over chunks 0 .. count - 1, times count.
        double sum = 0;
        for (int64_t i = 0; i < kPoints; ++i) {
            const double c = (static_cast<double>(i) + 0.5) * count / static_cast<double>(kPoints);
            size_t hi = 1;
            while (hi + 1 < points.size() && points[hi].first < c) ++hi;
            const auto& [x0, y0] = points[hi - 1];
            const auto& [x1, y1] = points[hi];
            sum += std::max(0.0, y0 + (y1 - y0) * (c - x0) / (x1 - x0));
        }
        return sum * count / static_cast<double>(kPoints);
    };
    double total = 0;
    const bool pairs_in_fill = plan.decisions.wavefront > 1;
    std::vector<std::pair<double, double>> fill, gradient;
    int64_t before = 0;
    for (const int64_t c : starts) {
        // With two chunks in flight both end together: the pair's time, halved.
        const double both = static_cast<double>(fill_end[c + 1] - before);
        const double second = static_cast<double>(fill_end[c + 1] - fill_end[c]);
        fill.emplace_back(static_cast<double>(c + 1), pairs_in_fill ? both / 2 : second);
        before = fill_end[c + 1];
        gradient.emplace_back(static_cast<double>(c), static_cast<double>(gradient_end[c] - gradient_end[c + 1]));
    }
    total += line(fill, static_cast<double>(n - 1)) + line(gradient, static_cast<double>(n));
    return homes_of(plan).setup_and_update_ns + static_cast<int64_t>(total) * plan.recipe.batch;
}

}  // namespace headroom
