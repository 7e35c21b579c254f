// The one allocation of a tier, and tensors at planned addresses inside it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "memory/host_pages.h"
#include "program/program.h"

namespace headroom {

// Contract:
//  - Move-only; gives its memory back at its end. Views do not own: none may outlive its arena.
//  - Addresses are bytes from the arena's beginning, as in Buffer::address; the beginning is aligned to
//  kAlignment (512) at least, so that what the plan aligned is aligned.
//  - Where `device` is the CPU nothing of CUDA is called: both tiers are then plain zero-filled memory.
//  - Contents of a CUDA device arena are undefined until written; host memory begins as zeros.
class Arena {
public:
    // Tier::device: cudaMalloc on `device`. Tier::host beside a CUDA device: mapped, touched by all cores and
    // registered once, so that copies run beside compute (0.16 s per GiB with 16 cores; cudaHostAlloc takes
    // 0.6). Zero bytes: an arena without memory. Errors (Fault::run_failed) name tier and bytes: memory
    // exhausted, the limit of pinned memory, no such GPU; interrupted. Tier::disk has no arena: bad_input.
    static Result<Arena> allocate(Tier tier, Bytes bytes, at::Device device);

    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    // A contiguous tensor of `sizes` elements of `dtype` that begins at `address`; nothing is copied. Device
    // tensors are on the arena's device, host ones on the CPU. Costs about 1 us: hold views, do not remake
    // them in a loop over pages. Errors name tier and bytes: outside of the arena, an address that is no
    // multiple of the element's size, a negative size.
    Result<at::Tensor> view(int64_t address, at::IntArrayRef sizes, at::ScalarType dtype) const;

    Tier tier() const { return tier_; }
    Bytes bytes() const { return bytes_; }
    // On `device()`: device memory is not to be read by the host.
    std::byte* data() const { return data_; }
    at::Device device() const { return device_; }  // of its tensors
    bool is_pinned() const { return is_registered_; }

private:
    Arena(Tier tier, Bytes bytes, at::Device device) : tier_(tier), bytes_(bytes), device_(device) {}
    Result<void> allocate_device(const std::string& owner);
    Result<void> allocate_host(bool pinned, const std::string& owner);

    Tier tier_;
    Bytes bytes_;
    at::Device device_;
    std::byte* data_ = nullptr;
    HostPages pages_;             // empty where data_ comes from cudaMalloc
    bool is_registered_ = false;  // pages_ are known to CUDA
};

}  // namespace headroom
