#include "memory/copies.h"

#include <cstring>
#include <numeric>
#include <string>

#include "memory/cuda_error.h"

namespace headroom {

void Copies::clear() {
    to_.clear();
    from_.clear();
    bytes_.clear();
}

void Copies::add(void* to, const void* from, int64_t bytes) {
    if (bytes == 0) return;
    const auto size = static_cast<size_t>(bytes);
    if (!bytes_.empty() && static_cast<std::byte*>(to_.back()) + bytes_.back() == to &&
        static_cast<const std::byte*>(from_.back()) + bytes_.back() == from) {
        bytes_.back() += size;
        return;
    }
    to_.push_back(to);
    from_.push_back(from);
    bytes_.push_back(size);
}

int64_t Copies::bytes() const {
    return static_cast<int64_t>(std::accumulate(bytes_.begin(), bytes_.end(), size_t{0}));
}

void Copies::run() const {
    for (size_t i = 0; i < bytes_.size(); ++i) std::memcpy(to_[i], from_[i], bytes_[i]);
}

Result<void> Copies::issue(cudaStream_t stream, bool loop) {
    const std::string what = "a copy of " + std::to_string(bytes_.size()) + " pieces";
    if (loop || bytes_.size() <= 1) {
        for (size_t i = 0; i < bytes_.size(); ++i)
            HEADROOM_CHECK(
                check_cuda(cudaMemcpyAsync(to_[i], from_[i], bytes_[i], cudaMemcpyDefault, stream), what));
        return {};
    }
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
    size_t first = 0;
    return check_cuda(cudaMemcpyBatchAsync(to_.data(), from_.data(), bytes_.data(), bytes_.size(),
                                           &attributes, &first, 1, stream),
                      what);
}

}  // namespace headroom
