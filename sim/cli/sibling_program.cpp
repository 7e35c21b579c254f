#include "cli/sibling_program.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

namespace headroom::cli {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_program(const SiblingProgram& program) {
    std::error_code ignored;
    const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    // Programs lie in BUILD/room/folder.
    const fs::path build = beside.parent_path().parent_path();
    std::vector<fs::path> places{beside / program.name, build / program.folder / program.name};
    for (const std::string& other : program.builds)
        places.push_back(build.parent_path() / other / program.folder / program.name);
    for (const fs::path& place : places) {
        if (is_program(place)) return place.string();
    }
    return program.name;
}

bool can_start(const std::string& path) {
    if (path.find('/') != path.npos) return is_program(path);
    const char* folders = std::getenv("PATH");
    std::istringstream list(folders != nullptr ? folders : "");
    for (std::string folder; std::getline(list, folder, ':');) {
        if (is_program(fs::path(folder) / path)) return true;
    }
    return false;
}

Error cannot_start(const SiblingProgram& program, int error) {
    return {Fault::run_failed, program.name, std::strerror(error), program.how_to_get};
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (std::string& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    return arguments;
}

tl::unexpected<Error> become(const SiblingProgram& program, std::vector<std::string> words) {
    std::vector<char*> arguments = pointers_to(words);
    execvp(arguments[0], arguments.data());
    return tl::unexpected(cannot_start(program, errno));
}

}  // namespace headroom::cli
