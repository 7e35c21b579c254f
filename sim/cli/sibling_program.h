// Other programs of ours, which the planner does without: the engine, the app.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace headroom::cli {

// A program and where builds of this source tree have it.
struct SiblingProgram {
    std::string name;    // "headroom-engine"
    std::string folder;  // within a build folder: "engine/engine" is preset engine, folder engine
    std::vector<std::string> builds;  // build folders beside this program's own that may have it
    std::string how_to_get;           // "the preset 'engine' (README)"
};

// The first that is there: beside this program, in its build folder, in the named build folders beside that
// one. Else the name alone, for PATH.
std::string find_program(const SiblingProgram& program);
// Whether `path`, as find_program gave it, can be started: it is there, or PATH has it.
bool can_start(const std::string& path);
// What is said where it cannot be started, errno `error`.
Error cannot_start(const SiblingProgram& program, int error);

// This process becomes the program `words[0]`, whose output is ours. Returns only where it cannot be started.
tl::unexpected<Error> become(const SiblingProgram& program, std::vector<std::string> words);

// What execvp takes; points into `words`.
std::vector<char*> pointers_to(std::vector<std::string>& words);

}  // namespace headroom::cli
