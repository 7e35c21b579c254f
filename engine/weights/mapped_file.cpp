#include "weights/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace headroom {

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
    const auto wrong = [&](const std::string& found) {
        return fail(path.string(), found, "a file that can be read");
    };
    const auto reason = [] { return std::generic_category().message(errno); };
    // O_NONBLOCK: a pipe is refused instead of waited for.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return wrong(errno == ENOENT ? "does not exist" : "cannot be read: " + reason());
    struct stat status = {};
    const bool is_known = fstat(fd, &status) == 0;
    const bool is_file = is_known && S_ISREG(status.st_mode);
    void* data = nullptr;
    const auto size = static_cast<size_t>(status.st_size);
    if (is_file && size > 0) data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    const std::string why = data == MAP_FAILED || !is_known ? reason() : "";
    ::close(fd);
    if (!why.empty()) return wrong("cannot be read: " + why);
    if (!is_file) return wrong(S_ISDIR(status.st_mode) ? "is a folder" : "is no regular file");
    return MappedFile({static_cast<const std::byte*>(data), size});
}

}  // namespace headroom
