#include "command_under_test.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

std::string take(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    std::error_code ignored;
    fs::remove(file, ignored);
    return text.str();
}

void redirect(const fs::path& file, int to, int flags) {
    const int fd = ::open(file.c_str(), flags, 0600);
    if (fd < 0 || ::dup2(fd, to) < 0) ::_exit(126);
    ::close(fd);
}

}  // namespace

Outcome run_headroom(const std::vector<std::string>& arguments, const fs::path& folder,
                     const std::string& out_to) {
    const fs::path place = fs::temp_directory_path() / ("headroom-command-" + std::to_string(::getpid()));
    const fs::path out = out_to.empty() ? fs::path(place.string() + ".out") : fs::path(out_to);
    const fs::path err = place.string() + ".err";
    std::vector<std::string> all{HEADROOM_COMMAND};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& a : all) argv.push_back(a.data());
    argv.push_back(nullptr);

    Outcome outcome;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::chdir(folder.c_str()) != 0) ::_exit(126);
        ::setenv("HEADROOM_DATA", HEADROOM_SOURCE_DIR, 1);
        redirect("/dev/null", STDIN_FILENO, O_RDONLY);
        redirect(out, STDOUT_FILENO, out_to.empty() ? O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY);
        redirect(err, STDERR_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (out_to.empty()) outcome.out = take(out);
    outcome.err = take(err);
    return outcome;
}

std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    bool open = false;
    char quote = 0;
    for (const char c : line) {
        if (quote != 0) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            open = true;
        } else if (c == ' ') {
            if (open || !word.empty()) words.push_back(word);
            word.clear();
            open = false;
        } else {
            word += c;
        }
    }
    if (open || !word.empty()) words.push_back(word);
    return words;
}

size_t lines_of(const std::string& text) {
    const auto ends = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    return ends + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

}  // namespace headroom::test
