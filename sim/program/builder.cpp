#include "program/builder.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <utility>

namespace headroom {
namespace {

// Stable. Linear: millions of changes, most of them in order.
void sort_by_op(std::vector<MemoryChange>& changes, size_t ops) {
    const auto by_op = [](const MemoryChange& a, const MemoryChange& b) { return a.op < b.op; };
    if (std::is_sorted(changes.begin(), changes.end(), by_op)) return;
    std::vector<uint32_t> place(ops + 1, 0);  // of the next change of each op
    for (const MemoryChange& c : changes) ++place[c.op + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<MemoryChange> sorted(changes.size());
    for (const MemoryChange& c : changes) sorted[place[c.op]++] = c;
    changes = std::move(sorted);
}

}  // namespace

size_t StepBuilder::WorkHash::operator()(const Work& w) const {
    uint64_t h = 1469598103934665603ull;
    const auto mix = [&h](int64_t v) {
        h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    };
    mix(static_cast<int64_t>(w.kind) * 8 + static_cast<int64_t>(w.copy) * 2 + (w.causal ? 1 : 0));
    for (const int64_t v : {int64_t{w.batch}, w.m, w.n, w.k, w.pieces, w.bytes, w.flops}) mix(v);
    return h;
}

StepBuilder::StepBuilder(size_t expected_ops, bool sizes_only) : sizes_only_(sizes_only) {
    if (!sizes_only_) {
        program_.ops.reserve(expected_ops);
        waits_begin_.reserve(expected_ops + 1);
        program_.changes.reserve(3 * expected_ops);  // memory that is not written to costs nothing
    }
    last_.fill(kNone);
}

uint32_t StepBuilder::work(const Work& work) {
    if (sizes_only_) return 0;
    const auto [at, fresh] = interned_.try_emplace(work, static_cast<uint32_t>(program_.works.size()));
    if (fresh) program_.works.push_back(work);
    return at->second;
}

OpId StepBuilder::op(Stream stream, OpKind kind, uint32_t work, std::initializer_list<OpId> waits,
                     int64_t piece) {
    const OpId id = next_++;
    last_[static_cast<size_t>(stream)] = id;
    if (sizes_only_) return id;
    program_.ops.push_back(
        Op{work, chunk, layer, static_cast<uint16_t>(piece), kind, stream, pass, sequence});
    waits_begin_.push_back(static_cast<uint32_t>(waits_.size()));
    for (const OpId w : waits) {
        assert(w == kNone || w < id);
        if (w != kNone && program_.ops[w].stream != stream) waits_.push_back(w);
    }
    return id;
}

void StepBuilder::change(Tier tier, Category category, int64_t bytes, OpId op, bool at_end) {
    if (sizes_only_) return;
    program_.changes.push_back(MemoryChange{bytes, op, tier, category, at_end});
}

BufferId StepBuilder::buffer(std::string name, Tier tier, Category category, int64_t bytes,
                             int64_t alignment) {
    if (bytes <= 0) return kNone;
    const BufferId id = static_cast<BufferId>(program_.buffers.size());
    if (alignment != kAlignment) aligned_[id] = alignment;
    program_.buffers.push_back(Buffer{std::move(name), tier, category, bytes, 0, false});
    program_.lifetimes.push_back(Lifetime{id, kNone, kNone});
    program_.standing[static_cast<size_t>(tier)][static_cast<size_t>(category)] += bytes;
    scratch_index_.push_back(kNone);
    return id;
}

BufferId StepBuilder::scratch(std::string name, Category category, int64_t bytes) {
    if (bytes <= 0) return kNone;
    const BufferId id = static_cast<BufferId>(program_.buffers.size());
    program_.buffers.push_back(Buffer{std::move(name), Tier::device, category, bytes, 0, true});
    scratch_index_.push_back(static_cast<uint32_t>(scratch_.size()));
    Scratch s;
    s.buffer = id;
    s.request.bytes = bytes;
    scratch_.push_back(std::move(s));
    live_.resize(scratch_.size() / 64 + 1, 0);
    return id;
}

void StepBuilder::take(BufferId buffer, OpId op) {
    if (buffer == kNone) return;
    const uint32_t index = scratch_index_[buffer];
    if (index == kNone) return;  // its address is its own: always live
    Scratch& s = scratch_[index];
    if (s.taken_at != kNone) return;
    s.taken_at = op;
    // What is released at the end of `op` or later still lives beside it.
    size_t kept = 0;
    for (const auto& left : leaving_) {
        if (left.second < op) {
            live_[left.first / 64] &= ~(uint64_t{1} << (left.first % 64));
        } else if (left.first != index) {
            leaving_[kept++] = left;
        }
    }
    leaving_.resize(kept);
    auto& conflicts = s.request.conflicts;
    if (conflicts.size() < live_.size()) conflicts.resize(live_.size(), 0);
    for (size_t i = 0; i < live_.size(); ++i) conflicts[i] |= live_[i];
    const uint64_t self = uint64_t{1} << (index % 64);
    conflicts[index / 64] &= ~self;
    live_[index / 64] |= self;
    s.used = true;
    change(Tier::device, program_.buffers[buffer].category, s.request.bytes, op, false);
}

void StepBuilder::release(BufferId buffer, OpId op) {
    if (buffer == kNone) return;
    const uint32_t index = scratch_index_[buffer];
    if (index == kNone) return;
    Scratch& s = scratch_[index];
    assert(s.taken_at != kNone && "released what was not taken");
    if (!sizes_only_) program_.lifetimes.push_back(Lifetime{buffer, s.taken_at, op});
    s.taken_at = kNone;
    leaving_.emplace_back(index, op);
    change(Tier::device, program_.buffers[buffer].category, -s.request.bytes, op, true);
}

bool StepBuilder::live(BufferId buffer) const {
    if (buffer == kNone || scratch_index_[buffer] == kNone) return false;
    return scratch_[scratch_index_[buffer]].taken_at != kNone;
}

void StepBuilder::stand(Tier tier, Category category, int64_t bytes) {
    program_.standing[static_cast<size_t>(tier)][static_cast<size_t>(category)] += bytes;
}

PoolId StepBuilder::pool(std::string name, Tier tier, int64_t unit) {
    Pool p;
    p.buffer = static_cast<BufferId>(program_.buffers.size());
    p.tier = tier;
    p.unit = unit;
    program_.buffers.push_back(Buffer{std::move(name), tier, Category::kv, 0, 0, false});
    scratch_index_.push_back(kNone);
    pools_.push_back(std::move(p));
    return static_cast<PoolId>(pools_.size() - 1);
}

void StepBuilder::pool_spare(PoolId pool, int64_t units) {
    pools_[pool].spare = units;
}

void StepBuilder::pool_take(PoolId pool, Category category, int64_t units, OpId op, OpId after) {
    if (units == 0) return;
    Pool& p = pools_[pool];
    const OpId known = after == kNone ? op : after;
    while (!p.freed.empty() && p.freed.front().first < known) {
        p.live -= p.freed.front().second;
        p.freed.pop_front();
    }
    p.live += units;
    p.peak = std::max(p.peak, p.live + p.spare);
    change(p.tier, category, checked_mul(units, p.unit), op, false);
}

void StepBuilder::pool_free(PoolId pool, Category category, int64_t units, OpId op) {
    if (units == 0) return;
    Pool& p = pools_[pool];
    p.freed.emplace_back(op, units);
    change(p.tier, category, -checked_mul(units, p.unit), op, true);
}

void StepBuilder::assign_addresses() {
    assert(
        std::none_of(scratch_.begin(), scratch_.end(), [](const Scratch& s) { return s.taken_at != kNone; }));
    const size_t words = live_.size();
    std::vector<Packable> requests;
    requests.reserve(scratch_.size());
    for (Scratch& s : scratch_) {
        s.request.conflicts.resize(words, 0);
        if (!s.used) s.request.bytes = program_.buffers[s.buffer].bytes = 0;  // this plan never needs it
        requests.push_back(std::move(s.request));
    }
    for (size_t i = 0; i < requests.size(); ++i) {  // make symmetric
        for (size_t word = 0; word < words; ++word) {
            for (uint64_t bits = requests[i].conflicts[word]; bits != 0; bits &= bits - 1) {
                const size_t j = word * 64 + static_cast<size_t>(std::countr_zero(bits));
                requests[j].conflicts[i / 64] |= uint64_t{1} << (i % 64);
            }
        }
    }
    auto& arena = program_.arena;
    for (const Pool& p : pools_) program_.buffers[p.buffer].bytes = checked_mul(p.peak, p.unit);
    for (BufferId id = 0; id < program_.buffers.size(); ++id) {
        Buffer& b = program_.buffers[id];
        if (b.shares) continue;
        int64_t& end = arena[static_cast<size_t>(b.tier)];
        if (const auto aligned = aligned_.find(id); aligned != aligned_.end())
            end = round_up(end, aligned->second);
        b.address = end;
        end = checked_add(end, round_up(b.bytes, kAlignment));
    }
    const Packing packing = pack(requests, kAlignment);
    int64_t& device = arena[static_cast<size_t>(Tier::device)];
    for (size_t i = 0; i < scratch_.size(); ++i) {
        program_.buffers[scratch_[i].buffer].address = device + packing.addresses[i];
    }
    device = checked_add(device, packing.bytes);
}

Program StepBuilder::finish() {
    assign_addresses();
    if (sizes_only_) {
        program_.lifetimes.clear();
        return std::move(program_);
    }
    sort_by_op(program_.changes, program_.ops.size());
    waits_begin_.push_back(static_cast<uint32_t>(waits_.size()));
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    edges.reserve(waits_.size());
    for (uint32_t i = 0; i + 1 < waits_begin_.size(); ++i) {
        for (uint32_t e = waits_begin_[i]; e < waits_begin_[i + 1]; ++e) edges.emplace_back(i, waits_[e]);
    }
    program_.waits =
        WaitGraph(boost::edges_are_sorted, edges.begin(), edges.end(),
                  static_cast<uint32_t>(program_.ops.size()), static_cast<uint32_t>(edges.size()));
    return std::move(program_);
}

}  // namespace headroom
