#include "hardware/hardware.h"

namespace headroom {

Sharing sharing_of(const Work& work) {
    if (work.bytes == 0 && work.flops == 0) return Sharing::idle;
    const bool kernel = work.copy == PageCopy::gather;
    switch (work.kind) {
        case WorkKind::gemm:
        case WorkKind::gemm_accumulate:
            return Sharing::gemm;
        case WorkKind::attention_forward:
        case WorkKind::attention_backward:
        case WorkKind::attention_backward_deterministic:
            return Sharing::attention;
        case WorkKind::memory_bound:
            return Sharing::memory;
        case WorkKind::copy_to_device:
            return kernel ? Sharing::to_device_gather : Sharing::to_device;
        case WorkKind::copy_to_host:
            return kernel ? Sharing::to_host_gather : Sharing::to_host;
        case WorkKind::peer:
            return Sharing::peer;
        case WorkKind::all_reduce:
        case WorkKind::all_gather:
        case WorkKind::reduce_scatter:
            return work.ranks > 1 ? Sharing::peer : Sharing::idle;
        case WorkKind::disk_read:
        case WorkKind::disk_write:
            return Sharing::disk;
        case WorkKind::none:
        case WorkKind::count_:
            break;
    }
    return Sharing::idle;
}

std::string_view name_of(Sharing sharing) {
    switch (sharing) {
        case Sharing::idle:
            return "idle";
        case Sharing::gemm:
            return "gemm";
        case Sharing::attention:
            return "attention";
        case Sharing::memory:
            return "memory";
        case Sharing::to_device:
            return "to_device";
        case Sharing::to_host:
            return "to_host";
        case Sharing::to_device_gather:
            return "to_device_gather";
        case Sharing::to_host_gather:
            return "to_host_gather";
        case Sharing::peer:
            return "peer";
        case Sharing::disk:
            return "disk";
        case Sharing::count_:
            break;
    }
    return "unknown";
}

}  // namespace headroom
