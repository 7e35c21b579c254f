// What one more unit of each resource buys, found by searching again with it.
#pragma once

#include <atomic>
#include <future>
#include <vector>

#include "search/answer.h"
#include "search/search.h"

namespace headroom {

// The best plan on two GPUs, looked for on a thread of its own: it needs nothing of the search on one.
class SecondGpuSearch {
public:
    // Starts it, unless the scenario cannot have a second GPU.
    explicit SecondGpuSearch(const Scenario& scenario);
    ~SecondGpuSearch() { stop_ = true; }  // and waits for the candidate in work
    SecondGpuSearch(const SecondGpuSearch&) = delete;
    SecondGpuSearch& operator=(const SecondGpuSearch&) = delete;

    bool started() const { return found_.valid(); }
    Result<Found> get() { return found_.get(); }  // once, where it was started

private:
    std::atomic<bool> stop_ = false;
    std::future<Result<Found>> found_;
};

// `found`: the answer without, `sampled_ns` the searcher's best by sampling (Found). Budgets and a faster
// link reuse what the searcher has lowered. Cost: tens of milliseconds each; times are of sampled steps
// (Estimator::sampling).
std::vector<Gain> gains(const Scenario& scenario, Searcher& searcher, const Answer& found, int64_t sampled_ns,
                        SecondGpuSearch& second_gpu);

}  // namespace headroom
