#include "memory/host_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/interrupt.h"

namespace headroom {

HostPages::HostPages(HostPages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, Bytes(0))) {}

HostPages& HostPages::operator=(HostPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

HostPages::~HostPages() {
    if (data_ != nullptr) munmap(data_, static_cast<size_t>(bytes_.count()));
}

Result<HostPages> HostPages::map(Bytes bytes, const std::string& owner) {
    HostPages pages;
    if (bytes.count() < 0) return fail(owner, std::to_string(bytes.count()) + " bytes", "0 or more bytes");
    if (bytes.count() == 0) return pages;
    const auto size = static_cast<size_t>(bytes.count());
    void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return fail(owner,
                    "the system refuses " + std::to_string(bytes.count()) +
                        " bytes: " + std::generic_category().message(errno),
                    "what the machine and the limits of this process leave free", Fault::run_failed);
    // Only faster: fewer faults to touch, fewer entries to pin.
    madvise(data, size, MADV_HUGEPAGE);
    pages.data_ = static_cast<std::byte*>(data);
    pages.bytes_ = bytes;
    return pages;
}

Result<void> HostPages::touch(int threads, const std::string& owner) {
    constexpr int64_t kSmallestPage = 4 * kKiB;
    constexpr int64_t kPiece = 64 * kMiB;  // small enough that threads end together and an interrupt is seen
    const int64_t pieces = ceil_div(bytes_.count(), kPiece);
    std::atomic<int64_t> next{0};
    const auto work = [&] {
        for (int64_t piece = next++; piece < pieces && !interrupted(); piece = next++) {
            const int64_t end = std::min((piece + 1) * kPiece, bytes_.count());
            for (int64_t at = piece * kPiece; at < end; at += kSmallestPage) {
                // volatile: a write that nobody reads is still to be made.
                volatile std::byte* const byte = data_ + at;
                *byte = *byte;
            }
        }
    };
    std::vector<std::jthread> workers;
    for (int64_t i = 1; i < std::min<int64_t>(threads, pieces); ++i) workers.emplace_back(work);
    work();
    workers.clear();
    if (interrupted()) return fail(owner, "interrupted", {}, Fault::interrupted);
    return {};
}

}  // namespace headroom
