#include "cli/engine_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/interrupt.h"

namespace headroom::cli {
namespace {

// The engine in a process group of its own, so that the terminal's Ctrl-C reaches us alone and is handed on
// once. `failed`: takes errno where the program cannot be started.
[[noreturn]] void be_child(std::vector<char*>& arguments, int out, int messages, int failed) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(out, STDOUT_FILENO);
    if (messages >= 0) dup2(messages, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    (void)!::write(failed, &error, sizeof error);
    _exit(127);
}

// Until the other end is closed; hands the first interrupt on.
void read_lines(int fd, pid_t child, const std::function<void(const std::string&)>& on_line) {
    std::string pending;
    std::array<char, 8192> piece;
    bool handed_on = false;
    while (true) {
        const ssize_t n = ::read(fd, piece.data(), piece.size());
        if (interrupted() && !handed_on) {
            kill(child, SIGINT);
            handed_on = true;
        }
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        pending.append(piece.data(), static_cast<size_t>(n));
        for (size_t end = pending.find('\n'); end != pending.npos; end = pending.find('\n')) {
            on_line(pending.substr(0, end));
            pending.erase(0, end + 1);
        }
    }
    if (!pending.empty()) on_line(pending);
}

}  // namespace

const SiblingProgram& engine_program() {
    static const SiblingProgram program{
        "headroom-engine",
        "engine",
        {"engine"},
        "an engine beside this program or in PATH; to build it: scripts/deps engine, then the preset "
        "'engine' (README)"};
    return program;
}

std::string engine_path() {
    return find_program(engine_program());
}

Result<int> run_engine(std::vector<std::string> words, const std::function<void(const std::string&)>& on_line,
                       int messages) {
    std::array<int, 2> out{}, failed{};
    if (pipe2(out.data(), O_CLOEXEC) != 0) return tl::unexpected(cannot_start(engine_program(), errno));
    if (pipe2(failed.data(), O_CLOEXEC) != 0) {
        ::close(out[0]);
        ::close(out[1]);
        return tl::unexpected(cannot_start(engine_program(), errno));
    }
    std::vector<char*> arguments = pointers_to(words);
    const pid_t child = fork();
    const int fork_error = errno;
    if (child == 0) be_child(arguments, out[1], messages, failed[1]);
    ::close(out[1]);
    ::close(failed[1]);
    int error = child < 0 ? fork_error : 0;
    if (child > 0) {
        ssize_t n = 0;  // ends without a byte once the program has started
        while ((n = ::read(failed[0], &error, sizeof error)) < 0 && errno == EINTR) continue;
        if (n <= 0) error = 0;
        read_lines(out[0], child, on_line);
    }
    ::close(out[0]);
    ::close(failed[0]);
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
        if (interrupted()) continue;
    }
    if (error != 0) return tl::unexpected(cannot_start(engine_program(), error));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace headroom::cli
