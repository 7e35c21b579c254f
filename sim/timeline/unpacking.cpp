#include "timeline/unpacking.h"

#include <algorithm>

#include "base/gunzip.h"

namespace headroom {
namespace {

// Small enough for a core's cache, which the reader finds them in; enough of them that neither waits for
// long.
constexpr size_t kPiece = size_t{256} << 10;
constexpr size_t kAhead = 4;

}  // namespace

Unpacking::Unpacking(std::string_view packed, const std::string& where, int64_t limit_bytes)
    : thread_([this, packed, where, limit_bytes] { unpack(packed, where, limit_bytes); }) {}

Unpacking::~Unpacking() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Unpacking::unpack(std::string_view packed, const std::string& where, int64_t limit_bytes) {
    Result<void> how;
    std::exception_ptr exception;
    try {
        Gunzip gunzip(packed, where, limit_bytes);
        while (true) {
            std::string piece;
            {
                const std::lock_guard lock(mutex_);
                if (!used_.empty()) {
                    piece = std::move(used_.front());
                    used_.pop_front();
                }
            }
            piece.resize(kPiece);
            const Result<size_t> n = gunzip.next(piece);
            if (!n) how = tl::unexpected(n.error());
            if (!n || *n == 0) break;
            piece.resize(*n);
            if (!give(std::move(piece))) return;
        }
    } catch (...) {
        exception = std::current_exception();
    }
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        how_ = std::move(how);
        exception_ = exception;
    }
    changed_.notify_all();
}

// False: nobody wants more.
bool Unpacking::give(std::string piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || ready_.size() < kAhead; });
    if (stopped_) return false;
    ready_.push_back(std::move(piece));
    lock.unlock();
    changed_.notify_all();
    return true;
}

Result<size_t> Unpacking::next(std::span<char> into) {
    size_t done = 0;
    while (done < into.size()) {
        if (read_ == piece_.size()) {
            std::unique_lock lock(mutex_);
            if (!piece_.empty()) used_.push_back(std::move(piece_));
            piece_.clear();
            read_ = 0;
            changed_.wait(lock, [this] { return ended_ || !ready_.empty(); });
            if (!ready_.empty()) {
                piece_ = std::move(ready_.front());
                ready_.pop_front();
                lock.unlock();
                changed_.notify_all();
            } else if (exception_) {
                std::rethrow_exception(exception_);
            } else if (!how_) {
                return tl::unexpected(how_.error());
            } else {
                return done;
            }
        }
        const size_t n = piece_.copy(into.data() + done, into.size() - done, read_);
        read_ += n;
        done += n;
    }
    return done;
}

}  // namespace headroom
