// What every key does: what `?` shows.
#pragma once

#include <QDialog>

#include "gui/view/view.h"

namespace headroom::gui {

class KeysDialog : public QDialog {
    Q_OBJECT
public:
    // Sections: "Everywhere", then one for each view that has keys of its own.
    KeysDialog(const QList<std::pair<QString, QList<KeyHelp>>>& sections, QWidget* parent);
};

}  // namespace headroom::gui
