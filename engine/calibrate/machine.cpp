#include "calibrate/machine.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/utc.h"

namespace headroom::engine {
namespace {

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue ...": the first word of digits and dots.
std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string word;
    while (file >> word) {
        if (word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos) return word;
    }
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess) return {};
    return "for CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
}

std::string cuda_version() {
    int runtime = 0;
    if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) return {};
    return std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10);
}

std::string cudnn_version() {
    const long v = at::detail::getCUDAHooks().versionRuntimeCuDNN();
    return std::to_string(v / 10000) + "." + std::to_string(v % 10000 / 100) + "." + std::to_string(v % 100);
}

// "model name : Intel(R) Xeon(R) ..."
std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("model name", 0) != 0) continue;
        const size_t at = line.find(": ");
        if (at != line.npos) return line.substr(at + 2);
    }
    return "a CPU";
}

int64_t host_bytes() {
    return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

}  // namespace

int64_t library_memory(const at::Device& device) {
    if (device.is_cpu()) {
        int64_t pages = 0, resident = 0;
        std::ifstream("/proc/self/statm") >> pages >> resident;
        return resident * sysconf(_SC_PAGESIZE);
    }
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
    return static_cast<int64_t>(total - free) - stats.reserved_bytes[0].current;
}

MeasuredOn machine_of(const at::Device& device) {
    MeasuredOn m;
    m.date = utc_now().substr(0, 10);
    m.torch = TORCH_VERSION;
    m.host_memory = Bytes(host_bytes());
    if (device.is_cpu()) {
        m.device = processor() + ", " + std::to_string(at::get_num_threads()) + " threads";
        m.multiprocessors = at::get_num_threads();
        return m;
    }
    const cudaDeviceProp& p = *at::cuda::getDeviceProperties(device.index());
    m.device = p.name;
    m.multiprocessors = p.multiProcessorCount;
    m.driver = driver_version();
    m.cuda = cuda_version();
    m.cudnn = cudnn_version();
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) m.memory = Bytes(static_cast<int64_t>(total));
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) == cudaSuccess) m.gpus = gpus;
    return m;
}

}  // namespace headroom::engine
