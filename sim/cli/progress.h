// Progress of long work on stderr: a bar on a terminal, a plain line now and then elsewhere, nothing with
// --quiet.
#pragma once

#include <chrono>
#include <string>

#include "search/answer.h"

namespace headroom::cli {

class ProgressLine {
public:
    explicit ProgressLine(bool quiet = false);
    ~ProgressLine();  // clears the bar
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // Shows it; false once Ctrl-C was pressed.
    bool operator()(const std::string& text, double share);
    Progress callback();
    // Takes the bar away, for a line that is to stand in its place; it comes back with the next call.
    void clear();

private:
    bool quiet_, terminal_, shown_ = false;
    std::chrono::steady_clock::time_point started_, last_;
};

}  // namespace headroom::cli
