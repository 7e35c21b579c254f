// Mouse and keys of the page map.
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <cmath>

#include "gui/view/page_map_widget.h"

namespace headroom::gui {
namespace {

constexpr double kZoomStep = 1.25, kPanStep = 0.15;
constexpr double kDrag_px = 4;  // less is a click

}  // namespace

void PageMapWidget::resizeEvent(QResizeEvent*) {
    request_tile();
    Q_EMIT window_changed();
}

std::optional<PageMapWidget::Cell> PageMapWidget::cell_at(const QPointF& point) const {
    const MapAxes a = axes();
    if (!data_ || !a.plot.contains(point)) return std::nullopt;
    const auto index = [](double at, int64_t count) {
        return std::clamp<int64_t>(static_cast<int64_t>(std::floor(at)), 0, count - 1);
    };
    return Cell{index(a.chunk_at(point.x()), data_->map.chunks),
                index(a.page_at(point.y()), data_->map.pages)};
}

void PageMapWidget::mark(std::optional<Cell> cell) {
    if (cell == cell_) return;
    cell_ = cell;
    update();
    Q_EMIT cell_changed();
}

void PageMapWidget::move_cell(int64_t chunks, int64_t pages) {
    if (!data_) return;
    const Cell from =
        cell_.value_or(Cell{static_cast<int64_t>(window_.chunk0), static_cast<int64_t>(window_.page0)});
    const Cell to{std::clamp<int64_t>(from.chunk + (cell_ ? chunks : 0), 0, data_->map.chunks - 1),
                  std::clamp<int64_t>(from.page + (cell_ ? pages : 0), 0, data_->map.pages - 1)};
    // What the keys move to is brought into view.
    MapWindow w = window_;
    const auto bring = [](double& begin, double& end, int64_t at) {
        const double first = static_cast<double>(at), span = end - begin;
        if (first < begin) begin = first;
        if (first + 1 > begin + span) begin = first + 1 - span;
        end = begin + span;
    };
    bring(w.chunk0, w.chunk1, to.chunk);
    bring(w.page0, w.page1, to.page);
    set_window(w);
    mark(to);
}

void PageMapWidget::zoom(double chunk_factor, double page_factor, double chunk, double page) {
    set_window(zoomed(window_, chunk_factor, page_factor, chunk, page));
}

void PageMapWidget::zoom_at_mark(double factor) {
    double chunk = (window_.chunk0 + window_.chunk1) / 2, page = (window_.page0 + window_.page1) / 2;
    if (cell_) {
        const double c = static_cast<double>(cell_->chunk) + 0.5, p = static_cast<double>(cell_->page) + 0.5;
        if (c >= window_.chunk0 && c < window_.chunk1 && p >= window_.page0 && p < window_.page1) {
            chunk = c;
            page = p;
        }
    }
    zoom(factor, factor, chunk, page);
}

void PageMapWidget::pan(double chunks, double pages) {
    const double c = chunks * window_.chunk_span(), p = pages * window_.page_span();
    set_window({window_.chunk0 + c, window_.chunk1 + c, window_.page0 + p, window_.page1 + p});
}

void PageMapWidget::wheelEvent(QWheelEvent* event) {
    const MapAxes a = axes();
    // Alt and Shift turn the wheel sideways on some systems.
    const int turn = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
    if (!data_ || turn == 0 || !a.plot.contains(event->position())) return event->ignore();
    const double factor = std::pow(kZoomStep, -turn / 120.0);
    const bool only_pages = event->modifiers().testFlag(Qt::ShiftModifier),
               only_chunks = event->modifiers().testFlag(Qt::ControlModifier);
    zoom(only_pages ? 1 : factor, only_chunks ? 1 : factor, a.chunk_at(event->position().x()),
         a.page_at(event->position().y()));
    event->accept();
}

void PageMapWidget::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !cell_at(event->position())) return;
    pressed_ = true;
    dragging_ = false;
    pressed_at_ = event->position();
    dragged_window_ = window_;
}

void PageMapWidget::mouseMoveEvent(QMouseEvent* event) {
    if (pressed_) {
        const QPointF by = event->position() - pressed_at_;
        if (!dragging_ && by.manhattanLength() < kDrag_px) return;
        dragging_ = true;
        setCursor(Qt::ClosedHandCursor);
        const QRectF plot = axes().plot;
        const double c = -by.x() / plot.width() * dragged_window_.chunk_span(),
                     p = by.y() / plot.height() * dragged_window_.page_span();
        set_window({dragged_window_.chunk0 + c, dragged_window_.chunk1 + c, dragged_window_.page0 + p,
                    dragged_window_.page1 + p});
        return;
    }
    if (const auto at = cell_at(event->position())) mark(at);
}

void PageMapWidget::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !pressed_) return;
    pressed_ = false;
    unsetCursor();
    if (dragging_) return;
    mark(cell_at(event->position()));
    if (cell_) Q_EMIT cell_chosen();
}

void PageMapWidget::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !cell_at(event->position())) return;
    const MapAxes a = axes();
    zoom(0.5, 0.5, a.chunk_at(event->position().x()), a.page_at(event->position().y()));
}

void PageMapWidget::keyPressEvent(QKeyEvent* event) {
    const int64_t stride = event->modifiers().testFlag(Qt::ShiftModifier) ? 16 : 1;
    switch (event->key()) {
        case Qt::Key_Left:
            return move_cell(-stride, 0);
        case Qt::Key_Right:
            return move_cell(stride, 0);
        case Qt::Key_Up:
            return move_cell(0, stride);
        case Qt::Key_Down:
            return move_cell(0, -stride);
        case Qt::Key_A:
            return pan(-kPanStep, 0);
        case Qt::Key_D:
            return pan(kPanStep, 0);
        case Qt::Key_W:
            return pan(0, kPanStep);
        case Qt::Key_S:
            return pan(0, -kPanStep);
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom_at_mark(1 / kZoomStep);
        case Qt::Key_Minus:
            return zoom_at_mark(kZoomStep);
        case Qt::Key_F:
            return show_all();
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (cell_) Q_EMIT cell_chosen();
            return;
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace headroom::gui
