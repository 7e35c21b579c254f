// Copies of scattered pieces between two arenas, handed over as the engine does it. Private to this room.
#pragma once

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <utility>

#include "calibrate/links.h"
#include "decoder/pages.h"
#include "memory/copies.h"

namespace headroom::engine {

// Thread blocks of a kernel that copies over the link (engine/run/sparse.cpp).
inline constexpr int64_t kLinkBlocks = 16;

class Transfer {
public:
    // Pieces lie two apart in both arenas, so that none continues another. `part` 1: the second part of each,
    // for what runs beside another transfer. Throws c10::Error where they do not fit.
    Transfer(const LinkMemory& memory, bool to_device, PageCopy how, int64_t piece, int64_t pieces, int part)
        : how_(how), piece_(piece) {
        const int64_t room = memory.host->bytes().count() / 2;
        // Where they would not lie apart: beside each other, in falling order.
        const bool apart = 2 * piece * pieces <= room;
        TORCH_CHECK(piece * pieces <= room, pieces, " pieces of ", piece, " bytes, more than ", room);
        std::byte *const host = memory.host->data() + part * room, *const device =
                                                                       memory.device->data() + part * room;
        at::Tensor lists = at::empty({2, pieces}, at::kLong);
        auto* const list = lists.data_ptr<int64_t>();
        for (int64_t i = 0; i < pieces; ++i) {
            const int64_t at = apart ? 2 * i * piece : (pieces - 1 - i) * piece;
            std::byte *const to = (to_device ? device : host) + at, *const from =
                                                                        (to_device ? host : device) + at;
            copies_.add(to, from, piece);
            list[i] = reinterpret_cast<int64_t>(from);
            list[pieces + i] = reinterpret_cast<int64_t>(to);
        }
        lists = lists.to(memory.device->device());
        sources_ = lists[0];
        destinations_ = lists[1];
        on_gpu_ = memory.device->device().is_cuda();
    }

    // On the current stream, or at once on a CPU.
    void issue_here() {
        if (how_ == PageCopy::gather) return copy_pages(sources_, destinations_, piece_, kLinkBlocks);
        if (!on_gpu_) return copies_.run();
        const Result<void> done = copies_.issue(at::cuda::getCurrentCUDAStream(), how_ == PageCopy::loop);
        TORCH_CHECK(done.has_value(), done.error().text());
    }
    void issue(cudaStream_t stream) {
        const c10::cuda::CUDAStreamGuard guard(
            c10::cuda::getStreamFromExternal(stream, sources_.device().index()));
        issue_here();
    }
    int64_t bytes() const { return copies_.bytes(); }

private:
    PageCopy how_;
    int64_t piece_;
    Copies copies_;
    at::Tensor sources_, destinations_;
    bool on_gpu_ = false;
};

// Two streams of a GPU, and what each takes when both begin together.
class TwoStreams {
public:
    explicit TwoStreams(const at::Device& device)
        : first_(at::cuda::getStreamFromPool(false, device.index())),
          second_(at::cuda::getStreamFromPool(false, device.index())) {
        for (cudaEvent_t& e : events_) C10_CUDA_CHECK(cudaEventCreate(&e));
    }
    ~TwoStreams() {
        for (cudaEvent_t e : events_) (void)cudaEventDestroy(e);
    }
    TwoStreams(const TwoStreams&) = delete;
    TwoStreams& operator=(const TwoStreams&) = delete;

    template <class One, class Other>
    std::pair<double, double> seconds(const One& one, const Other& other) {
        const cudaStream_t a = first_.stream(), b = second_.stream();
        C10_CUDA_CHECK(cudaDeviceSynchronize());
        C10_CUDA_CHECK(cudaEventRecord(events_[0], a));
        C10_CUDA_CHECK(cudaStreamWaitEvent(b, events_[0]));
        one(a);
        C10_CUDA_CHECK(cudaEventRecord(events_[1], a));
        other(b);
        C10_CUDA_CHECK(cudaEventRecord(events_[2], b));
        C10_CUDA_CHECK(cudaEventSynchronize(events_[1]));
        C10_CUDA_CHECK(cudaEventSynchronize(events_[2]));
        return {between(0, 1), between(0, 2)};
    }
    c10::cuda::CUDAStream first() const { return first_; }
    c10::cuda::CUDAStream second() const { return second_; }

private:
    double between(int from, int to) const {
        float ms = 0;
        C10_CUDA_CHECK(cudaEventElapsedTime(&ms, events_[from], events_[to]));
        return static_cast<double>(ms) * 1e-3;
    }
    c10::cuda::CUDAStream first_, second_;
    cudaEvent_t events_[3]{};
};

}  // namespace headroom::engine
