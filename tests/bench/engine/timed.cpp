#include "bench/engine/timed.h"

#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>

namespace headroom::engine::bench {
namespace {

constexpr int kWarmCalls = 3;

class Clock {
public:
    Clock() {
        cudaEventCreate(&begin_);
        cudaEventCreate(&end_);
    }
    ~Clock() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    void begin() { cudaEventRecord(begin_, at::cuda::getCurrentCUDAStream()); }
    double end_seconds() {
        cudaEventRecord(end_, at::cuda::getCurrentCUDAStream());
        const cudaError_t status = cudaEventSynchronize(end_);
        TORCH_CHECK(status == cudaSuccess, "benchmark: ", cudaGetErrorString(status));
        float ms = 0;
        cudaEventElapsedTime(&ms, begin_, end_);
        return ms * 1e-3;
    }

private:
    cudaEvent_t begin_{}, end_{};
};

// Twice the L2 cache, and long enough to write that the work is queued before it begins.
at::Tensor& other_data() {
    static at::Tensor data = at::zeros({256 << 20}, at::TensorOptions().dtype(at::kByte).device(at::kCUDA));
    return data;
}

}  // namespace

void measure(benchmark::State& state, const Bound& bound, double amount, const std::function<void()>& work) {
    for (int i = 0; i < kWarmCalls; ++i) work();
    Clock clock;
    double seconds = 0;
    int64_t calls = 0;
    for (auto _ : state) {
        other_data().fill_(calls % 100);
        clock.begin();
        work();
        const double call = clock.end_seconds();
        state.SetIterationTime(call);
        seconds += call;
        ++calls;
    }
    const double rate = amount * static_cast<double>(calls) / seconds;
    char label[80];
    std::snprintf(label, sizeof label, "%7.2f %s, %3.0f %% of %.1f", rate / bound.unit, bound.name,
                  100 * rate / bound.per_second, bound.per_second / bound.unit);
    state.SetLabel(label);
}

at::Tensor drawn(at::IntArrayRef sizes, at::ScalarType type) {
    return at::randn(sizes, at::TensorOptions().dtype(type).device(at::kCUDA));
}

}  // namespace headroom::engine::bench

// Two seconds of products first: the clock falls once the chip is warm.
int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    if (!at::hasCUDA()) {
        std::fprintf(stderr, "bench_engine: no GPU here, what the host does alone\n");
        benchmark::RunSpecifiedBenchmarks("^host_");
        return 0;
    }
    const at::Tensor a = headroom::engine::bench::drawn({8192, 8192});
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < until) at::matmul(a, a).index({0, 0}).item<float>();
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
