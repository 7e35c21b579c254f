#include "base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <utility>

namespace headroom {
namespace {

// What the handler reads: plain arrays and lock-free atomics only.
struct Slot {
    enum State : int { unused, filling, live };
    std::atomic<int> state{unused};
    std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<Slot, 16> slots;
std::atomic<int> signals{0};

void on_signal(int signal) {
    if (signals.fetch_add(1) == 0) return;
    for (Slot& slot : slots)
        if (slot.state.load() == Slot::live) unlink(slot.path.data());
    ::signal(signal, SIG_DFL);
    raise(signal);
}

int claim(const std::string& path) {
    if (path.size() >= PATH_MAX) return -1;
    for (size_t i = 0; i < slots.size(); ++i) {
        Slot& slot = slots[i];
        int expected = Slot::unused;
        if (!slot.state.compare_exchange_strong(expected, Slot::filling)) continue;
        path.copy(slot.path.data(), path.size());
        slot.path[path.size()] = '\0';
        slot.state.store(Slot::live);
        return static_cast<int>(i);
    }
    return -1;
}

}  // namespace

void handle_interrupts() {
    struct sigaction action = {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction before = {};
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signal, &action, nullptr);
    }
}

bool interrupted() noexcept {
    return signals.load(std::memory_order_relaxed) > 0;
}

Result<void> check_interrupt(const std::string& where) {
    if (interrupted()) return fail(where, "interrupted", {}, Fault::interrupted);
    return {};
}

void clear_interrupt() noexcept {
    signals.store(0);
}

TemporaryName::TemporaryName(std::string path) : path_(std::move(path)), slot_(claim(path_)) {}

TemporaryName::~TemporaryName() {
    if (!kept_) unlink(path_.c_str());
    if (slot_ >= 0) slots[static_cast<size_t>(slot_)].state.store(Slot::unused);
}

void TemporaryName::keep() {
    kept_ = true;
    if (slot_ >= 0) slots[static_cast<size_t>(slot_)].state.store(Slot::unused);
    slot_ = -1;
}

}  // namespace headroom
