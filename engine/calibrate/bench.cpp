#include "calibrate/bench.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

#include "base/interrupt.h"

namespace headroom::engine {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Marks on the current stream, or on the clock.
class Marks {
public:
    Marks(const at::Device& device, size_t count) : events_(device.is_cuda() ? count : 0), times_(count) {
        for (cudaEvent_t& e : events_) C10_CUDA_CHECK(cudaEventCreate(&e));
    }
    ~Marks() {
        for (cudaEvent_t e : events_) (void)cudaEventDestroy(e);
    }
    Marks(const Marks&) = delete;
    Marks& operator=(const Marks&) = delete;

    void set(size_t i) {
        if (events_.empty()) {
            times_[i] = Clock::now();
        } else {
            C10_CUDA_CHECK(cudaEventRecord(events_[i], at::cuda::getCurrentCUDAStream()));
        }
    }
    // Of the last one set: waits for it.
    void wait(size_t last) {
        if (!events_.empty()) C10_CUDA_CHECK(cudaEventSynchronize(events_[last]));
    }
    double seconds(size_t from, size_t to) const {
        if (events_.empty()) return std::chrono::duration<double>(times_[to] - times_[from]).count();
        float ms = 0;
        C10_CUDA_CHECK(cudaEventElapsedTime(&ms, events_[from], events_[to]));
        return static_cast<double>(ms) * 1e-3;
    }

private:
    std::vector<cudaEvent_t> events_;
    std::vector<Clock::time_point> times_;
};

tl::unexpected<Error> stopped() {
    return fail("calibrate", "interrupted", {}, Fault::interrupted);
}

// Once alone, so that what fails is known by its name.
Result<void> try_alone(Timed& piece, const at::Device& device) {
    try {
        piece.work();
        if (device.is_cuda()) C10_CUDA_CHECK(cudaStreamSynchronize(at::cuda::getCurrentCUDAStream()));
    } catch (const std::exception& e) {
        piece.problem = problem_of(e);
        if (!device.is_cuda()) return {};
        (void)cudaGetLastError();
        if (const cudaError_t status = cudaDeviceSynchronize(); status != cudaSuccess)
            return fail(piece.name,
                        piece.problem + "; CUDA's context is lost with it: " + cudaGetErrorString(status), {},
                        Fault::run_failed);
        c10::cuda::CUDACachingAllocator::emptyCache();
    }
    return {};
}

}  // namespace

std::string problem_of(const std::exception& e) {
    const auto* torch = dynamic_cast<const c10::Error*>(&e);
    std::string text = torch != nullptr ? torch->what_without_backtrace() : e.what();
    return text.substr(0, text.find('\n'));
}

Middle middle_of(std::vector<double>& samples) {
    std::sort(samples.begin(), samples.end());
    const size_t n = samples.size();
    const double median = n % 2 == 1 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    const double spread = (samples[3 * n / 4 < n ? 3 * n / 4 : n - 1] - samples[n / 4]) / median;
    return {median, std::round(spread * 1e3) / 1e3};
}

double seconds_of(const at::Device& device, const std::function<void()>& work) {
    Marks marks(device, 2);
    marks.set(0);
    work();
    marks.set(1);
    marks.wait(1);
    return marks.seconds(0, 1);
}

Result<void> time_in_rounds(std::span<Timed> pieces, const Rounds& rounds, const at::Device& device,
                            const std::string& doing, const Doing& progress) {
    for (size_t i = 0; i < pieces.size(); ++i) {
        if (!progress(doing + ", first calls: " + pieces[i].name,
                      0.5 * static_cast<double>(i) / static_cast<double>(pieces.size())))
            return stopped();
        if (pieces[i].problem.empty()) HEADROOM_CHECK(try_alone(pieces[i], device));
    }
    std::vector<size_t> order;
    for (size_t i = 0; i < pieces.size(); ++i)
        if (pieces[i].problem.empty()) order.push_back(i);
    if (order.empty()) return {};

    std::mt19937_64 dice(1);
    std::vector<std::vector<double>> samples(pieces.size());
    Marks marks(device, order.size() + 1);
    const auto begin = Clock::now();
    size_t at = 0;  // for errors
    try {
        for (int round = since(begin) < rounds.warm_seconds ? -1 : 0; round < rounds.rounds;) {
            for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[dice() % i]);
            if (rounds.before) rounds.before();
            // Work ahead of the first mark: the host then stays ahead of the device.
            for (size_t i = 0; i < std::min<size_t>(8, order.size()) && device.is_cuda(); ++i)
                pieces[at = order[i]].work();
            marks.set(0);
            for (size_t i = 0; i < order.size(); ++i) {
                pieces[at = order[i]].work();
                marks.set(i + 1);
                if (interrupted()) return stopped();
            }
            marks.wait(order.size());
            for (size_t i = 0; i < order.size() && round >= 0; ++i)
                samples[order[i]].push_back(marks.seconds(i, i + 1));
            if (!progress(doing + ", round " + std::to_string(std::max(0, round + 1)),
                          0.5 + 0.5 * std::max(0, round + 1) / static_cast<double>(rounds.rounds)))
                return stopped();
            if (round >= 0 || since(begin) >= rounds.warm_seconds) ++round;
        }
    } catch (const std::exception& e) {
        // What was measured until now counts.
        if (device.is_cuda() && cudaDeviceSynchronize() != cudaSuccess)
            return fail(pieces[at].name, problem_of(e), {}, Fault::run_failed);
        pieces[at].problem = problem_of(e);
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
        if (samples[i].empty() || !pieces[i].problem.empty()) continue;
        const Middle middle = middle_of(samples[i]);
        pieces[i].seconds = middle.median;
        pieces[i].spread = middle.spread;
    }
    return {};
}

}  // namespace headroom::engine
