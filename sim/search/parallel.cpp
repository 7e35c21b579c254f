#include "search/parallel.h"

#include <algorithm>
#include <atomic>
#include <future>

namespace headroom {
namespace {

constexpr size_t kThreads = 2;  // a search of a million tokens takes hundreds of MiB

}  // namespace

bool run_all(const std::vector<std::function<void()>>& jobs, const std::function<bool(size_t)>& go_on) {
    std::atomic<size_t> next = 0;
    std::atomic<bool> stopped = false;
    const auto work = [&](bool asks) {
        for (size_t i = next++; i < jobs.size() && !stopped; i = next++) {
            if (asks && go_on && !go_on(i)) stopped = true;
            if (!stopped) jobs[i]();
        }
    };
    std::vector<std::future<void>> others;
    for (size_t t = 1; t < std::min(kThreads, jobs.size()); ++t)
        others.push_back(std::async(std::launch::async, work, false));
    work(true);
    for (std::future<void>& other : others) other.get();
    return !stopped;
}

}  // namespace headroom
