#include "cli/calibrate_options.h"

#include <CLI/CLI.hpp>

namespace headroom::cli {

void add_calibrate_options(CLI::App& app, CalibrateOptions& o) {
    app.add_option("--device", o.device, "What to measure: cuda or cpu")
        ->check(CLI::IsMember({"cuda", "cpu"}));
    app.add_flag("--quick", o.quick,
                 "Fewer shapes: seconds instead of minutes, constants that are less sure");
    app.add_option("--disk", o.disk, "Measure the disk of this folder too, with a file that is removed again")
        ->type_name("FOLDER")
        ->check(CLI::ExistingDirectory);
}

}  // namespace headroom::cli
