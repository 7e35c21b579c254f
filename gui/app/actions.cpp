// The menus of the window and what they do.
#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QTabWidget>

#include "base/file.h"
#include "gui/app/export.h"
#include "gui/app/keys_dialog.h"
#include "gui/app/main_window.h"
#include "gui/app/message_bar.h"
#include "gui/app/settings.h"
#include "gui/view/views.h"
#include "plan/plan.h"

namespace headroom::gui {

QAction* MainWindow::add(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                         std::function<void()> does) {
    auto* action = menu->addAction(text);
    if (!keys.isEmpty()) action->setShortcut(keys);
    action->setStatusTip(tip);
    connect(action, &QAction::triggered, this, std::move(does));
    return action;
}

void MainWindow::build_menus() {
    build_file_menu();
    build_edit_menu();
    build_view_menu();
    build_help_menu();
}

void MainWindow::build_file_menu() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    add(file, tr("&Open…"), QKeySequence::Open, tr("A scenario, a plan or a timeline"),
        [this] { ask_open(); });
    recent_ = file->addMenu(tr("Open &recent"));
    fill_recent();
    add(file, tr("&Close"), QKeySequence::Close, tr("Back to the first page"), [this] {
        keep_sidecar();
        document_->close();
    });
    file->addSeparator();
    QAction* plan = add(file, tr("Save &plan as…"), QKeySequence::SaveAs,
                        tr("plan.json, for simulate and run"), [this] { ask_save_plan(); });
    QAction* timeline =
        add(file, tr("Save &timeline as…"), {}, tr("Chrome trace events, gzipped: opens in Perfetto"),
            [this] { ask_save_timeline(); });
    QAction* view = add(file, tr("&Export this view…"), QKeySequence("Ctrl+E"), tr("As PNG, SVG or CSV"),
                        [this] { ask_export(); });
    connect(file, &QMenu::aboutToShow, this, [this, plan, timeline, view] {
        plan->setEnabled(document_->plan() != nullptr);
        timeline->setEnabled(document_->step() != nullptr);
        view->setEnabled(current_view() != nullptr && current_view()->has_content());
    });
    connect(file, &QMenu::aboutToHide, this, [plan, timeline, view] {
        for (QAction* a : {plan, timeline, view})
            a->setEnabled(true);  // their keys say themselves what is missing
    });
    file->addSeparator();
    add(file, tr("&Quit"), QKeySequence::Quit, tr("Close the window"), [this] { close(); });
}

