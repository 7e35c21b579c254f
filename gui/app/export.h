// Views as files, with a window or without.
#pragma once

#include <QSize>
#include <QString>
#include <filesystem>
#include <optional>

#include "base/result.h"

namespace headroom::gui {

class Document;
class View;

enum class ExportFormat { png, svg, csv };
std::optional<ExportFormat> format_of(const QString& name);  // "png", ".PNG"; absent: none of them
// Writes what `view` shows. `scale`: pixels per unit of a PNG (2 on a HiDPI screen). Whole or not at all.
// Errors: the view shows nothing yet; the file cannot be written.
Result<void> export_view(View& view, ExportFormat format, const std::filesystem::path& path,
                         double scale = 1);
// The step looked at, as Perfetto opens it (*.trace.json.gz). Error: there is none.
Result<void> export_timeline(const Document& document, const std::filesystem::path& path);

// `headroom-gui --export VIEW -o FILE INPUT`: without a window. VIEW may be "all" (then FILE is a folder) or
// "timeline".
struct ExportRequest {
    QString view;
    std::filesystem::path input, output;
    QSize size{1600, 900};
    double scale = 1;
    bool dark = false;
    bool with_selection = false;   // Compare: with the pages that the run selected (compare_view.h)
    std::filesystem::path run_to;  // run the plan first; its measured timeline goes there. Empty: do not run
};
// Waits until everything that the view shows is worked out, a run included. Returns the exit code; says
// errors on standard error.
int run_export(const ExportRequest& request);

}  // namespace headroom::gui
