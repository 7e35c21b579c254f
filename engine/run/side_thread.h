// One thread beside the one that hands ops over: jobs one after the other, in the order in which they came.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace headroom::engine {

class SideThread {
public:
    SideThread() = default;
    ~SideThread();  // after the last job
    SideThread(const SideThread&) = delete;
    SideThread& operator=(const SideThread&) = delete;

    // Returns at once; the job must not throw. How many jobs there were, this one included.
    int64_t add(std::function<void()> job);
    // Blocks until so many jobs are done.
    void wait_for(int64_t jobs);
    void drain();

private:
    void work();

    std::mutex mutex_;
    std::condition_variable more_, done_;
    std::deque<std::function<void()>> jobs_;
    int64_t added_ = 0, ended_ = 0;
    bool stop_ = false;
    std::jthread thread_;  // started by the first job
};

}  // namespace headroom::engine
