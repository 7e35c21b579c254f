// Pages on disk: one file that has no name, its bytes reserved, read and written by several requests at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace headroom {

// Contract: the file is gone with this object, and with the process however that ends. One read() or write()
// at a time, from any thread. No bytes of it are defined before they are written.
class PageFile {
public:
    // Bytes of memory that are read from or written to the file, `offset` bytes into it.
    struct Piece {
        int64_t offset = 0;
        std::byte* data = nullptr;
        int64_t bytes = 0;
    };
    // Direct access asks for offsets, addresses and lengths in multiples of this: what every local file
    // system and disk takes (statx' STATX_DIOALIGN says 512 or 4096).
    static constexpr int64_t kAligned = 4096;

    // `bytes` reserved in `folder`. `direct`: past the system's cache, which would take host memory for what
    // was sent to the disk to save it; all pieces must be aligned then. Where the file system has no direct
    // access the file goes through the cache (is_direct() tells).
    // Errors name bytes and folder. bad_input: no folder, or one that cannot be written. does_not_fit: more
    // than the whole file system. run_failed: more than is free there, than the limit of file sizes (ulimit
    // -f) or than a quota allows.
    static Result<std::unique_ptr<PageFile>> create(const std::string& folder, Bytes bytes, bool direct);
    ~PageFile();
    PageFile(const PageFile&) = delete;
    PageFile& operator=(const PageFile&) = delete;

    // All pieces, in requests of at most 1 MiB, eight at once; returns when all are done. Errors (run_failed)
    // name what the system says, bytes and offset: of the first request that failed; others may be done.
    Result<void> read(std::span<const Piece> pieces);
    Result<void> write(std::span<const Piece> pieces);

    Bytes bytes() const;
    bool is_direct() const;

private:
    struct Parts;
    explicit PageFile(std::unique_ptr<Parts> parts);
    Result<void> transfer(std::span<const Piece> pieces, bool write);
    std::unique_ptr<Parts> parts_;
};

}  // namespace headroom
