#include "gui/app/main_window.h"

#include <QLabel>
#include <QProgressBar>
#include <QStatusBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include "gui/app/message_bar.h"
#include "gui/view/views.h"

namespace headroom::gui {

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      document_(new Document(this)),
      focus_(new Focus(this)),
      messages_(new MessageBar),
      tabs_(new QTabWidget),
      status_(new QLabel),
      progress_(new QProgressBar) {
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(messages_);
    column->addWidget(tabs_, 1);
    setCentralWidget(body);
    tabs_->setDocumentMode(true);
    for (const ViewEntry& entry : view_entries()) {
        View* view = entry.make(*document_, *focus_);
        view->setObjectName(entry.id);
        views_.push_back(view);
        tabs_->addTab(view, tr(entry.title));
    }
    progress_->setMaximumWidth(160);
    progress_->setTextVisible(false);
    progress_->hide();
    statusBar()->addWidget(status_, 1);
    statusBar()->addPermanentWidget(progress_);
    connect(document_, &Document::failed, messages_, &MessageBar::show_error);
    connect(document_, &Document::cleared_error, messages_, &QWidget::hide);
    connect(document_, &Document::steps_changed, this, [this] {
        const StepPtr step = document_->step();
        focus_->reset(step ? step->duration_ns() : 0);
    });
    connect(document_, &Document::busy_changed, progress_, &QWidget::setVisible);
    connect(document_, &Document::busy_changed, this, [this](bool busy) {
        if (!busy) status_->clear();
    });
    connect(document_, &Document::progressed, this, [this](const QString& text, double share) {
        status_->setText(text);
        progress_->setRange(0, share < 0 ? 0 : 1000);
        if (share >= 0) progress_->setValue(static_cast<int>(share * 1000));
    });
    setWindowTitle("Headroom");
    resize(1280, 840);
}

MainWindow::~MainWindow() = default;

void MainWindow::open(const std::filesystem::path& path) {
    document_->open(path);
}

View* MainWindow::view(const QString& id) const {
    for (View* v : views_) {
        if (v->objectName() == id) return v;
    }
    return nullptr;
}

void MainWindow::show_view(const QString& id) {
    if (View* v = view(id)) tabs_->setCurrentWidget(v);
}

void MainWindow::set_dark(bool dark) {
    const Palette palette = dark ? Palette::dark_one() : Palette::light();
    for (View* v : views_) v->set_palette(palette);
    messages_->set_palette(palette);
}

}  // namespace headroom::gui
