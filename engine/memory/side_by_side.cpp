#include "memory/side_by_side.h"

namespace headroom {

SideBySide::SideBySide(int threads) {
    for (int i = 1; i < threads; ++i) {
        threads_.emplace_back([this] {
            std::unique_lock lock(mutex_);
            while (true) {
                more_.wait(lock, [this] { return stop_ || next_ < count_; });
                if (stop_) return;
                take(lock);
            }
        });
    }
}

SideBySide::~SideBySide() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    more_.notify_all();
}

void SideBySide::take(std::unique_lock<std::mutex>& lock) {
    while (next_ < count_) {
        const size_t index = next_++;
        lock.unlock();
        (*work_)(index);
        lock.lock();
        if (++ended_ == count_) done_.notify_all();
    }
}

void SideBySide::run(size_t count, const std::function<void(size_t)>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = ended_ = 0;
    if (count > 1) more_.notify_all();
    take(lock);
    done_.wait(lock, [this] { return ended_ == count_; });
    count_ = next_ = 0;
}

}  // namespace headroom
