#include <algorithm>
#include <vector>

#include "base/text.h"

namespace headroom {
namespace {

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 1.
// Time |a| |b|, three rows of memory.
size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
    constexpr size_t kLongest = 200;  // no name of ours is longer; keeps hostile input cheap
    if (name.size() > kLongest) return {};
    std::string best;
    size_t best_distance = SIZE_MAX;
    for (const std::string& candidate : candidates) {
        const size_t distance = edit_distance(name, candidate);
        if (3 * distance > std::max(name.size(), candidate.size()) || distance >= best_distance) continue;
        best = candidate;
        best_distance = distance;
    }
    return best;
}

std::string one_of(std::span<const std::string> names) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
        text += "'" + names[i] + "'";
    }
    return text;
}

}  // namespace headroom
