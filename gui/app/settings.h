// What the app remembers between runs: recent files, theme, the window's place. In the user's configuration
// folder.
#pragma once

#include <QByteArray>
#include <QStringList>

#include "gui/app/theme.h"

namespace headroom::gui {

inline constexpr qsizetype kRecentFiles = 12;

QStringList recent_files();               // those that still exist, newest first
void remember_file(const QString& path);  // becomes the newest
void forget_recent_files();
Theme saved_theme();
void save_theme(Theme theme);
QByteArray saved_geometry();
void save_geometry(const QByteArray& geometry);

}  // namespace headroom::gui
