#include "simulate/sharing.h"

#include <algorithm>
#include <optional>

namespace headroom {
namespace {

double largest(const Curve& curve) {
    return curve.points.empty() ? 0 : curve.points.back().bandwidth;
}

// Bytes per second of a copy over the host link that has it for itself; nothing for other classes.
std::optional<double> to_device_bandwidth(Sharing v, const Hardware& hardware) {
    if (v == Sharing::to_device) return largest(hardware.to_device.batch);
    if (v == Sharing::to_device_gather) return largest(hardware.to_device.gather);
    return std::nullopt;
}

std::optional<double> to_host_bandwidth(Sharing v, const Hardware& hardware) {
    if (v == Sharing::to_host) return largest(hardware.to_host.batch);
    if (v == Sharing::to_host_gather) return largest(hardware.to_host.gather);
    return std::nullopt;
}

// Two flows of at most cap1, cap2 of their bandwidths b1, b2 through `capacity`: the shares that are left to
// them.
void share_link(double& cap1, double b1, double& cap2, double b2, double capacity) {
    if (cap1 * b1 + cap2 * b2 <= capacity) return;
    const double fair = capacity / (b1 + b2);
    if (cap1 < fair) {
        cap2 = (capacity - cap1 * b1) / b2;
    } else if (cap2 < fair) {
        cap1 = (capacity - cap2 * b2) / b1;
    } else {
        cap1 = cap2 = fair;
    }
}

}  // namespace

Rates solve_sharing(const Running& running, const Hardware& hardware) {
    std::array<double, kStreams> share;
    for (size_t s = 0; s < kStreams; ++s) {
        share[s] = 1;
        if (running[s] == Sharing::idle) continue;
        const auto& beside = hardware.interference[static_cast<size_t>(running[s])];
        for (size_t o = 0; o < kStreams; ++o) {
            if (o != s && running[o] != Sharing::idle) share[s] *= beside[static_cast<size_t>(running[o])];
        }
    }
    for (size_t down = 0; down < kStreams && hardware.both_directions > 0; ++down) {
        const auto b_down = to_device_bandwidth(running[down], hardware);
        for (size_t up = 0; up < kStreams && b_down; ++up) {
            const auto b_up = to_host_bandwidth(running[up], hardware);
            if (b_up) share_link(share[down], *b_down, share[up], *b_up, hardware.both_directions);
        }
    }
    Rates rates;
    for (size_t s = 0; s < kStreams; ++s) {
        const double units = std::clamp(share[s], 0.0, 1.0) * static_cast<double>(kRateOne) + 0.5;
        rates[s] = std::max<int64_t>(1, static_cast<int64_t>(units));
    }
    return rates;
}

}  // namespace headroom
