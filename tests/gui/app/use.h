// Uses the controls of a widget as a person does, and finds those that no case speaks of.
#pragma once

#include <QString>
#include <QWidget>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace headroom::gui::test {

// A copy of a shipped scenario: how it is looked at is kept beside it.
std::string shipped(const char* name);

// How a control is used, and what tells that it did something.
struct Use {
    std::function<QString()> state;  // what the control is there for, as it stands
    std::function<void()> before = {};
    // Absent: as controls of its type are used.
    std::function<void(QWidget&)> mouse = {}, keys = {};
};
using Uses = std::map<QString, Use>;  // by name_of

// What takes mouse and keyboard, and is no part of another control.
std::vector<QWidget*> controls_of(QWidget& root);
// As it is called: for whoever hears the screen, else its text, else its class.
QString name_of(const QWidget& control);

// As controls of its type are used. Tables: another row; lists of choices: another choice; fields: the text
// is selected, or replaced by `7`.
void use_by_mouse(QWidget& control);
void use_by_keys(QWidget& control);
void wheel(QWidget& control, int notches);
// A picture of the widget as text, to tell whether it changed.
QString picture_of(QWidget& widget);
// The next file dialog gets `file` and is accepted.
void answer_file_dialog(const QString& file);
// The next dialog is closed by this key.
void answer_dialog(Qt::Key key);

// Keeps count of what was used, over several scenes.
class Walk {
public:
    explicit Walk(QWidget& root) : root_(root) {}
    // Uses every visible control that was not used yet, first by mouse, then by keyboard: each must change
    // its state. A control without a case fails, but for the handles of splitters: they move.
    void use_all(const Uses& uses);
    // Fails for every control that was never used, and every case without a control.
    void end();

private:
    QWidget& root_;
    std::set<QWidget*> used_;
    std::set<QString> cases_, met_;
};

}  // namespace headroom::gui::test
