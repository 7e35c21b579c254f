// A few threads that wait for work and do many small pieces of it at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headroom {

class SideBySide {
public:
    // The thread that asks for work does some of it itself: `threads` - 1 are started.
    explicit SideBySide(int threads);
    ~SideBySide();
    SideBySide(const SideBySide&) = delete;
    SideBySide& operator=(const SideBySide&) = delete;

    // work(0) ... work(count - 1), each once, in any order; returns when all have ended. It must not throw.
    // One run at a time. Cost: about 10 us where the threads sleep.
    void run(size_t count, const std::function<void(size_t)>& work);

private:
    void take(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::condition_variable more_, done_;
    const std::function<void(size_t)>* work_ = nullptr;
    size_t count_ = 0, next_ = 0, ended_ = 0;
    bool stop_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace headroom
