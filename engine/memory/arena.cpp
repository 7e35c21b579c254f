#include "memory/arena.h"

#include <ATen/ATen.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "memory/cuda_error.h"
#include "program/program.h"

namespace headroom {
namespace {

std::string arena_name(Tier tier) {
    return "the " + std::string(name_of(tier)) + " arena";
}

}  // namespace

Arena::Arena(Arena&& other) noexcept
    : tier_(other.tier_),
      bytes_(std::exchange(other.bytes_, Bytes(0))),
      device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      pages_(std::move(other.pages_)),
      is_registered_(std::exchange(other.is_registered_, false)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
    std::swap(tier_, other.tier_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(pages_, other.pages_);
    std::swap(is_registered_, other.is_registered_);
    return *this;
}

Arena::~Arena() {
    // Errors of work that still runs show here too, but nobody is left to hear them.
    if (is_registered_) static_cast<void>(cudaHostUnregister(data_));
    if (data_ != nullptr && pages_.data() == nullptr) static_cast<void>(cudaFree(data_));
}

Result<Arena> Arena::allocate(Tier tier, Bytes bytes, at::Device device) {
    const std::string owner = arena_name(tier);
    if (tier != Tier::device && tier != Tier::host) return fail(owner, "no arena", "device, host");
    if (bytes.count() < 0) return fail(owner, std::to_string(bytes.count()) + " bytes", "0 or more bytes");
    if (!device.is_cpu() && !device.is_cuda()) return fail(owner, "device " + device.str(), "cpu, cuda");

    Arena arena(tier, bytes, tier == Tier::host ? at::Device(at::kCPU) : device);
    if (bytes.count() == 0) return arena;
    if (device.is_cuda()) {
        const int index = device.has_index() ? device.index() : 0;
        HEADROOM_CHECK(
            check_cuda(cudaSetDevice(index), owner + ": cudaSetDevice(" + std::to_string(index) + ")"));
    }
    if (tier == Tier::device && device.is_cuda()) {
        if (!device.has_index()) arena.device_ = at::Device(at::kCUDA, 0);
        HEADROOM_CHECK(arena.allocate_device(owner));
    } else {
        HEADROOM_CHECK(arena.allocate_host(device.is_cuda(), owner));
    }
    return arena;
}

Result<void> Arena::allocate_device(const std::string& owner) {
    void* data = nullptr;
    HEADROOM_CHECK(check_cuda(cudaMalloc(&data, static_cast<size_t>(bytes_.count())),
                              owner + ": cudaMalloc of " + std::to_string(bytes_.count()) + " bytes"));
    data_ = static_cast<std::byte*>(data);
    return {};
}

Result<void> Arena::allocate_host(bool pinned, const std::string& owner) {
    HEADROOM_TRY(pages_, HostPages::map(bytes_, owner));
    data_ = pages_.data();
    if (!pinned) return {};
    const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    HEADROOM_CHECK(pages_.touch(cores, owner));
    HEADROOM_CHECK(
        check_cuda(cudaHostRegister(data_, static_cast<size_t>(bytes_.count()), cudaHostRegisterPortable),
                   owner + ": cudaHostRegister (pinning) of " + std::to_string(bytes_.count()) + " bytes"));
    is_registered_ = true;
    return {};
}

Result<at::Tensor> Arena::view(int64_t address, at::IntArrayRef sizes, at::ScalarType dtype) const {
    const auto element = static_cast<int64_t>(at::elementSize(dtype));
    int64_t end = element;
    bool is_bad = address < 0 || address % element != 0;
    for (const int64_t size : sizes) is_bad = is_bad || size < 0 || __builtin_mul_overflow(end, size, &end);
    const int64_t bytes = end;
    if (is_bad || __builtin_add_overflow(end, address, &end) || end > bytes_.count())
        return fail(arena_name(tier_),
                    "a tensor of " + std::to_string(bytes) + " bytes at address " + std::to_string(address),
                    "0 to " + std::to_string(bytes_.count()) + " bytes, addresses in multiples of " +
                        std::to_string(element));
    const at::TensorOptions options = at::TensorOptions().dtype(dtype).device(device_);
    // target_device: else ATen asks CUDA where the memory lies.
    return at::for_blob(data_ + address, sizes).options(options).target_device(device_).make_tensor();
}

}  // namespace headroom
