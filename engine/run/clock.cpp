#include "run/clock.h"

#include <chrono>

#include <ATen/cuda/CUDAEvent.h>

namespace headroom::engine {
namespace {

class WallClock final : public OpClock {
public:
    explicit WallClock(size_t ops) : start_(ops), end_(ops) {}
    void begin(OpId op) override { start_[op] = now(); }
    void end(OpId op) override { end_[op] = now(); }
    void read(std::vector<int64_t>& start_ns, std::vector<int64_t>& end_ns) override {
        start_ns = start_;
        end_ns = end_;
    }

private:
    int64_t now() const {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - zero_)
            .count();
    }
    std::chrono::steady_clock::time_point zero_ = std::chrono::steady_clock::now();
    std::vector<int64_t> start_, end_;
};

// One event between neighbours: an op starts where the one before it on its stream ended.
class EventClock final : public OpClock {
public:
    explicit EventClock(size_t ops) {
        for (size_t i = 0; i <= ops; ++i) events_.emplace_back(cudaEventDefault);
    }
    void begin(OpId op) override {
        if (op == 0) events_[0].record();
    }
    void end(OpId op) override { events_[op + 1].record(); }
    void read(std::vector<int64_t>& start_ns, std::vector<int64_t>& end_ns) override {
        events_.back().synchronize();
        int64_t at = 0;
        for (size_t i = 0; i + 1 < events_.size(); ++i) {
            start_ns.push_back(at);
            at += static_cast<int64_t>(static_cast<double>(events_[i].elapsed_time(events_[i + 1])) * 1e6);
            end_ns.push_back(at);
        }
    }

private:
    std::vector<at::cuda::CUDAEvent> events_;
};

}  // namespace

std::unique_ptr<OpClock> make_clock(const at::Device& device, size_t ops) {
    if (device.is_cuda()) return std::make_unique<EventClock>(ops);
    TORCH_CHECK(device.is_cpu(), "this build has no CUDA");
    return std::make_unique<WallClock>(ops);
}

}  // namespace headroom::engine
