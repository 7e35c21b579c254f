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
    ~SecondGpuSearch() { stop(); }  // and waits for the candidate in work
    SecondGpuSearch(const SecondGpuSearch&) = delete;
    SecondGpuSearch& operator=(const SecondGpuSearch&) = delete;

    bool started() const { return found_.valid(); }
    void stop() { stop_ = true; }
    Result<Found> get() { return found_.get(); }  // once, where it was started; stopped: Fault::interrupted

private:
    std::atomic<bool> stop_ = false;
    std::future<Result<Found>> found_;
};

// A search with more of something, and the best that it found by sampling.
struct Widened {
    std::string what;
    Budget budget;
    Result<Found> found;
};
// With more of each resource of the scenario. Budgets and a faster link reuse what the searcher has lowered.
// Cost: tens of milliseconds each; times are of sampled steps (Estimator::sampling).
std::vector<Widened> widen(const Scenario& scenario, Searcher& searcher, SecondGpuSearch& second_gpu);
// What each buys over the answer without.
std::vector<Gain> gains(const std::vector<Widened>& searches, const Answer& without);

}  // namespace headroom
