#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/interrupt.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    // A full disk may show only here.
    int close() { return ::close(std::exchange(fd_, -1)); }

private:
    int fd_;
};

std::string reason() {
    return std::generic_category().message(errno);
}

tl::unexpected<Error> interruption(const fs::path& path) {
    return fail(path.string(), "interrupted", {}, Fault::interrupted);
}

tl::unexpected<Error> cannot_write(const fs::path& path, const std::string& why) {
    return fail(path.string(), "cannot be written: " + why, "a path in a folder that can be written",
                Fault::run_failed);
}

Result<void> write_all(int fd, std::string_view content, const fs::path& path) {
    constexpr size_t kPiece = size_t{8} << 20;  // small enough that an interrupt is seen soon
    while (!content.empty()) {
        if (interrupted()) return interruption(path);
        const ssize_t written = ::write(fd, content.data(), std::min(content.size(), kPiece));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return cannot_write(path, reason());
        content.remove_prefix(static_cast<size_t>(written));
    }
    return {};
}

Result<void> write_directly(const fs::path& path, std::string_view content) {
    const Descriptor out(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!out.is_open()) return cannot_write(path, reason());
    return write_all(out.get(), content, path);
}

// Beside the target, so that the rename stays within one file system.
std::string temporary_beside(const fs::path& target) {
    static std::atomic<int> serial{0};
    constexpr size_t kLongest = 200;  // leaves room under the 255 bytes that a name may have
    const std::string name = target.filename().string().substr(0, kLongest);
    return (target.parent_path() /
            ("." + name + "." + std::to_string(getpid()) + "-" + std::to_string(serial++) + ".part"))
        .string();
}

Result<void> write_beside(const fs::path& path, const fs::path& target, std::string_view content, mode_t mode,
                          bool replaces) {
    TemporaryName temporary(temporary_beside(target));
    Descriptor out(::open(temporary.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!out.is_open()) return cannot_write(path, reason());
    HEADROOM_CHECK(write_all(out.get(), content, path));
    if (replaces && fchmod(out.get(), mode) != 0) return cannot_write(path, reason());
    if (out.close() != 0) return cannot_write(path, reason());
    if (::rename(temporary.path().c_str(), target.c_str()) != 0) return cannot_write(path, reason());
    temporary.keep();
    return {};
}

}  // namespace

Result<std::string> read_file(const fs::path& path, int64_t limit_bytes) {
    const auto wrong = [&](const std::string& found) {
        return fail(path.string(), found, "a file of at most " + std::to_string(limit_bytes) + " bytes");
    };
    const Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in.is_open()) return wrong(errno == ENOENT ? "does not exist" : "cannot be read: " + reason());
    struct stat status = {};
    if (fstat(in.get(), &status) != 0) return wrong("cannot be read: " + reason());
    if (S_ISDIR(status.st_mode)) return wrong("is a folder");
    if (status.st_size > limit_bytes) return wrong("has " + std::to_string(status.st_size) + " bytes");

    std::string content;
    content.reserve(static_cast<size_t>(status.st_size));
    std::array<char, size_t{64} << 10> piece;
    while (true) {
        const ssize_t n = ::read(in.get(), piece.data(), piece.size());
        if (n < 0 && errno == EINTR && !interrupted()) continue;
        if (interrupted()) return interruption(path);
        if (n < 0) return wrong("cannot be read: " + reason());
        if (n == 0) return content;
        if (n > limit_bytes - static_cast<int64_t>(content.size())) return wrong("has more bytes");
        content.append(piece.data(), static_cast<size_t>(n));
    }
}

Result<void> write_file(const fs::path& path, std::string_view content) {
    if (path.empty() || !path.has_filename()) return cannot_write(path, "it names no file");
    struct stat status = {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) return cannot_write(path, "it is a folder");
    if (exists && !S_ISREG(status.st_mode)) return write_directly(path, content);
    // A symbolic link stays one: the file that it points to is replaced.
    std::error_code ignored;
    fs::path target = exists ? fs::canonical(path, ignored) : path;
    if (target.empty()) target = path;
    return write_beside(path, target, content, status.st_mode & 07777, exists);
}

}  // namespace headroom
