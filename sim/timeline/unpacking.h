// gzip unpacked on a thread of its own, while the caller uses the piece before. Private to the room.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace headroom {

class Unpacking {
public:
    // As Gunzip: `packed` must outlive it.
    Unpacking(std::string_view packed, const std::string& where, int64_t limit_bytes);
    // Stops what is not wanted any more.
    ~Unpacking();
    Unpacking(const Unpacking&) = delete;
    Unpacking& operator=(const Unpacking&) = delete;

    // As Gunzip::next, waiting for what is not there yet.
    Result<size_t> next(std::span<char> into);

private:
    void unpack(std::string_view packed, const std::string& where, int64_t limit_bytes);
    bool give(std::string piece);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> ready_, used_;  // pieces in order; memory of those that were read
    std::string piece_;                     // the one that is being read,
    size_t read_ = 0;                       // as far as this
    bool ended_ = false, stopped_ = false;
    Result<void> how_;              // it ended
    std::exception_ptr exception_;  // if by one
    std::thread thread_;            // last: it uses the others
};

}  // namespace headroom
