#include "program/check.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace headroom {
namespace {

std::string op_place(const Program& p, OpId id) {
    return "op " + std::to_string(id) + " (" + std::string(name_of(p.ops[id].kind)) + ")";
}
std::string buffer_place(const Buffer& b) {
    return "buffer '" + b.name + "' of the " + std::string(name_of(b.tier));
}

tl::unexpected<Error> broken(std::string where, std::string found, std::string allowed) {
    return fail(std::move(where), std::move(found), std::move(allowed), Fault::run_failed);
}

Result<void> check_ops(const Program& p) {
    if (num_vertices(p.waits) != p.size()) {
        return broken("waits", std::to_string(num_vertices(p.waits)) + " vertices",
                      "one for each of the " + std::to_string(p.size()) + " ops");
    }
    for (OpId id = 0; id < p.size(); ++id) {
        const Op& op = p.ops[id];
        if (op.kind >= OpKind::count_ || op.stream >= Stream::count_ || op.pass >= Pass::count_) {
            return broken("op " + std::to_string(id), "a kind, stream or pass that does not exist", "");
        }
        if (op.work >= p.works.size()) {
            return broken(op_place(p, id), "work " + std::to_string(op.work),
                          "below " + std::to_string(p.works.size()));
        }
        const auto [begin, end] = adjacent_vertices(id, p.waits);
        for (auto w = begin; w != end; ++w) {
            if (*w >= id)
                return broken(op_place(p, id), "it waits for op " + std::to_string(*w), "a lower id");
            if (p.ops[*w].stream == op.stream) {
                return broken(op_place(p, id), "it waits for op " + std::to_string(*w) + " of its own stream",
                              "other streams: its own keeps order");
            }
        }
    }
    return {};
}

using Live = std::array<std::array<int64_t, kCategories>, kTiers>;

// Bytes of a tier inside its arena.
int64_t in_arena(const Live& live, size_t tier) {
    const auto& row = live[tier];
    return std::accumulate(row.begin(), row.end(), int64_t{0}) -
           row[static_cast<size_t>(Category::libraries)];
}

Result<void> check_changes(const Program& p) {
    Live live = p.standing;
    for (size_t i = 0; i < p.changes.size();) {
        const OpId op = p.changes[i].op;
        if (op >= p.size() || (i > 0 && op < p.changes[i - 1].op)) {
            return broken("memory change " + std::to_string(i), "op " + std::to_string(op),
                          "ops in ascending order");
        }
        size_t end = i;
        while (end < p.changes.size() && p.changes[end].op == op) ++end;
        for (const bool at_end : {false, true}) {
            for (size_t j = i; j < end; ++j) {
                const MemoryChange& c = p.changes[j];
                if (c.at_end != at_end) continue;
                int64_t& bytes = live[static_cast<size_t>(c.tier)][static_cast<size_t>(c.category)];
                bytes += c.bytes;
                if (bytes < 0 && at_end) {
                    return broken(op_place(p, op),
                                  std::to_string(bytes) + " bytes of " + std::string(name_of(c.category)) +
                                      " on the " + std::string(name_of(c.tier)),
                                  "0 or more");
                }
            }
            for (size_t t = 0; t < kTiers && !at_end; ++t) {
                if (in_arena(live, t) <= p.arena[t]) continue;
                return broken(op_place(p, op),
                              std::to_string(in_arena(live, t)) + " bytes live on the " +
                                  std::string(name_of(static_cast<Tier>(t))),
                              "its arena, " + std::to_string(p.arena[t]) + " bytes");
            }
        }
        i = end;
    }
    for (size_t t = 0; t < kTiers; ++t) {
        for (size_t c = 0; c < kCategories; ++c) {
            if (live[t][c] == p.standing[t][c]) continue;
            return broken("the end of the step",
                          std::to_string(live[t][c]) + " bytes of " +
                              std::string(name_of(static_cast<Category>(c))) + " on the " +
                              std::string(name_of(static_cast<Tier>(t))),
                          std::to_string(p.standing[t][c]) + ", as before the step");
        }
    }
    return {};
}

// Buffers of `tier` that have bytes, by address.
std::vector<BufferId> by_address(const Program& p, Tier tier) {
    std::vector<BufferId> ids;
    for (BufferId b = 0; b < p.buffers.size(); ++b) {
        if (p.buffers[b].tier == tier && p.buffers[b].bytes > 0) ids.push_back(b);
    }
    std::stable_sort(ids.begin(), ids.end(),
                     [&](BufferId a, BufferId b) { return p.buffers[a].address < p.buffers[b].address; });
    return ids;
}

Result<void> check_places(const Program& p, Tier tier) {
    int64_t any_end = 0, own_end = 0;  // of the buffers so far; of those with an address of their own
    for (const BufferId id : by_address(p, tier)) {
        const Buffer& b = p.buffers[id];
        const int64_t arena = p.arena[static_cast<size_t>(tier)];
        if (b.address < 0 || b.address % kAlignment != 0 || b.bytes > arena - b.address) {
            return broken(buffer_place(b), std::to_string(b.bytes) + " bytes at " + std::to_string(b.address),
                          "a multiple of " + std::to_string(kAlignment) + " within the arena of " +
                              std::to_string(arena) + " bytes");
        }
        if (b.address < (b.shares ? own_end : any_end)) {
            return broken(buffer_place(b), "its address " + std::to_string(b.address) + " is another's too",
                          "an address that nothing else has");
        }
        any_end = std::max(any_end, b.address + b.bytes);
        if (!b.shares) own_end = std::max(own_end, b.address + b.bytes);
    }
    return {};
}

Result<void> check_lifetimes(const Program& p) {
    const HappensBefore before(p);
    std::vector<Lifetime> lifetimes;
    std::vector<int64_t> edges;  // of the shared buffers' addresses: they cut the arena into segments
    for (const Lifetime& l : p.lifetimes) {
        if (l.buffer >= p.buffers.size())
            return broken("lifetimes", "buffer " + std::to_string(l.buffer), "");
        const Buffer& b = p.buffers[l.buffer];
        if (!b.shares) continue;
        if (b.tier != Tier::device || l.first >= p.size() || l.last >= p.size() ||
            (l.first != l.last && !before(l.first, l.last))) {
            return broken(buffer_place(b),
                          "live from op " + std::to_string(l.first) + " to " + std::to_string(l.last),
                          "two ops of the step, one before the other");
        }
        lifetimes.push_back(l);
        edges.push_back(b.address);
        edges.push_back(b.address + b.bytes);
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::stable_sort(lifetimes.begin(), lifetimes.end(),
                     [](const Lifetime& a, const Lifetime& b) { return a.first < b.first; });
    std::vector<const Lifetime*> held(edges.size(), nullptr);  // the last of each segment
    for (const Lifetime& l : lifetimes) {
        const Buffer& b = p.buffers[l.buffer];
        const auto first =
            static_cast<size_t>(std::lower_bound(edges.begin(), edges.end(), b.address) - edges.begin());
        for (size_t s = first; s < edges.size() && edges[s] < b.address + b.bytes; ++s) {
            if (held[s] != nullptr && !before(held[s]->last, l.first)) {
                return broken(op_place(p, l.first),
                              buffer_place(b) + " begins where '" + p.buffers[held[s]->buffer].name +
                                  "' may still be live, to " + op_place(p, held[s]->last),
                              "lifetimes one after the other");
            }
            held[s] = &l;
        }
    }
    return {};
}

}  // namespace

HappensBefore::HappensBefore(const Program& program) : program_(program), ended_(program.size()) {
    std::array<OpId, kStreams> last;
    last.fill(kNone);
    const auto join = [&](std::array<OpId, kStreams>& into, OpId op) {
        const auto raise = [](OpId& known, OpId to) {
            if (to != kNone && (known == kNone || known < to)) known = to;
        };
        for (size_t s = 0; s < kStreams; ++s) raise(into[s], ended_[op][s]);
        raise(into[static_cast<size_t>(program_.ops[op].stream)], op);
    };
    for (OpId id = 0; id < program.size(); ++id) {
        auto& ended = ended_[id];
        ended.fill(kNone);
        OpId& previous = last[static_cast<size_t>(program.ops[id].stream)];
        if (previous != kNone) join(ended, previous);
        const auto [begin, end] = adjacent_vertices(id, program.waits);
        for (auto w = begin; w != end; ++w) join(ended, *w);
        previous = id;
    }
}

Result<void> check_program(const Program& program) {
    HEADROOM_CHECK(check_ops(program));
    HEADROOM_CHECK(check_changes(program));
    for (size_t t = 0; t < kTiers; ++t) HEADROOM_CHECK(check_places(program, static_cast<Tier>(t)));
    return check_lifetimes(program);
}

}  // namespace headroom
