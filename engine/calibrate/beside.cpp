// What kernels and copies take from each other.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/interrupt.h"
#include "calibrate/transfer.h"
#include "calibrate/work.h"

namespace headroom::engine {
namespace {

// So long a run of the one that is timed; the other runs at least twice as long.
constexpr double kTimed = 0.020;

struct Victim {
    const char* kind;  // as in Sharing
    Timed piece;
    double seconds = 0;  // one call alone
};

Dims dims_7b() {
    return {3584, 28, 4, 128, 18944, 152064, true};
}

std::vector<Victim> victims(Operands& o, bool quick) {
    std::vector<Victim> all;
    const auto gemm = [&](int64_t m, int64_t n, int64_t k) {
        all.push_back({"gemm", gemm_work({m, n, k, 0, RowUse::fit, GemmForm::forward, 0}, o)});
    };
    const auto memory = [&](const char* kernel) {
        MemoryRow row;
        all.push_back({"memory", memory_work({kernel, dims_7b(), 4096}, o, row)});
    };
    AttentionRow past;
    past.queries = 4096, past.keys = 8192;
    past.heads = 28, past.kv_heads = 4, past.head_dim = 128;
    gemm(4096, 37888, 3584);
    all.push_back({"attention", attention_work(past, o, false).forward});
    memory("activation");
    if (quick) return all;
    gemm(2048, 3584, 3584);
    all.push_back({"gemm", accumulate_work({37888, 3584, 4096}, o)});
    all.push_back({"attention", attention_work(past, o, false).backward});
    memory("norm_backward");
    return all;
}

// One or two transfers that run beside.
struct Other {
    const char* name;
    PageCopy how;
    bool in, out;
};
constexpr std::array<Other, 6> kOthers{{{"to_device", PageCopy::batch, true, false},
                                        {"to_host", PageCopy::batch, false, true},
                                        {"to_device+to_host", PageCopy::batch, true, true},
                                        {"to_device_gather", PageCopy::gather, true, false},
                                        {"to_host_gather", PageCopy::gather, false, true},
                                        {"to_device_gather+to_host_gather", PageCopy::gather, true, true}}};

class Event {
public:
    Event() { C10_CUDA_CHECK(cudaEventCreate(&event_)); }
    ~Event() { (void)cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record(cudaStream_t s) { C10_CUDA_CHECK(cudaEventRecord(event_, s)); }
    void hold(cudaStream_t s) { C10_CUDA_CHECK(cudaStreamWaitEvent(s, event_)); }
    double before(const Event& later) const {
        float ms = 0;
        C10_CUDA_CHECK(cudaEventElapsedTime(&ms, event_, later.event_));
        return static_cast<double>(ms) * 1e-3;
    }

private:
    cudaEvent_t event_{};
};

class Beside {
public:
    Beside(LinkMemory& memory, const at::Device& device, const Other& other)
        : compute_(at::cuda::getStreamFromPool(false, device.index())), copies_(device) {
        constexpr int64_t piece = kMiB;
        const int64_t pieces = std::min<int64_t>(128, memory.host->bytes().count() / 4 / piece);
        if (other.in) transfers_.emplace_back(memory, true, other.how, piece, pieces, 0);
        if (other.out) transfers_.emplace_back(memory, false, other.how, piece, pieces, 1);
        streams_ = {copies_.first().stream(), copies_.second().stream()};
    }

    // Seconds of one call of `work` while copies run, or alone (copies = false).
    double work_seconds(const Timed& victim, double alone, bool copies) {
        const int calls = calls_in(kTimed, alone);
        for (int issues = copies ? issues_in(3 * kTimed) : 0;; issues *= 2) {
            C10_CUDA_CHECK(cudaDeviceSynchronize());
            issue(copies ? 1 : 0);
            if (copies) started_.record(streams_[0]), started_.hold(compute_.stream());
            issue(std::max(0, issues - 1));
            ended_.record(streams_[0]);
            run(victim, calls);
            C10_CUDA_CHECK(cudaDeviceSynchronize());
            // Copies that ended first covered only a part of it: more of them.
            if (!copies || run_ended_.before(ended_) > 0 || issues > 400)
                return run_began_.before(run_ended_) / calls;
        }
    }

