// Errors and notes as a bar over the views, never a box in the way.
#pragma once

#include <QFrame>

#include "base/result.h"
#include "gui/paint/palette.h"

class QLabel;
class QToolButton;

namespace headroom::gui {

class MessageBar : public QFrame {
    Q_OBJECT
public:
    explicit MessageBar(QWidget* parent = nullptr);

    // Where it is, what was found, what is allowed.
    void show_error(const Error& error);
    void show_note(const QString& text);
    void set_palette(const Palette& palette);
    QString text() const;

private:
    QLabel* icon_;
    QLabel* label_;
    QToolButton* close_;
    Palette palette_;
    bool is_error_ = false;
    void restyle();
};

}  // namespace headroom::gui
