#include "gui/app/main_window.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QProgressBar>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/app/message_bar.h"
#include "gui/app/settings.h"
#include "gui/app/welcome.h"
#include "gui/view/views.h"

namespace headroom::gui {

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      document_(new Document(this)),
      focus_(new Focus(this)),
      messages_(new MessageBar),
      pages_(new QStackedWidget),
      welcome_(new Welcome),
      tabs_(new QTabWidget),
      status_(new QLabel),
      progress_(new QProgressBar),
      cancel_(new QToolButton) {
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(messages_);
    column->addWidget(pages_, 1);
    setCentralWidget(body);
    pages_->addWidget(welcome_);
    pages_->addWidget(tabs_);
    tabs_->setDocumentMode(true);
    tabs_->setAccessibleName(tr("Views"));
    for (const ViewEntry& entry : view_entries()) {
        View* view = entry.make(*document_, *focus_);
        view->setObjectName(entry.id);
        connect(view, &View::view_wanted, this, &MainWindow::show_view);
        views_.push_back(view);
        tabs_->addTab(view, tr(entry.title));
    }
    progress_->setMaximumWidth(160);
    progress_->setTextVisible(false);
    progress_->setAccessibleName(tr("Progress"));
    cancel_->setText(tr("Stop"));
    cancel_->setToolTip(tr("Stop what is being worked out; what is there stays"));
    for (QWidget* w : {static_cast<QWidget*>(progress_), static_cast<QWidget*>(cancel_)}) {
        w->hide();
        statusBar()->addPermanentWidget(w);
    }
    statusBar()->addWidget(status_, 1);
    build_menus();

    connect(welcome_, &Welcome::chosen, this, [this](const QString& file) { open(file.toStdString()); });
    connect(welcome_, &Welcome::open_asked, this, &MainWindow::ask_open);
    connect(cancel_, &QToolButton::clicked, document_, &Document::cancel);
    connect(document_, &Document::failed, this, [this](Error error) {
        // A knob that nobody turned here: its value stands beside the file.
        if (!taken_.knobs.empty() && taken_.knobs == document_->knobs().values() &&
            error.where.starts_with("--set "))
            error.where = sidecar_path(document_->path()).string() + ", knob " + error.where.substr(6);
        messages_->show_error(error);
    });
    connect(document_, &Document::cleared_error, messages_, &QWidget::hide);
    connect(document_, &Document::opened, this, &MainWindow::opened);
    connect(document_, &Document::steps_changed, this, &MainWindow::step_changed);
    connect(document_, &Document::busy_changed, this, [this](bool busy) {
        progress_->setVisible(busy);
        cancel_->setVisible(busy);
        progress_->setRange(0, 0);
        if (!busy) status_->setText(standing_text());
    });
    connect(document_, &Document::progressed, this, [this](const QString& text, double share) {
        status_->setText(text);
        progress_->setRange(0, share < 0 ? 0 : 1000);
        if (share >= 0) progress_->setValue(static_cast<int>(share * 1000));
    });
    connect(&document_->knobs(), &Knobs::changed, this, &MainWindow::show_title);
    setAcceptDrops(true);
    resize(1280, 840);
    if (!restoreGeometry(saved_geometry())) resize(1280, 840);
    set_theme(saved_theme());
    welcome_->set_recent(recent_files());
    show_title();
}

MainWindow::~MainWindow() = default;

void MainWindow::open(const std::filesystem::path& path) {
    keep_sidecar();
    document_->open(path);
}

void MainWindow::opened() {
    const bool any = document_->kind() != Document::Kind::none;
    pages_->setCurrentIndex(any ? 1 : 0);
    show_title();
    if (any && !document_->path().empty()) {
        remember_file(QString::fromStdString(document_->path().string()));
        take_up_sidecar();
    } else {  // a plan that has no file has nothing beside it
        taken_ = Sidecar{};
        pending_ = false;
    }
    welcome_->set_recent(recent_files());
    fill_recent();
}

void MainWindow::take_up_sidecar() {
    taken_ = Sidecar{};
    Result<Sidecar> read = read_sidecar(document_->path());
    if (!read) {
        messages_->show_error(read.error());
        return;
    }
    taken_ = std::move(*read);
    pending_ = taken_.range || taken_.marked || taken_.selected != kNone;
    show_view(taken_.view);
    if (document_->kind() == Document::Kind::scenario && !taken_.knobs.empty())
        document_->knobs().turn_all(taken_.knobs, tr("as last time"));
}

// Written only where it says something else than what is there.
void MainWindow::keep_sidecar() {
    if (document_->kind() == Document::Kind::none || document_->path().empty()) return;
    Sidecar now;
    now.view = current_view() != nullptr ? current_view()->objectName() : QString();
    now.knobs = document_->knobs().values();
    if (!focus_->whole().empty() && focus_->range() != focus_->whole()) now.range = focus_->range();
    now.marked = focus_->marked();
    now.selected = focus_->selected();
    if (pending_) {  // the step never came
        now.range = taken_.range;
        now.marked = taken_.marked;
        now.selected = taken_.selected;
    }
    const Sidecar untouched{view_entries().front().id, {}, {}, {}, kNone};
    std::error_code ignored;
    const bool there = std::filesystem::exists(sidecar_path(document_->path()), ignored);
    if (now == taken_ || (!there && now == untouched)) return;
    const Result<void> written = write_sidecar(document_->path(), now);
    if (written) taken_ = now;  // a folder that cannot be written to keeps nothing
}

QString MainWindow::standing_text() const {
    const StepPtr step = document_->measured() ? document_->measured() : document_->step();
    if (!step || step->timeline.excerpt.empty()) return {};
    return tr("An excerpt: %1. Memory and traffic are of the whole step.")
        .arg(QString::fromStdString(step->timeline.excerpt));
}

void MainWindow::step_changed() {
    const StepPtr step = document_->step();
    if (!document_->busy()) status_->setText(standing_text());
    focus_->reset(document_->span_ns());
    if (!step || !pending_ || !document_->answer_current()) return;
    pending_ = false;
    if (taken_.range) focus_->set_range(*taken_.range);
    focus_->mark(taken_.marked);
    if (taken_.selected < step->timeline.ops.size()) focus_->select(taken_.selected);
}

void MainWindow::show_title() {
    if (document_->kind() == Document::Kind::none) return setWindowTitle("Headroom");
    const bool turned = !document_->knobs().values().empty();
    setWindowTitle(document_->title() + (turned ? tr(" (knobs turned)") : QString()) + " - Headroom");
    setWindowFilePath({});
}

View* MainWindow::view(const QString& id) const {
    for (View* v : views_) {
        if (v->objectName() == id) return v;
    }
    return nullptr;
}

View* MainWindow::current_view() const {
    return pages_->currentIndex() == 1 ? qobject_cast<View*>(tabs_->currentWidget()) : nullptr;
}

void MainWindow::show_view(const QString& id) {
    if (View* v = view(id)) tabs_->setCurrentWidget(v);
}

void MainWindow::set_theme(Theme theme) {
    set_dark(is_dark(theme));
}

void MainWindow::set_dark(bool dark) {
    const Palette palette = dark ? Palette::dark_one() : Palette::light();
    apply_theme(palette);
    for (View* v : views_) v->set_palette(palette);
    messages_->set_palette(palette);
}

void MainWindow::resize_views(QSize views_size) {
    const int shown = pages_->currentIndex();
    pages_->setCurrentIndex(1);
    layout()->activate();
    centralWidget()->layout()->activate();
    resize(size() + views_size - tabs_->currentWidget()->size());
    pages_->setCurrentIndex(shown);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    keep_sidecar();
    save_geometry(saveGeometry());
    document_->cancel();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls() && event->mimeData()->urls().first().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty() || !urls.first().isLocalFile()) return;
    event->acceptProposedAction();
    open(urls.first().toLocalFile().toStdString());
}

}  // namespace headroom::gui
