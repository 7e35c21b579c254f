// The fuzzer's bytes as a file, for readers that map files.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

class FileOf {
public:
    // `name`: its ending decides how it is read.
    FileOf(const uint8_t* data, size_t size, const std::string& name)
        : path_(std::filesystem::path("/dev/shm") / (std::to_string(getpid()) + "-" + name)) {
        const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
        ::close(fd);
    }
    ~FileOf() { ::unlink(path_.c_str()); }
    FileOf(const FileOf&) = delete;
    FileOf& operator=(const FileOf&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};
