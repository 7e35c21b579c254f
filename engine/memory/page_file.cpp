#include "memory/page_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "memory/side_by_side.h"

namespace headroom {
namespace {

// A disk has work for several requests at once; one of 1 MiB is long enough that its start costs nothing.
constexpr int kRequestsAtOnce = 8;
constexpr int64_t kRequest = kMiB;

std::string text_of(int error) {
    return std::generic_category().message(error);
}

std::string place(const std::string& folder) {
    return "the folder for pages on disk, '" + folder + "'";
}

// Closed at its end.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor& operator=(Descriptor&&) = delete;
    int get() const { return fd_; }

private:
    int fd_;
};

// Without a name from the start where the file system can, else for as long as it takes to remove it.
Descriptor open_nameless(const std::string& folder) {
    constexpr int kFlags = O_RDWR | O_CLOEXEC;
    Descriptor file(::open(folder.c_str(), kFlags | O_TMPFILE, 0600));
    if (file.get() >= 0) return file;
    int error = 0;
    int named = -1;
    {
        const TemporaryName name(folder + "/headroom-pages-" + std::to_string(getpid()));
        named = ::open(name.path().c_str(), kFlags | O_CREAT | O_EXCL, 0600);
        error = errno;
    }
    errno = error;
    return Descriptor(named);
}

Result<void> check_limits(int fd, const std::string& folder, int64_t bytes) {
    const std::string needs = "needs " + std::to_string(bytes) + " bytes";
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < static_cast<rlim_t>(bytes))
        return fail(place(folder), needs,
                    std::to_string(limit.rlim_cur) + " bytes, the limit of file sizes (ulimit -f)",
                    Fault::run_failed);
    struct statvfs system {};
    if (fstatvfs(fd, &system) != 0 || system.f_blocks == 0) return {};  // none that it would tell
    const auto block = static_cast<int64_t>(system.f_frsize);
    const int64_t all = static_cast<int64_t>(system.f_blocks) * block,
                  free = static_cast<int64_t>(system.f_bavail) * block;
    if (bytes > all)
        return fail(place(folder), needs, std::to_string(all) + " bytes, all of that file system",
                    Fault::does_not_fit);
    if (bytes > free)
        return fail(place(folder), needs, std::to_string(free) + " bytes, what is free on that file system",
                    Fault::run_failed);
    return {};
}

bool is_aligned(const PageFile::Piece& p) {
    return p.offset % PageFile::kAligned == 0 && p.bytes % PageFile::kAligned == 0 &&
           reinterpret_cast<uintptr_t>(p.data) % PageFile::kAligned == 0;
}

// 0, or why not: an error number; EIO where the file ends before.
int transfer_all(int fd, const PageFile::Piece& p, bool write) {
    for (int64_t at = 0; at < p.bytes;) {
        const auto left = static_cast<size_t>(p.bytes - at);
        const ssize_t n = write ? ::pwrite(fd, p.data + at, left, p.offset + at)
                                : ::pread(fd, p.data + at, left, p.offset + at);
        if (n < 0 && errno == EINTR) continue;  // by a signal that the step will see at its next op
        if (n < 0) return errno;
        if (n == 0) return EIO;
        at += n;
    }
    return 0;
}

}  // namespace

struct PageFile::Parts {
    std::string folder;
    int64_t bytes = 0;
    Descriptor file{-1};
    bool direct = false;
    SideBySide threads{kRequestsAtOnce};
};

PageFile::PageFile(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
PageFile::~PageFile() = default;

Bytes PageFile::bytes() const {
    return Bytes(parts_->bytes);
}
bool PageFile::is_direct() const {
    return parts_->direct;
}

Result<std::unique_ptr<PageFile>> PageFile::create(const std::string& folder, Bytes bytes, bool direct) {
    if (bytes.count() < 0)
        return fail(place(folder), std::to_string(bytes.count()) + " bytes", "0 or more bytes");
    Descriptor file = open_nameless(folder.empty() ? "." : folder);
    if (file.get() < 0) return fail(place(folder), text_of(errno), "a folder that can be written");
    HEADROOM_CHECK(check_limits(file.get(), folder, bytes.count()));
    if (const int error = bytes.count() > 0 ? posix_fallocate(file.get(), 0, bytes.count()) : 0; error != 0)
        return fail(
            place(folder),
            "the system refuses a file of " + std::to_string(bytes.count()) + " bytes: " + text_of(error),
            "what the file system and the limits of this process leave free", Fault::run_failed);
    // Only now: where a file system cannot reserve, the C library writes single bytes.
    direct = direct && fcntl(file.get(), F_SETFL, O_DIRECT) == 0;
    auto parts = std::unique_ptr<Parts>(new Parts{folder, bytes.count(), std::move(file), direct});
    return std::unique_ptr<PageFile>(new PageFile(std::move(parts)));
}

Result<void> PageFile::transfer(std::span<const Piece> pieces, bool write) {
    const auto failed = [&](const Piece& p, const std::string& why, const std::string& allowed = {}) {
        return fail("the file for pages in '" + parts_->folder + "'",
                    std::string(write ? "writing " : "reading ") + std::to_string(p.bytes) + " bytes at " +
                        std::to_string(p.offset) + ": " + why,
                    allowed, Fault::run_failed);
    };
    std::vector<Piece> requests;
    for (const Piece& p : pieces) {
        if (p.bytes < 0 || p.offset < 0 || p.offset > parts_->bytes - p.bytes)
            return failed(p, "outside of it", "0 to " + std::to_string(parts_->bytes));
        if (parts_->direct && !is_aligned(p))
            return failed(p, "not aligned", "multiples of " + std::to_string(kAligned) + " bytes");
        for (int64_t at = 0; at < p.bytes; at += kRequest)
            requests.push_back({p.offset + at, p.data + at, std::min(kRequest, p.bytes - at)});
    }
    std::mutex mutex;
    std::optional<size_t> first;  // of those that failed
    int error = 0;
    parts_->threads.run(requests.size(), [&](size_t i) {
        const int status = transfer_all(parts_->file.get(), requests[i], write);
        if (status == 0) return;
        const std::scoped_lock lock(mutex);
        if (first && *first < i) return;
        first = i;
        error = status;
    });
    if (first) return failed(requests[*first], text_of(error));
    return {};
}

Result<void> PageFile::read(std::span<const Piece> pieces) {
    return transfer(pieces, false);
}
Result<void> PageFile::write(std::span<const Piece> pieces) {
    return transfer(pieces, true);
}

}  // namespace headroom
