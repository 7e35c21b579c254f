#include "run/machine_memory.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <unistd.h>

namespace headroom::engine {
namespace {

// ", the largest of it 'weights' with 1234 bytes"
std::string largest_buffer(const Program& program, Tier tier) {
    const Buffer* largest = nullptr;
    for (const Buffer& b : program.buffers)
        if (b.tier == tier && (largest == nullptr || b.bytes > largest->bytes)) largest = &b;
    if (largest == nullptr) return "";
    return ", the largest of it '" + largest->name + "' with " + std::to_string(largest->bytes) + " bytes";
}

}  // namespace

MachineMemory machine_memory(const at::Device& device) {
    MachineMemory m;
    m.host_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    if (device.is_cpu()) {
        m.device = "this machine";
        m.device_is_host = true;
        return m;
    }
    m.device = at::cuda::getDeviceProperties(device.index())->name;
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
        m.device_bytes = static_cast<int64_t>(total);
        m.device_free_bytes = static_cast<int64_t>(free);
    }
    return m;
}

Result<void> check_memory(const Program& program, const MachineMemory& m, const std::string& where) {
    const int64_t device = program.arena[static_cast<size_t>(Tier::device)];
    const int64_t host = program.arena[static_cast<size_t>(Tier::host)];
    const auto needs = [&](int64_t bytes, Tier tier) {
        return "needs " + std::to_string(bytes) + " bytes of " + std::string(name_of(tier)) + " memory" +
               largest_buffer(program, tier);
    };
    const int64_t on_host = host + (m.device_is_host ? device : 0);
    if (on_host > m.host_bytes)
        return fail(where, needs(on_host, m.device_is_host && device > host ? Tier::device : Tier::host),
                    std::to_string(m.host_bytes) + " bytes, the host memory of this machine",
                    Fault::does_not_fit);
    if (m.device_is_host) return {};
    if (device > m.device_bytes)
        return fail(where, needs(device, Tier::device),
                    std::to_string(m.device_bytes) + " bytes, the memory of " + m.device,
                    Fault::does_not_fit);
    if (device > m.device_free_bytes)
        return fail(where, needs(device, Tier::device),
                    std::to_string(m.device_free_bytes) + " bytes, what other processes leave of " + m.device,
                    Fault::run_failed);
    return {};
}

}  // namespace headroom::engine
