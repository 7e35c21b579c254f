#include "run/side_thread.h"

#include <utility>

namespace headroom::engine {

SideThread::~SideThread() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    more_.notify_all();
}

int64_t SideThread::add(std::function<void()> job) {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(std::move(job));
    if (!thread_.joinable()) thread_ = std::jthread([this] { work(); });
    more_.notify_all();
    return ++added_;
}

void SideThread::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        more_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        const std::function<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        lock.lock();
        ++ended_;
        done_.notify_all();
    }
}

void SideThread::wait_for(int64_t jobs) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return ended_ >= jobs; });
}

void SideThread::drain() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return ended_ == added_; });
}

}  // namespace headroom::engine
