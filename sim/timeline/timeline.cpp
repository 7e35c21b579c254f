#include "timeline/timeline.h"

#include <algorithm>
#include <tuple>

namespace headroom {
namespace {

auto members(const Traffic& t) {
    return std::tie(t.chunk, t.layer, t.pass, t.selected, t.loaded, t.hit, t.evicted, t.gradients_loaded,
                    t.written_back, t.first_touched, t.loaded_bytes, t.written_bytes);
}

auto members(const Timeline& t) {
    return std::tie(t.source, t.plan, t.plan_hash, t.selection_source, t.machine, t.date, t.rates, t.excerpt,
                    t.results, t.capacity_bytes, t.ops, t.waits_begin, t.waits, t.memory);
}

}  // namespace

bool Timeline::operator==(const Timeline& other) const {
    return members(*this) == members(other) &&
           std::equal(traffic.begin(), traffic.end(), other.traffic.begin(), other.traffic.end(),
                      [](const Traffic& a, const Traffic& b) { return members(a) == members(b); });
}

}  // namespace headroom
