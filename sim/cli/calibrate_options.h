// The options of a calibration: what `headroom calibrate` and headroom-engine, which it starts, both take.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace headroom::cli {

struct CalibrateOptions {
    std::string device = "cuda";
    bool quick = false;         // fewer shapes
    std::string disk;           // a folder on the disk that is measured; empty: none
    bool only_check = false;    // of the engine: the three fixed points
    bool only_machine = false;  // of the engine: what machine it is
};

// Declares those that people give: --device, --quick, --disk. `options` must outlive the parsing.
void add_calibrate_options(CLI::App& app, CalibrateOptions& options);

}  // namespace headroom::cli