    // bytes/s of the copies (both directions together) while `victim` runs, or alone.
    double copy_rate(const Timed* victim, double alone) {
        const int issues = issues_in(kTimed);
        for (int calls = victim != nullptr ? calls_in(3 * kTimed, alone) : 0;; calls *= 2) {
            C10_CUDA_CHECK(cudaDeviceSynchronize());
            if (victim != nullptr) {
                run(*victim, 1);
                for (size_t i = 0; i < transfers_.size(); ++i) run_ended_.hold(streams_[i]);
                run(*victim, calls);
            }
            started_.record(streams_[0]);
            issue(issues);
            ended_.record(streams_[0]);
            C10_CUDA_CHECK(cudaDeviceSynchronize());
            if (victim == nullptr || ended_.before(run_ended_) > 0 || calls > 20000) {
                int64_t bytes = 0;
                for (const Transfer& t : transfers_) bytes += t.bytes() * issues;
                return static_cast<double>(bytes) / started_.before(ended_);
            }
        }
    }

private:
    static int calls_in(double seconds, double one) {
        return std::max(3, static_cast<int>(std::ceil(seconds / std::max(one, 1e-6))));
    }
    // At 50 GB/s, which no link of today exceeds by much.
    int issues_in(double seconds) const {
        return std::max(
            2, static_cast<int>(std::ceil(seconds * 5e10 / static_cast<double>(transfers_[0].bytes()))));
    }
    void issue(int times) {
        for (int i = 0; i < times; ++i)
            for (size_t t = 0; t < transfers_.size(); ++t) transfers_[t].issue(streams_[t]);
    }
    void run(const Timed& victim, int calls) {
        const c10::cuda::CUDAStreamGuard guard(compute_);
        run_began_.record(compute_.stream());
        for (int i = 0; i < calls; ++i) victim.work();
        run_ended_.record(compute_.stream());
    }

    c10::cuda::CUDAStream compute_;
    TwoStreams copies_;
    std::array<cudaStream_t, 2> streams_{};
    std::vector<Transfer> transfers_;
    Event started_, ended_, run_began_, run_ended_;
};

double median_of_three(const std::function<double()>& measure) {
    std::vector<double> samples;
    for (int i = 0; i < 3; ++i) samples.push_back(measure());
    return middle_of(samples).median;
}

}  // namespace

Result<std::vector<BesideRow>> measure_beside(Operands& operands, LinkMemory& memory,
                                              const at::Device& device, bool quick, const Skip& skip,
                                              const Doing& progress) {
    std::vector<BesideRow> rows;
    if (!device.is_cuda()) return rows;
    std::vector<Victim> all = victims(operands, quick);
    size_t done = 0;
    for (const Other& other : kOthers) {
        for (Victim& v : all) {
            const std::string what = v.piece.name + " beside copies, " + other.name;
            if (!progress(what,
                          static_cast<double>(done++) / static_cast<double>(all.size() * kOthers.size())))
                return fail("calibrate", "interrupted", {}, Fault::interrupted);
            if (!v.piece.problem.empty()) {
                skip(what, v.piece.problem);
                continue;
            }
            try {
                Beside beside(memory, device, other);
                if (v.seconds == 0) {
                    v.piece.work();
                    v.seconds = seconds_of(device, v.piece.work);
                    v.seconds = beside.work_seconds(v.piece, v.seconds, false);
                }
                BesideRow row;
                row.victim = v.kind;
                row.work = v.piece.name;
                row.beside = other.name;
                row.alone = median_of_three([&] { return beside.work_seconds(v.piece, v.seconds, false); });
                row.shared = median_of_three([&] { return beside.work_seconds(v.piece, v.seconds, true); });
                row.rate = median_of_three([&] { return beside.copy_rate(nullptr, 0); });
                row.slowed = median_of_three([&] { return beside.copy_rate(&v.piece, v.seconds); });
                rows.push_back(row);
            } catch (const std::exception& e) {
                skip(what, problem_of(e));
                (void)cudaGetLastError();
                if (const cudaError_t status = cudaDeviceSynchronize(); status != cudaSuccess)
                    return fail(what, std::string("CUDA's context is lost: ") + cudaGetErrorString(status),
                                {}, Fault::run_failed);
            }
        }
    }
    return rows;
}

}  // namespace headroom::engine
