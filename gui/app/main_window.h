// The window: views as tabs, the file menu, messages, progress.
#pragma once

#include <QMainWindow>
#include <filesystem>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/focus.h"
#include "gui/paint/palette.h"

class QLabel;
class QProgressBar;
class QTabWidget;

namespace headroom::gui {

class MessageBar;
class View;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    void open(const std::filesystem::path& path);
    Document& document() { return *document_; }
    Focus& focus() { return *focus_; }
    MessageBar& messages() { return *messages_; }
    const std::vector<View*>& views() const { return views_; }
    View* view(const QString& id) const;  // null: no such
    void show_view(const QString& id);
    void set_dark(bool dark);

private:
    Document* document_;
    Focus* focus_;
    MessageBar* messages_;
    QTabWidget* tabs_;
    QLabel* status_;
    QProgressBar* progress_;
    std::vector<View*> views_;
};

}  // namespace headroom::gui
