// Anonymous memory of this process, mapped once and given back at the end.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace headroom {

// Contract: move-only; zero-filled; aligned to a page of the system (4 KiB at least); huge pages where the
// system gives them. Zero bytes map nothing.
class HostPages {
public:
    HostPages() = default;
    HostPages(HostPages&& other) noexcept;
    HostPages& operator=(HostPages&& other) noexcept;
    HostPages(const HostPages&) = delete;
    HostPages& operator=(const HostPages&) = delete;
    ~HostPages();

    // Reserves addresses; the system brings the memory when it is first touched. `owner` names it in errors:
    // "the host arena". Error (Fault::run_failed): the system refuses that many bytes.
    static Result<HostPages> map(Bytes bytes, const std::string& owner);
    // Touches every page from `threads` threads, > 0: one thread alone brings 1 to 2 GiB/s, sixteen 6
    // (before cudaHostRegister; on an H200's host). Error: interrupted.
    Result<void> touch(int threads, const std::string& owner);

    std::byte* data() const { return data_; }
    Bytes bytes() const { return bytes_; }

private:
    std::byte* data_ = nullptr;
    Bytes bytes_;
};

}  // namespace headroom
