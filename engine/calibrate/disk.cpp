// A local disk, past the system's cache.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>

#include "base/interrupt.h"
#include "calibrate/links.h"

namespace headroom::engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kPiece = 16 << 20, kAligned = 4096;

struct Free {
    void operator()(void* p) const { std::free(p); }
};

// A file that goes away with this object.
class Scratch {
public:
    explicit Scratch(const std::string& folder)
        : name_(folder + "/headroom-calibrate-" + std::to_string(getpid())) {
        fd_ = ::open(name_.path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_DIRECT, 0600);
        if (fd_ < 0 && errno == EINVAL)  // no direct access there: through the cache, and out of it again
            fd_ = ::open(name_.path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    ~Scratch() {
        if (fd_ >= 0) ::close(fd_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    int fd() const { return fd_; }

private:
    TemporaryName name_;
    int fd_ = -1;
};

std::string error_text() {
    return std::strerror(errno);
}

// Seconds; < 0: errno says why.
double pass(int fd, bool write, std::byte* data, int64_t bytes) {
    if (!write) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    const auto begin = Clock::now();
    for (int64_t at = 0; at < bytes;) {
        const ssize_t n = write ? ::pwrite(fd, data, kPiece, at) : ::pread(fd, data, kPiece, at);
        if (n <= 0) return -1;
        at += n;
        if (interrupted()) return -1;
    }
    if (write && fsync(fd) != 0) return -1;
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

Result<std::vector<DiskRow>> measure_disk(const std::string& folder, int64_t bytes, int repeats,
                                          const Skip& skip) {
    std::vector<DiskRow> rows;
    if (folder.empty()) return rows;
    const Scratch file(folder);
    if (file.fd() < 0) {
        skip("the disk of " + folder, error_text());
        return rows;
    }
    const std::unique_ptr<std::byte, Free> data(
        static_cast<std::byte*>(std::aligned_alloc(kAligned, kPiece)));
    std::mt19937_64 dice(3);
    for (size_t i = 0; i < kPiece; i += 8) {
        const uint64_t word = dice();
        std::memcpy(data.get() + i, &word, 8);
    }
    const int64_t size = std::max<int64_t>(kPiece, bytes / kPiece * kPiece);
    for (const bool write : {true, false}) {
        std::vector<double> samples;
        for (int i = 0; i < repeats; ++i) {
            const double s = pass(file.fd(), write, data.get(), size);
            if (interrupted()) return fail("calibrate", "interrupted", {}, Fault::interrupted);
            if (s < 0) {
                skip((write ? "writing the disk of " : "reading the disk of ") + folder, error_text());
                return rows;
            }
            samples.push_back(s);
        }
        rows.push_back({write, size, static_cast<double>(size) / middle_of(samples).median});
    }
    return rows;
}

}  // namespace headroom::engine
