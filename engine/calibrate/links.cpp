#include "calibrate/links.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <chrono>

#include "base/interrupt.h"
#include "decoder/pages.h"
#include "memory/copies.h"

#include "calibrate/transfer.h"

namespace headroom::engine {
namespace {

using Clock = std::chrono::steady_clock;

std::string name_of_row(const TransferRow& r) {
    return std::string("copies ") + (r.to_device ? "to the device" : "to the host") + ", " +
           std::string(name_of(r.how)) + " of " + std::to_string(r.pieces) + " x " + std::to_string(r.piece) +
           (r.opposite > 0 ? " bytes, both directions" : " bytes");
}

tl::unexpected<Error> stopped() {
    return fail("calibrate", "interrupted", {}, Fault::interrupted);
}

// Again and again until the host has it as in a step: its clock has risen, and the driver has room for the
// lists of many small pieces. Without that small pieces were found up to four times as slow.
template <class Work>
void warm_up(const Work& work) {
    constexpr double kWarm_s = 0.05;
    const auto begin = Clock::now();
    do {
        work();
    } while (std::chrono::duration<double>(Clock::now() - begin).count() < kWarm_s);
}

// Both directions at once: each of its own memory and stream.
void measure_both(TransferRow& r, LinkMemory& memory, const at::Device& device, int repeats) {
    Transfer in(memory, true, r.how, r.piece, r.pieces, 0), out(memory, false, r.how, r.piece, r.pieces, 1);
    TwoStreams streams(device);
    const auto both = [&] {
        return streams.seconds([&](cudaStream_t s) { in.issue(s); }, [&](cudaStream_t s) { out.issue(s); });
    };
    warm_up(both);
    std::vector<double> there, back;
    for (int i = 0; i < repeats; ++i) {
        const auto [first, second] = both();
        there.push_back(first);
        back.push_back(second);
    }
    const auto bytes = static_cast<double>(r.piece * r.pieces);
    const Middle middle = middle_of(there);
    r.bandwidth = bytes / middle.median;
    r.spread = middle.spread;
    r.opposite = bytes / middle_of(back).median;
}

void measure_one(TransferRow& r, LinkMemory& memory, const at::Device& device, int repeats) {
    if (r.opposite > 0) return measure_both(r, memory, device, repeats);
    Transfer transfer(memory, r.to_device, r.how, r.piece, r.pieces, 0);
    const auto once = [&] { return seconds_of(device, [&] { transfer.issue_here(); }); };
    warm_up(once);
    std::vector<double> samples;
    for (int i = 0; i < repeats; ++i) samples.push_back(once());
    const Middle middle = middle_of(samples);
    r.bandwidth = static_cast<double>(r.piece * r.pieces) / middle.median;
    r.spread = middle.spread;
}

}  // namespace

Result<LinkMemory> link_memory(const at::Device& device, int64_t bytes) {
    LinkMemory memory;
    const auto begin = Clock::now();
    HEADROOM_TRY(memory.host, Arena::allocate(Tier::host, Bytes(2 * bytes), device));
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (memory.host->is_pinned())
        memory.pin_s_per_gib = seconds / (static_cast<double>(2 * bytes) / static_cast<double>(kGiB));
    HEADROOM_TRY(memory.device, Arena::allocate(Tier::device, Bytes(2 * bytes), device));
    for (const Arena* arena : {&*memory.host, &*memory.device}) {
        HEADROOM_TRY(at::Tensor all, arena->view(0, {arena->bytes().count() / 8}, at::kLong));
        // Random bits on both sides; one filled from the other, which is faster than drawing twice.
        if (arena == &*memory.device && device.is_cuda()) {
            all.random_();
            HEADROOM_TRY(at::Tensor host, memory.host->view(0, {all.numel()}, at::kLong));
            host.copy_(all);
        }
    }
    return memory;
}

Result<std::vector<TransferRow>> measure_transfers(const std::vector<TransferRow>& rows, LinkMemory& memory,
                                                   const at::Device& device, int repeats, const Skip& skip,
                                                   const Doing& progress) {
    std::vector<TransferRow> measured;
    for (size_t i = 0; i < rows.size(); ++i) {
        TransferRow r = rows[i];
        if (!progress(name_of_row(r), static_cast<double>(i) / static_cast<double>(rows.size())))
            return stopped();
        try {
            measure_one(r, memory, device, repeats);
            measured.push_back(r);
        } catch (const std::exception& e) {
            skip(name_of_row(r), problem_of(e));
            if (device.is_cuda()) (void)cudaGetLastError();
        }
    }
    return measured;
}

Result<std::vector<CopyRow>> measure_waited_copies(LinkMemory& memory, const at::Device& device, int repeats,
                                                   const Skip& skip) {
    std::vector<CopyRow> rows;
    if (!device.is_cuda()) return rows;
    for (const bool to_device : {true, false}) {
        for (const int64_t bytes : {256 * kKiB, kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB}) {
            if (bytes > memory.host->bytes().count()) continue;
            if (interrupted()) return stopped();
            std::byte *here = memory.device->data(), *there = memory.host->data();
            std::vector<double> samples;
            cudaError_t status = cudaSuccess;
            for (int i = 0; i <= repeats && status == cudaSuccess; ++i) {
                const auto begin = Clock::now();
                const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
                status = cudaMemcpyAsync(to_device ? here : there, to_device ? there : here,
                                         static_cast<size_t>(bytes), cudaMemcpyDefault, stream);
                if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
                if (i > 0) samples.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
            }
            if (status != cudaSuccess) {
                skip("a copy of " + std::to_string(bytes) + " bytes", cudaGetErrorString(status));
                continue;
            }
            rows.push_back({to_device, bytes, static_cast<double>(bytes) / middle_of(samples).median});
        }
    }
    return rows;
}

Result<std::vector<PeerRow>> measure_peers(const at::Device& device, int repeats, const Skip& skip) {
    std::vector<PeerRow> rows;
    int count = 0;
    if (!device.is_cuda() || cudaGetDeviceCount(&count) != cudaSuccess || count < 2) return rows;
    const int mine = device.index(), other = mine == 0 ? 1 : 0;
    try {
        int can = 0;
        C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, mine, other));
        TORCH_CHECK(can != 0, "GPU ", mine, " cannot reach GPU ", other);
        for (const auto& [from, to] : {std::pair{mine, other}, std::pair{other, mine}}) {
            const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(from));
            const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
            if (status != cudaErrorPeerAccessAlreadyEnabled) C10_CUDA_CHECK(status);
            (void)cudaGetLastError();
        }
        const int64_t most = 256 * kMiB;
        const auto bytes_on = [&](int index) {
            return at::randint(
                256, {2 * most},
                at::TensorOptions().dtype(at::kByte).device(at::kCUDA, static_cast<c10::DeviceIndex>(index)));
        };
        const at::Tensor here = bytes_on(mine), there = bytes_on(other);
        C10_CUDA_CHECK(cudaDeviceSynchronize());
        TwoStreams streams(device);
        for (const int64_t bytes : {64 * kKiB, kMiB, 16 * kMiB, most}) {
            auto* const a = static_cast<std::byte*>(here.data_ptr());
            auto* const b = static_cast<std::byte*>(there.data_ptr());
            const auto size = static_cast<size_t>(bytes);
            const auto send = [&](cudaStream_t s) {
                C10_CUDA_CHECK(cudaMemcpyPeerAsync(b, other, a, mine, size, s));
            };
            const auto receive = [&](cudaStream_t s) {
                C10_CUDA_CHECK(cudaMemcpyPeerAsync(a + most, mine, b + most, other, size, s));
            };
            std::vector<double> alone, first, second;
            for (int i = 0; i <= repeats; ++i) {
                const double one = streams.seconds(send, [](cudaStream_t) {}).first;
                const auto [out, in] = streams.seconds(send, receive);
                if (i == 0) continue;
                alone.push_back(one);
                first.push_back(out);
                second.push_back(in);
            }
            const auto wide = static_cast<double>(bytes);
            rows.push_back({bytes, wide / middle_of(alone).median, 0});
            rows.push_back({bytes, wide / middle_of(first).median, wide / middle_of(second).median});
        }
    } catch (const std::exception& e) {
        skip("copies to the next GPU", problem_of(e));
        (void)cudaGetLastError();
    }
    return rows;
}

}  // namespace headroom::engine
