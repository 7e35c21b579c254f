#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/interrupt.h"

namespace headroom::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kQuietStart{300};  // shorter work shows nothing
constexpr std::chrono::milliseconds kBarInterval{80};
constexpr std::chrono::seconds kLineInterval{5};

}  // namespace

ProgressLine::ProgressLine(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), started_(Clock::now()), last_(started_) {}

ProgressLine::~ProgressLine() {
    clear();
}

void ProgressLine::clear() {
    if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
    shown_ = false;
}

bool ProgressLine::operator()(const std::string& text, double share) {
    if (interrupted()) return false;
    const auto now = Clock::now();
    if (quiet_ || now - started_ < kQuietStart) return true;
    if (now - last_ < (terminal_ ? Clock::duration(kBarInterval) : Clock::duration(kLineInterval)))
        return true;
    last_ = now;
    shown_ = true;
    if (terminal_) {
        std::string bar;
        if (share >= 0) {
            const int full = static_cast<int>(share * 24);
            bar =
                fmt::format("[{:<24}] {:3.0f} % ", std::string(static_cast<size_t>(full), '='), share * 100);
        }
        fmt::print(stderr, "\r\033[K{}{}", bar, text);
        std::fflush(stderr);
    } else {
        fmt::print(stderr, "headroom: {}{}\n", text,
                   share >= 0 ? fmt::format(" ({:.0f} %)", share * 100) : "");
    }
    return true;
}

Progress ProgressLine::callback() {
    return [this](const std::string& text, double share) { return (*this)(text, share); };
}

}  // namespace headroom::cli
