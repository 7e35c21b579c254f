#include "calibrate/calibrate.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/interrupt.h"
#include "calibrate/links.h"
#include "calibrate/machine.h"
#include "calibrate/work.h"
#include "decoder/attention.h"

namespace headroom::engine {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// Shares of the whole time, for the progress bar.
constexpr double kComputeShare = 0.6, kLinkShare = 0.15;

class Calibrating {
public:
    Calibrating(const cli::CalibrateOptions& options, const SayMeasured& say) : o_(options), say_(say) {}

    Result<void> run();

private:
    Result<void> kernels(const Shapes& shapes);
    Result<void> links(const Shapes& shapes);
    void add_pieces(const Shapes& shapes);
    void take_rows(const Shapes& shapes);
    void launch();
    void tell(const Measured& rows);
    void skip(const std::string& what, const std::string& why) {
        say_({{"event", "skipped"}, {"what", what}, {"why", why}});
    }
    // A part of the whole.
    Doing part(double from, double share);
    Operands::Sizes sizes() const;
    bool gpu() const { return device_.is_cuda(); }
    Extent extent() const {
        return gpu() ? (o_.quick ? Extent::quick : Extent::full) : o_.quick ? Extent::cpu_quick : Extent::cpu;
    }

    const cli::CalibrateOptions& o_;
    const SayMeasured& say_;
    at::Device device_{at::kCPU};
    MeasuredOn machine_;
    std::optional<Operands> operands_;
    std::vector<Timed> pieces_;  // GEMMs, weight gradients, three of each attention, memory-bound
    std::vector<AttentionRow> attention_;
    std::vector<MemoryRow> memory_;
    Clock::time_point began_ = Clock::now(), last_said_ = Clock::now();
};

Doing Calibrating::part(double from, double share) {
    return [this, from, share](const std::string& doing, double done) {
        if (interrupted()) return false;
        if (Clock::now() - last_said_ > std::chrono::milliseconds(500)) {
            last_said_ = Clock::now();
            say_({{"event", "progress"}, {"doing", doing}, {"share", from + share * done}});
        }
        return true;
    };
}

void Calibrating::tell(const Measured& rows) {
    say_({{"event", "measured"}, {"toml", write_measured(rows)}});
}

// Room for the largest shapes (a head's GEMMs, blocks with keys of their own), less where the device has
// less.
Operands::Sizes Calibrating::sizes() const {
    if (!gpu()) {
        const int64_t each = (o_.quick || o_.only_check ? 64 : 192) * kMiB;
        return {each, each, each, each, 0};
    }
    Operands::Sizes s{4 * kGiB, 9 * kGiB / 2, 2 * kGiB, 4 * kGiB, 8 * kGiB};
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return s;
    const double all = 22.5 * static_cast<double>(kGiB), room = 0.7 * static_cast<double>(free);
    for (int64_t* each : {&s.drawn, &s.out, &s.kept, &s.sums, &s.workspace})
        *each = static_cast<int64_t>(static_cast<double>(*each) * std::min(1.0, room / all)) / 4096 * 4096;
    return s;
}

void Calibrating::add_pieces(const Shapes& shapes) {
    const Doing progress = part(0, 0);
    for (const GemmRow& r : shapes.gemm) pieces_.push_back(gemm_work(r, *operands_));
    for (const GemmRow& r : shapes.gemm_accumulate) pieces_.push_back(accumulate_work(r, *operands_));
    // One factor for all deterministic calls: a third of the rows says it, and each call takes time to build.
    constexpr size_t kOneIn = 3;
    for (size_t i = 0; i < shapes.attention.size(); ++i) {
        const AttentionRow& r = shapes.attention[i];
        AttentionWork w = attention_work(r, *operands_, i % kOneIn == 0);
        (void)progress("building " + w.forward.name, 0);
        AttentionRow row = r;
        row.library = w.library;
        row.workspace_mib = w.workspace_mib;
        row.deterministic_workspace_mib = w.deterministic_workspace_mib;
        attention_.push_back(row);
        pieces_.push_back(std::move(w.forward));
        pieces_.push_back(std::move(w.backward));
        pieces_.push_back(std::move(w.deterministic));
        if (interrupted()) return;
    }
    for (const MemoryShape& s : shapes.memory)
        pieces_.push_back(memory_work(s, *operands_, memory_.emplace_back()));
}

void Calibrating::take_rows(const Shapes& shapes) {
    Measured rows;
    size_t at = 0;
    // The next piece; nothing where it was skipped.
    const auto next = [&]() -> const Timed* {
        const Timed& piece = pieces_[at++];
        if (piece.seconds > 0) return &piece;
        if (piece.problem != kNotMeasured) skip(piece.name, piece.problem);
        return nullptr;
    };
    const auto rate = [](const Work& work, const Timed& piece) {
        return static_cast<double>(work.flops) / piece.seconds / 1e12;
    };
    const auto take_gemms = [&](const std::vector<GemmRow>& from, std::vector<GemmRow>& to) {
        for (GemmRow row : from) {
            const Timed* piece = next();
            if (piece == nullptr) continue;
            row.tflops = rate(gemm(row.m, row.n, row.k), *piece);
            row.spread = piece->spread;
            to.push_back(row);
        }
    };
    take_gemms(shapes.gemm, rows.gemm);
    take_gemms(shapes.gemm_accumulate, rows.gemm_accumulate);
    for (AttentionRow row : attention_) {
        bool any = false;
        for (double* figure : {&row.forward, &row.backward, &row.deterministic}) {
            const Timed* piece = next();
            if (piece == nullptr) continue;
            const bool is_backward = figure != &row.forward;
            const Work work =
                row.blocks > 1 ? headroom::block_attention(is_backward, false, row.queries, row.keys,
                                                           row.heads, row.kv_heads, row.head_dim, row.blocks)
                               : headroom::attention(is_backward, false, row.causal, row.queries, row.keys,
                                                     row.heads, row.kv_heads, row.head_dim);
            *figure = rate(work, *piece);
            row.spread = std::max(row.spread, piece->spread);
            any = true;
        }
        if (any) rows.attention.push_back(row);
    }
    for (size_t i = 0; i < memory_.size(); ++i) {
        const Timed* piece = next();
        if (piece == nullptr) continue;
        MemoryRow row = memory_[i];
        row.seconds = piece->seconds;
        row.spread = piece->spread;
        row.use = i % 5 == 3 ? RowUse::check : RowUse::fit;
        rows.memory.push_back(row);
    }
    tell(rows);
}

// An op of next to no work, in a stream that is full: others run while these are queued.
void Calibrating::launch() {
    constexpr int kCalls = 400;
    const std::function<void()> smallest = smallest_work(*operands_);
    const Timed* large = nullptr;
    for (const Timed& piece : pieces_)
        if (piece.seconds > 0 && (large == nullptr || piece.seconds > large->seconds)) large = &piece;
    std::vector<double> samples;
    for (int i = 0; i < 5; ++i) {
        double queued = 0;
        for (int k = 0; gpu() && large != nullptr && queued < 0.03 && k < 64; ++k, queued += large->seconds)
            large->work();
        samples.push_back(seconds_of(device_,
                                     [&] {
                                         for (int k = 0; k < kCalls; ++k) smallest();
                                     }) /
                          kCalls);
    }
    machine_.launch_us = middle_of(samples).median * 1e6;
}

Result<void> Calibrating::kernels(const Shapes& shapes) {
    try {
        operands_.emplace(device_, gpu() ? at::kBFloat16 : at::kFloat, sizes());
    } catch (const std::exception& e) {
        return fail("calibrate", "no memory for the operands: " + problem_of(e), {}, Fault::run_failed);
    }
    add_pieces(shapes);
    Rounds rounds;
    rounds.rounds = gpu() ? (o_.quick ? 5 : 7) : o_.quick ? 3 : 5;
    if (gpu()) {
        rounds.warm_seconds = o_.quick ? 1.5 : 3;
        rounds.before = [this] { operands_->refresh(); };
    }
    const Result<void> done = time_in_rounds(pieces_, rounds, device_, "kernels", part(0, kComputeShare));
    take_rows(shapes);
    HEADROOM_CHECK(done);
    if (o_.only_check) return {};
    try {
        launch();
    } catch (const std::exception& e) {
        skip("the launch of a small kernel", problem_of(e));
    }
    return {};
}

Result<void> Calibrating::links(const Shapes& shapes) {
    const Skip skipped = [this](const std::string& what, const std::string& why) { skip(what, why); };
    int64_t largest = 0;
    for (const TransferRow& r : shapes.transfers) largest = std::max(largest, r.piece * r.pieces);
    const int repeats = o_.quick ? 3 : 9;
    Result<LinkMemory> memory = link_memory(device_, largest);
    if (!memory) {
        skip("the host link", memory.error().text());
        return {};
    }
    machine_.pin_s_per_gib = memory->pin_s_per_gib;
    Measured rows;
    HEADROOM_TRY(rows.transfers, measure_transfers(shapes.transfers, *memory, device_, repeats, skipped,
                                                   part(kComputeShare, kLinkShare)));
    if (!o_.only_check) {
        HEADROOM_TRY(rows.copies, measure_waited_copies(*memory, device_, repeats, skipped));
    }
    tell(rows);
    if (o_.only_check) return {};
    rows = {};
    HEADROOM_TRY(rows.beside,
                 measure_beside(*operands_, *memory, device_, o_.quick, skipped,
                                part(kComputeShare + kLinkShare, 1 - kComputeShare - kLinkShare)));
    HEADROOM_TRY(rows.peer, measure_peers(device_, repeats, skipped));
    HEADROOM_TRY(rows.disk, measure_disk(o_.disk, (o_.quick ? 64 : 1024) * kMiB, o_.quick ? 1 : 3, skipped));
    if (rows != Measured{}) tell(rows);
    return {};
}

Result<void> Calibrating::run() {
    if (o_.device == "cuda" && !at::cuda::is_available())
        return fail("--device", "cuda, and this machine has no usable GPU", "cpu");
    device_ = o_.device == "cuda" ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
    std::optional<c10::cuda::CUDAStreamGuard> stream;
    if (gpu()) {
        C10_CUDA_CHECK(cudaSetDevice(0));
        stream.emplace(at::cuda::getStreamFromPool(false, 0));
    }
    use_cudnn_graph(gpu());
    machine_ = machine_of(device_);
    say_({{"event", "start"}, {"device", machine_.device}});
    if (!o_.only_machine) {
        at::manual_seed(1);
        const Shapes shapes = o_.only_check ? checked_shapes(gpu()) : shapes_of(extent());
        HEADROOM_CHECK(kernels(shapes));
        if (!o_.only_check) machine_.library_memory = Bytes(library_memory(device_));
        HEADROOM_CHECK(links(shapes));
    }
    Measured last;
    last.machine = machine_;
    tell(last);
    say_({{"event", "end"}, {"seconds", std::chrono::duration<double>(Clock::now() - began_).count()}});
    return {};
}

}  // namespace

Result<void> calibrate(const cli::CalibrateOptions& options, const SayMeasured& say) {
    return Calibrating(options, say).run();
}

}  // namespace headroom::engine
