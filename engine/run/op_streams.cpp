#include "run/op_streams.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "run/side_thread.h"

namespace headroom::engine {
namespace {

struct Lap {
    OpId during, op;
    int64_t ns = 0;
};

// Ops during..last, of which the first did the work of all: the others begin where the one before ends.
void lay_end_to_end(const std::vector<Lap>& laps, std::vector<int64_t>& start_ns,
                    std::vector<int64_t>& end_ns) {
    for (size_t i = 0, next = 0; i < laps.size(); i = next) {
        const OpId first = laps[i].during;
        OpId last = first;
        for (next = i; next < laps.size() && laps[next].during == first; ++next)
            last = std::max(last, laps[next].op);
        const int64_t whole = end_ns[last];
        int64_t at = start_ns[first];
        for (OpId op = first; op <= last; ++op) {
            start_ns[op] = at;
            for (size_t k = i; k < next; ++k) at += laps[k].op == op ? laps[k].ns : 0;
            end_ns[op] = at = op == last ? whole : std::min(at, whole);
        }
    }
}

class WallClock final : public OpStreams {
public:
    explicit WallClock(const Program& program)
        : program_(program), start_(program.size()), end_(program.size()) {}
    void begin_step() override {
        laps_.clear();
        jobs_.clear();
        drain();
        zero_ = std::chrono::steady_clock::now();
    }
    void begin(OpId op) override {
        op_ = op;
        const auto [first, last] = boost::out_edges(op, program_.waits);
        for (auto edge = first; edge != last; ++edge) wait_for(boost::target(*edge, program_.waits));
        aside_ = false;
        start_[op] = lap_from_ = now();
    }
    void end(OpId op) override {
        if (!aside_) end_[op] = now();
    }
    void lap(OpId op) override {
        const int64_t at = now();
        laps_.push_back({op_, op, at - lap_from_});
        lap_from_ = at;
    }
    void run_aside(std::function<void()> job) override {
        aside_ = true;
        jobs_[op_] = thread_.add([this, op = op_, job = std::move(job)] {
            start_[op] = now();
            if (job) job();
            end_[op] = now();
        });
    }
    cudaStream_t stream() const override { return nullptr; }
    void wait_for(OpId op) override {
        if (program_.ops[op].stream != Stream::disk) return;  // it ended where it was handed over
        if (const auto job = jobs_.find(op); job != jobs_.end()) thread_.wait_for(job->second);
    }
    void read(std::vector<int64_t>& start_ns, std::vector<int64_t>& end_ns) override {
        drain();
        start_ns = start_;
        end_ns = end_;
        lay_end_to_end(laps_, start_ns, end_ns);
    }
    void drain() override { thread_.drain(); }

private:
    int64_t now() const {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - zero_)
            .count();
    }
    const Program& program_;
    std::chrono::steady_clock::time_point zero_;
    std::vector<int64_t> start_, end_;        // of an op that ran aside, by that thread
    std::unordered_map<OpId, int64_t> jobs_;  // of the disk's ops: the how manieth job
    bool aside_ = false;                      // the op in work
    std::vector<Lap> laps_;
    OpId op_ = 0;
    int64_t lap_from_ = 0;
    SideThread thread_;  // the last to be made, the first to end
};

class CudaStreams final : public OpStreams {
public:
    CudaStreams(const at::Device& device, const Program& program)
        : program_(program), start_(program.size(), nullptr), end_(program.size(), nullptr) {
        for (auto& s : streams_) s = at::cuda::getStreamFromPool(false, device.index());
        // An op that waits for nothing begins where the one before it on its stream ended.
        for (OpId op = 0; op < program.size(); ++op) {
            C10_CUDA_CHECK(cudaEventCreate(&end_[op]));
            if (begins_alone(op)) C10_CUDA_CHECK(cudaEventCreate(&start_[op]));
        }
    }
    ~CudaStreams() override {
        for (const auto* events : {&start_, &end_, &lap_events_}) {
            for (cudaEvent_t e : *events) {
                if (e != nullptr) (void)cudaEventDestroy(e);
            }
        }
    }

    void begin_step() override {
        for (auto& row : known_) row.fill(kNone);
        laps_.clear();
        before_ = c10::cuda::getCurrentCUDAStream();
        // What was prepared on the caller's stream is there.
        cudaEvent_t ready = nullptr;
        C10_CUDA_CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
        C10_CUDA_CHECK(cudaEventRecord(ready, before_->stream()));
        for (auto& s : streams_) C10_CUDA_CHECK(cudaStreamWaitEvent(s->stream(), ready));
        C10_CUDA_CHECK(cudaEventDestroy(ready));
    }

