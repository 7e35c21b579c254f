// What the engine says about a run, for people: its JSON lines as text and a progress bar.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/progress.h"

namespace headroom::cli {

class RunReport {
public:
    // Takes one line of the engine. Returns what is to be printed, without a line end; nothing for what only
    // moves the progress bar, which is shown on the way. A line that is no event is returned as it is.
    std::optional<std::string> take(const std::string& line);

private:
    ProgressLine progress_;
    int64_t first_ = 0, steps_ = 1;  // as the start told
};

}  // namespace headroom::cli
