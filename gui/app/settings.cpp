#include "gui/app/settings.h"

#include <QFileInfo>
#include <QSettings>

namespace headroom::gui {
namespace {

constexpr const char* kRecent = "recent_files";
constexpr const char* kTheme = "theme";
constexpr const char* kGeometry = "geometry";

QSettings settings() {
    return QSettings(QSettings::IniFormat, QSettings::UserScope, "headroom", "headroom-gui");
}

}  // namespace

QStringList recent_files() {
    QStringList there;
    for (const QString& file : settings().value(kRecent).toStringList()) {
        if (QFileInfo::exists(file)) there << file;
    }
    return there;
}

void remember_file(const QString& path) {
    const QString whole = QFileInfo(path).absoluteFilePath();
    QStringList files = recent_files();
    files.removeAll(whole);
    files.prepend(whole);
    while (files.size() > kRecentFiles) files.removeLast();
    settings().setValue(kRecent, files);
}

void forget_recent_files() {
    settings().remove(kRecent);
}

Theme saved_theme() {
    return theme_of(settings().value(kTheme).toString());
}

void save_theme(Theme theme) {
    settings().setValue(kTheme, name_of(theme));
}

QByteArray saved_geometry() {
    return settings().value(kGeometry).toByteArray();
}

void save_geometry(const QByteArray& geometry) {
    settings().setValue(kGeometry, geometry);
}

}  // namespace headroom::gui