    void begin(OpId op) override {
        op_ = op;
        const auto mine = static_cast<size_t>(program_.ops[op].stream);
        c10::cuda::setCurrentCUDAStream(*streams_[mine]);
        current_ = streams_[mine]->stream();
        const auto [first, last] = boost::out_edges(op, program_.waits);
        for (auto edge = first; edge != last; ++edge) {
            const OpId other = boost::target(*edge, program_.waits);
            const auto theirs = static_cast<size_t>(program_.ops[other].stream);
            // A stream that waited for a later op of that stream waited for this one too.
            OpId& known = known_[mine][theirs];
            if (known != kNone && known >= other) continue;
            known = other;
            C10_CUDA_CHECK(cudaStreamWaitEvent(current_, end_[other]));
        }
        if (start_[op] != nullptr) C10_CUDA_CHECK(cudaEventRecord(start_[op], current_));
    }
    void end(OpId op) override { C10_CUDA_CHECK(cudaEventRecord(end_[op], current_)); }
    void lap(OpId op) override {
        if (laps_.size() == lap_events_.size())
            C10_CUDA_CHECK(cudaEventCreate(&lap_events_.emplace_back(nullptr)));
        C10_CUDA_CHECK(cudaEventRecord(lap_events_[laps_.size()], current_));
        laps_.push_back({op_, op});
    }
    // A stream may call a function of the host in its order; CUDA has a thread for that.
    void run_aside(std::function<void()> job) override {
        if (!job) return;
        auto* const owned = new std::function<void()>(std::move(job));
        const auto call = [](void* data) {
            const std::unique_ptr<std::function<void()>> taken(static_cast<std::function<void()>*>(data));
            (*taken)();
        };
        const cudaError_t status = cudaLaunchHostFunc(current_, call, owned);
        if (status != cudaSuccess) delete owned;
        C10_CUDA_CHECK(status);
    }
    cudaStream_t stream() const override { return current_; }
    void wait_for(OpId op) override { C10_CUDA_CHECK(cudaEventSynchronize(end_[op])); }

    void read(std::vector<int64_t>& start_ns, std::vector<int64_t>& end_ns) override {
        drain();
        const size_t n = program_.size();
        start_ns.assign(n, 0);
        end_ns.assign(n, 0);
        // Times are sums of differences between neighbours: a difference over the whole step would have the
        // resolution of a float that long.
        cudaEvent_t reference = n > 0 ? start_[0] : nullptr;
        int64_t reference_ns = 0;
        std::array<OpId, kStreams> before{};
        before.fill(kNone);
        size_t lap = 0;
        for (OpId op = 0; op < n; ++op) {
            const auto mine = static_cast<size_t>(program_.ops[op].stream);
            const OpId previous = before[mine];
            if (start_[op] != nullptr) {
                start_ns[op] = reference_ns + between(reference, start_[op]);
                if (previous != kNone) start_ns[op] = std::max(start_ns[op], end_ns[previous]);
                end_ns[op] = start_ns[op] + std::max<int64_t>(0, between(start_[op], end_[op]));
            } else {
                start_ns[op] = end_ns[previous];
                end_ns[op] = start_ns[op] + std::max<int64_t>(0, between(end_[previous], end_[op]));
            }
            cudaEvent_t since = start_[op] != nullptr ? start_[op] : end_[previous];
            for (; lap < laps_.size() && laps_[lap].during == op; ++lap) {
                laps_[lap].ns = std::max<int64_t>(0, between(since, lap_events_[lap]));
                since = lap_events_[lap];
            }
            before[mine] = op;
            if (program_.ops[op].stream == Stream::compute) {
                reference = end_[op];
                reference_ns = end_ns[op];
            }
        }
        lay_end_to_end(laps_, start_ns, end_ns);
    }
    void drain() override {
        // The caller's stream is current again, whatever comes.
        if (before_) c10::cuda::setCurrentCUDAStream(*before_);
        for (auto& s : streams_) C10_CUDA_CHECK(cudaStreamSynchronize(s->stream()));
    }

private:
    bool begins_alone(OpId op) const {
        if (op == 0 || program_.ops[op].stream != Stream::compute) return true;
        return boost::out_degree(op, program_.waits) > 0;
    }
    static int64_t between(cudaEvent_t a, cudaEvent_t b) {
        float ms = 0;
        C10_CUDA_CHECK(cudaEventElapsedTime(&ms, a, b));
        return static_cast<int64_t>(static_cast<double>(ms) * 1e6);
    }

    const Program& program_;
    std::array<std::optional<c10::cuda::CUDAStream>, kStreams> streams_;
    std::vector<cudaEvent_t> start_, end_;
    std::vector<Lap> laps_;
    std::vector<cudaEvent_t> lap_events_;  // as many as any step had laps
    OpId op_ = 0;                          // in work
    std::array<std::array<OpId, kStreams>, kStreams> known_{};
    std::optional<c10::cuda::CUDAStream> before_;
    cudaStream_t current_ = nullptr;
};

}  // namespace

std::unique_ptr<OpStreams> make_streams(const at::Device& device, const Program& program) {
    if (device.is_cuda()) return std::make_unique<CudaStreams>(device, program);
    TORCH_CHECK(device.is_cpu(), "an engine runs on a CPU or a CUDA device");
    return std::make_unique<WallClock>(program);
}

}  // namespace headroom::engine
