// How a file was last looked at, kept beside it (NAME.headroom-view) and taken up again when it is opened.
//
// Nothing is written until something was changed; where the folder cannot be written to, nothing is kept.
#pragma once

#include <QString>
#include <filesystem>
#include <map>
#include <optional>

#include "base/result.h"
#include "gui/model/focus.h"

namespace headroom::gui {

struct Sidecar {
    QString view;                      // id of the tab
    std::map<QString, QString> knobs;  // turned ones
    std::optional<TimeRange> range;    // absent: the whole step
    std::optional<TimeRange> marked;
    OpId selected = kNone;
    bool operator==(const Sidecar&) const = default;
};

std::filesystem::path sidecar_path(const std::filesystem::path& file);
// JSON with a schema_version. read: absent file: an empty Sidecar. Error: not JSON, another version, wrong
// types; names file and key.
Result<Sidecar> read_sidecar(const std::filesystem::path& file);
std::string format_sidecar(const Sidecar& sidecar);
Result<Sidecar> parse_sidecar(const std::string& text, const std::string& where);
Result<void> write_sidecar(const std::filesystem::path& file, const Sidecar& sidecar);

}  // namespace headroom::gui
