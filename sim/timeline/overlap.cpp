#include "timeline/overlap.h"

#include <algorithm>

namespace headroom {

int64_t overlap_ns(std::span<const Interval> a, std::span<const Interval> b) {
    int64_t sum = 0;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const int64_t begin = std::max(a[i].begin_ns, b[j].begin_ns);
        const int64_t end = std::min(a[i].end_ns, b[j].end_ns);
        sum += std::max<int64_t>(0, end - begin);
        if (a[i].end_ns < b[j].end_ns)
            ++i;
        else
            ++j;
    }
    return sum;
}

int64_t length_ns(std::span<const Interval> list) {
    int64_t sum = 0;
    for (const Interval& interval : list) sum += interval.end_ns - interval.begin_ns;
    return sum;
}

std::vector<Interval> union_of(std::span<const std::vector<Interval>> lists) {
    std::vector<Interval> all;
    std::vector<size_t> next(lists.size());
    for (;;) {
        size_t first = lists.size();
        for (size_t k = 0; k < lists.size(); ++k) {
            if (next[k] < lists[k].size() &&
                (first == lists.size() || lists[k][next[k]].begin_ns < lists[first][next[first]].begin_ns)) {
                first = k;
            }
        }
        if (first == lists.size()) return all;
        const Interval& interval = lists[first][next[first]++];
        if (!all.empty() && interval.begin_ns <= all.back().end_ns) {
            all.back().end_ns = std::max(all.back().end_ns, interval.end_ns);
        } else {
            all.push_back(interval);
        }
    }
}

}  // namespace headroom
