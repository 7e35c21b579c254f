// The window: views as tabs, menus, messages, progress.
#pragma once

#include <QMainWindow>
#include <QSize>
#include <filesystem>
#include <functional>
#include <vector>

#include "gui/app/sidecar.h"
#include "gui/app/theme.h"
#include "gui/model/document.h"
#include "gui/model/focus.h"

class QAction;
class QLabel;
class QMenu;
class QProgressBar;
class QStackedWidget;
class QTabWidget;
class QToolButton;

namespace headroom::gui {

class MessageBar;
class View;
class Welcome;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    // A scenario, plan or timeline; its sidecar is taken up.
    void open(const std::filesystem::path& path);
    Document& document() { return *document_; }
    Focus& focus() { return *focus_; }
    MessageBar& messages() { return *messages_; }
    const std::vector<View*>& views() const { return views_; }
    View* view(const QString& id) const;  // null: no such
    View* current_view() const;           // null: the welcome page is shown
    void show_view(const QString& id);
    void set_theme(Theme theme);
    void set_dark(bool dark);
    // So that each view is this large (for pictures). The window is shown.
    void resize_views(QSize size);
    void show_keys();

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void build_menus();  // actions.cpp
    void build_file_menu();
    void build_edit_menu();
    void build_view_menu();
    void build_help_menu();
    QAction* add(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                 std::function<void()> does);
    void fill_recent();
    void ask_open();
    void ask_export();
    void ask_save_plan();
    void ask_save_timeline();
    void say(const Result<void>& done, const QString& note);

    void opened();
    void take_up_sidecar();
    void keep_sidecar();
    void step_changed();
    // What the status bar says while nothing is worked out.
    QString standing_text() const;
    void show_title();

    Document* document_;
    Focus* focus_;
    MessageBar* messages_;
    QStackedWidget* pages_;
    Welcome* welcome_;
    QTabWidget* tabs_;
    QLabel* status_;
    QProgressBar* progress_;
    QToolButton* cancel_;
    QMenu* recent_ = nullptr;
    std::vector<View*> views_;
    Sidecar taken_;         // as the file's sidecar says
    bool pending_ = false;  // the step that taken_ speaks of has not come yet
};

}  // namespace headroom::gui