void MainWindow::build_edit_menu() {
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    QUndoStack& history = document_->knobs().history();
    QAction* undo = history.createUndoAction(this, tr("Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = history.createRedoAction(this, tr("Redo"));
    redo->setShortcut(QKeySequence::Redo);
    edit->addActions({undo, redo});
    add(edit, tr("All knobs as in the &file"), {}, tr("Takes back every turned knob"),
        [this] { document_->knobs().turn_all({}, tr("all knobs")); });
}

void MainWindow::build_view_menu() {
    QMenu* menu = menuBar()->addMenu(tr("&View"));
    for (size_t i = 0; i < views_.size(); ++i) {
        const QKeySequence keys = i < 9 ? QKeySequence(QString("Alt+%1").arg(i + 1)) : QKeySequence();
        add(menu, tabs_->tabText(static_cast<int>(i)), keys, {},
            [this, i] { tabs_->setCurrentIndex(static_cast<int>(i)); });
    }
    menu->addSeparator();
    add(menu, tr("&Back"), QKeySequence("Alt+Left"), tr("The time range before"),
        [this] { focus_->go_back(); });
    add(menu, tr("For&ward"), QKeySequence("Alt+Right"), tr("The time range after"),
        [this] { focus_->go_forward(); });
    add(menu, tr("The &whole step"), QKeySequence("Ctrl+0"), tr("Every operation in view"),
        [this] { focus_->show_all(); });
    QAction* side = add(menu, tr("Look at the &other step"), QKeySequence("Ctrl+T"),
                        tr("From the predicted step to the measured one and back"), [this] {
                            document_->look_at(document_->side() == Document::Side::predicted
                                                   ? Document::Side::measured
                                                   : Document::Side::predicted);
                        });
    connect(document_, &Document::steps_changed, side,
            [this, side] { side->setEnabled(document_->predicted() && document_->measured()); });
    side->setEnabled(false);
    menu->addSeparator();
    auto* themes = new QActionGroup(this);
    for (const auto& [theme, text] : {std::pair{Theme::system, tr("As the &desktop")},
                                      {Theme::light, tr("&Light")},
                                      {Theme::dark, tr("Dar&k")}}) {
        QAction* action = add(menu, text, {}, {}, [this, t = theme] {
            save_theme(t);
            set_theme(t);
        });
        action->setCheckable(true);
        action->setChecked(theme == saved_theme());
        themes->addAction(action);
    }
    QAction* full = add(menu, tr("&Full screen"), QKeySequence("F11"), {},
                        [this] { isFullScreen() ? showNormal() : showFullScreen(); });
    full->setStatusTip(tr("The window over the whole screen, and back"));
}

void MainWindow::build_help_menu() {
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    QAction* keys = add(help, tr("&Keys"), {}, tr("What every key does"), [this] { show_keys(); });
    keys->setShortcuts({QKeySequence("?"), QKeySequence("F1")});
    add(help, tr("&About Headroom"), {}, {}, [this] {
        QMessageBox::about(
            this, tr("About Headroom"),
            tr("Headroom %1\n\nTells whether a training context fits a GPU, what a step costs and why, and "
               "what to change.\n\nThe app is GPL-3.0-only; planner and engine are Apache-2.0.")
                .arg(QApplication::applicationVersion()));
    });
}

void MainWindow::show_keys() {
    QList<std::pair<QString, QList<KeyHelp>>> sections{
        {tr("Everywhere"),
         {{tr("Ctrl+O"), tr("open a scenario, a plan or a timeline")},
          {tr("Ctrl+Z, Ctrl+Shift+Z"), tr("undo and redo a turned knob")},
          {tr("Alt+1 … Alt+%1").arg(views_.size()), tr("the views")},
          {tr("Alt+Left, Alt+Right"), tr("the time range before, and after")},
          {tr("Ctrl+0"), tr("the whole step")},
          {tr("Ctrl+T"), tr("from the predicted step to the measured one and back")},
          {tr("Ctrl+E"), tr("export the view as PNG, SVG or CSV")},
          {tr("Ctrl+Shift+S"), tr("save the plan")},
          {tr("F11"), tr("full screen")},
          {tr("?, F1"), tr("this list")}}}};
    for (const View* v : views_) sections.append({v->title(), v->keys()});
    auto* dialog = new KeysDialog(sections, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::fill_recent() {
    recent_->clear();
    const QStringList files = recent_files();
    for (const QString& path : files) {
        QAction* action = recent_->addAction(QFileInfo(path).fileName());
        action->setStatusTip(path);
        connect(action, &QAction::triggered, this, [this, path] { open(path.toStdString()); });
    }
    recent_->setEnabled(!files.isEmpty());
    if (files.isEmpty()) return;
    recent_->addSeparator();
    connect(recent_->addAction(tr("Forget these")), &QAction::triggered, this, [this] {
        forget_recent_files();
        fill_recent();
    });
}

void MainWindow::ask_open() {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open"), QString::fromStdString(document_->path().parent_path().string()),
        tr("Scenarios, plans, timelines (*.toml *.json *.json.gz);;All files (*)"));
    if (!file.isEmpty()) open(file.toStdString());
}

void MainWindow::say(const Result<void>& done, const QString& note) {
    if (done) {
        messages_->show_note(note);
    } else {
        messages_->show_error(done.error());
    }
}

void MainWindow::ask_export() {
    View* view = current_view();
    if (view == nullptr || !view->has_content())
        return messages_->show_note(tr("This view shows nothing to export yet."));
    const QString stem = QString::fromStdString(document_->path().stem().string());
    const QString name = (stem.isEmpty() ? "plan" : stem) + "-" + view->objectName() + ".png";
    const QString file = QFileDialog::getSaveFileName(this, tr("Export the view"), name,
                                                      tr("Picture (*.png);;Drawing (*.svg);;Table (*.csv)"));
    if (file.isEmpty()) return;
    const std::optional<ExportFormat> format = format_of(QFileInfo(file).suffix());
    if (!format) return messages_->show_note(tr("%1: the name must end in .png, .svg or .csv").arg(file));
    say(export_view(*view, *format, file.toStdString(), devicePixelRatioF()), tr("Written: %1").arg(file));
}

void MainWindow::ask_save_plan() {
    if (document_->plan() == nullptr) return messages_->show_note(tr("There is no plan yet."));
    const QString file =
        QFileDialog::getSaveFileName(this, tr("Save the plan"), "plan.json", tr("Plan (*.json)"));
    if (file.isEmpty()) return;
    say(write_file(file.toStdString(), write_plan(*document_->plan())), tr("Written: %1").arg(file));
}

void MainWindow::ask_save_timeline() {
    const QString file = QFileDialog::getSaveFileName(this, tr("Save the timeline"), "step.trace.json.gz",
                                                      tr("Timeline (*.trace.json.gz)"));
    if (file.isEmpty()) return;
    say(export_timeline(*document_, file.toStdString()),
        tr("Written: %1; https://ui.perfetto.dev opens it").arg(file));
}

}  // namespace headroom::gui
