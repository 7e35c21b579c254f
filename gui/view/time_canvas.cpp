#include "gui/view/time_canvas.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

constexpr double kZoomStep = 0.8;   // of one notch of the wheel, or one key
constexpr double kPanStep = 0.125;  // of the range
constexpr int kNotch = 120;         // eighths of a degree
constexpr int kStill_px = 4;        // a press that moves less is a click
constexpr int kMarkLabel_px = 60;   // a mark narrower than this says nothing of its length

}  // namespace

TimeCanvas::TimeCanvas(Focus& focus, QWidget* parent)
    : QWidget(parent), focus_(focus), palette_(Palette::light()) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(240, 80);
    connect(&focus_, &Focus::range_changed, this, [this] {
        update();
        Q_EMIT view_changed();
    });
    connect(&focus_, &Focus::marked_changed, this, [this] { update(); });
    connect(&focus_, &Focus::selected_changed, this, [this] { update(); });
    connect(&focus_, &Focus::cursor_changed, this, &TimeCanvas::update_cursor_column);
}

void TimeCanvas::set_margins(int left_px, int right_px, int below_px) {
    if (left_px == left_px_ && right_px == right_px_ && below_px == below_px_) return;
    below_px_ = below_px;
    left_px_ = left_px;
    right_px_ = right_px;
    update();
    Q_EMIT view_changed();
}

void TimeCanvas::set_palette(const Palette& palette) {
    palette_ = palette;
    update();
}

QRect TimeCanvas::body() const {
    return {left_px_, kAxis_px, std::max(1, width() - left_px_ - right_px_),
            std::max(1, height() - kAxis_px - below_px_)};
}

TimeAxis TimeCanvas::axis() const {
    const TimeRange range = focus_.range();
    const QRect b = body();
    return {range.begin_ns, std::max(range.end_ns, range.begin_ns + 1), static_cast<double>(b.left()),
            static_cast<double>(b.width())};
}

void TimeCanvas::fit() {
    std::optional<TimeRange> to = focus_.marked();
    if (!to && selection_) {
        to = selection_();
        // A little of what is around it, and never less than can be shown.
        if (to) {
            const int64_t beside = std::max<int64_t>(to->length_ns() / 10, Focus::kShortest_ns / 2);
            to = TimeRange{to->begin_ns - beside, to->end_ns + beside};
        }
    }
    const TimeRange before = focus_.range();
    if (to) focus_.set_range(*to);
    if (!to || focus_.range() == before) focus_.show_all();
}

void TimeCanvas::zoom_by(double factor) {
    const TimeRange range = focus_.range();
    const std::optional<int64_t> cursor = focus_.cursor_ns();
    focus_.zoom(factor, cursor && range.contains(*cursor) ? *cursor : range.begin_ns + range.length_ns() / 2);
}

void TimeCanvas::pan_by(double share_of_range) {
    const double by = share_of_range * static_cast<double>(focus_.range().length_ns());
    focus_.pan(static_cast<int64_t>(std::llround(by)));
}

void TimeCanvas::resizeEvent(QResizeEvent*) {
    Q_EMIT view_changed();
}

void TimeCanvas::wheelEvent(QWheelEvent* event) {
    event->accept();
    if (focus_.whole().empty()) return;
    const QPoint turned = event->angleDelta();
    // Shift turns a wheel sideways on some platforms already.
    const bool sideways =
        event->modifiers().testFlag(Qt::ShiftModifier) || std::abs(turned.x()) > std::abs(turned.y());
    const double notches =
        static_cast<double>(turned.y() != 0 && !(sideways && turned.x() != 0) ? turned.y() : turned.x()) /
        kNotch;
    if (notches == 0) return;
    if (sideways) {
        pan_by(-notches * kPanStep);
    } else {
        focus_.zoom(std::pow(kZoomStep, notches), axis().ns_at(event->position().x()));
    }
}

void TimeCanvas::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || focus_.whole().empty()) return;
    pressed_at_ = event->pos();
    pressed_ns_ = axis().ns_at(event->position().x());
    pressed_range_ = focus_.range();
    const bool marks = event->pos().y() < kAxis_px || event->modifiers().testFlag(Qt::ShiftModifier);
    drag_ = marks ? Drag::mark : Drag::pressed;
}

void TimeCanvas::mouseMoveEvent(QMouseEvent* event) {
    const TimeAxis now = axis();
    const int64_t at_ns = now.ns_at(event->position().x());
    if (drag_ == Drag::pressed && std::abs(event->pos().x() - pressed_at_.x()) >= kStill_px) {
        drag_ = Drag::pan;
        setCursor(Qt::ClosedHandCursor);
    }
    if (drag_ == Drag::pan) {
        const double by = (pressed_at_.x() - event->position().x()) * now.ns_per_pixel();
        const int64_t begin = pressed_range_.begin_ns + static_cast<int64_t>(std::llround(by));
        focus_.pan(begin - focus_.range().begin_ns);
        return;
    }
    if (drag_ == Drag::mark && std::abs(event->pos().x() - pressed_at_.x()) >= kStill_px)
        focus_.mark(TimeRange{pressed_ns_, at_ns});
    if (focus_.range().contains(at_ns)) focus_.set_cursor(at_ns);
    Q_EMIT hovered(event->pos());
}

void TimeCanvas::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || drag_ == Drag::none) return;
    const Drag was = std::exchange(drag_, Drag::none);
    unsetCursor();
    const bool still = std::abs(event->pos().x() - pressed_at_.x()) < kStill_px;
    if (was == Drag::mark && still) focus_.mark(std::nullopt);
    if (was == Drag::pressed && still) Q_EMIT clicked(event->pos());
}

void TimeCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && event->pos().y() >= kAxis_px)
        Q_EMIT double_clicked(event->pos());
}

void TimeCanvas::leaveEvent(QEvent*) {
    focus_.set_cursor(std::nullopt);
    Q_EMIT left();
}

void TimeCanvas::keyPressEvent(QKeyEvent* event) {
    const Qt::KeyboardModifiers held = event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier);
    if (held != Qt::NoModifier || focus_.whole().empty()) return QWidget::keyPressEvent(event);
    const TimeRange range = focus_.range();
    switch (event->key()) {
        case Qt::Key_W:
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom_by(kZoomStep);
        case Qt::Key_S:
        case Qt::Key_Minus:
            return zoom_by(1 / kZoomStep);
        case Qt::Key_A:
            return pan_by(-kPanStep);
        case Qt::Key_D:
            return pan_by(kPanStep);
        case Qt::Key_PageUp:
            return pan_by(-1);
        case Qt::Key_PageDown:
            return pan_by(1);
        case Qt::Key_Home:
            return focus_.pan(-range.begin_ns);
        case Qt::Key_End:
            return focus_.pan(focus_.whole().end_ns - range.end_ns);
        case Qt::Key_F:
            return fit();
        case Qt::Key_M:
            return focus_.mark(range);
        case Qt::Key_Left:
            Q_EMIT stepped(-1);
            return;
        case Qt::Key_Right:
            Q_EMIT stepped(1);
            return;
        case Qt::Key_Up:
            Q_EMIT lane_stepped(-1);
            return;
        case Qt::Key_Down:
            Q_EMIT lane_stepped(1);
            return;
        case Qt::Key_Escape:
            if (focus_.marked()) {
                focus_.mark(std::nullopt);
            } else if (focus_.selected() != kNone) {
                focus_.select(kNone);
            } else {
                QWidget::keyPressEvent(event);
            }
            return;
        default:
            QWidget::keyPressEvent(event);
    }
}

QList<KeyHelp> TimeCanvas::keys() {
    return {
        {tr("Wheel, W and S, + and -"), tr("zoom at the pointer or cursor")},
        {tr("Drag, Shift+wheel, A and D"), tr("move in time")},
        {tr("Page Up, Page Down, Home, End"), tr("move by a screen, to the begin or the end of the step")},
        {tr("F"), tr("fit the marked range or the selection; again: the whole step")},
        {tr("Drag on the axis, Shift+drag, M"), tr("mark a range; M: what is in view")},
        {tr("Escape"), tr("remove the mark, then the selection")}};
}

void TimeCanvas::paintEvent(QPaintEvent*) {
    // The window came to a screen of another density: draw lists are made for the pixels there are.
    if (drawn_scale_ != devicePixelRatioF()) {
        const bool first = drawn_scale_ == 0;
        drawn_scale_ = devicePixelRatioF();
        if (!first) QMetaObject::invokeMethod(this, &TimeCanvas::view_changed, Qt::QueuedConnection);
    }
    QPainter painter(this);
    painter.fillRect(rect(), palette_.background);
    if (focus_.whole().empty()) {
        if (paint_body_) paint_body_(painter, axis(), body());
        return;
    }
    const TimeAxis now = axis();
    paint_axis(painter, now);
    if (paint_body_) paint_body_(painter, now, body());
    paint_mark(painter, now);
    paint_cursor(painter, now);
    if (hasFocus()) {
        painter.setPen(palette_.accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

TimeCanvas::Label TimeCanvas::mark_label(const TimeAxis& now) const {
    const std::optional<TimeRange> marked = focus_.marked();
    if (!marked) return {};
    const QRect b = body();
    const double from = std::max<double>(b.left(), now.x_of(marked->begin_ns));
    const double to = std::min<double>(b.right() + 1, now.x_of(marked->end_ns));
    const QString text = time_text(marked->length_ns());
    const int room = fontMetrics().horizontalAdvance(text) + 12;
    if (to - from < std::max(kMarkLabel_px, room)) return {};
    return {text, {static_cast<int>((from + to - room) / 2), 3, room, kAxis_px - 6}};
}

TimeCanvas::Label TimeCanvas::cursor_label(const TimeAxis& now) const {
    const std::optional<int64_t> cursor = focus_.cursor_ns();
    if (!cursor || !focus_.range().contains(*cursor)) return {};
    // As many digits as a column of pixels tells apart.
    const double ns = now.ns_per_pixel();
    const int decimals = std::clamp(static_cast<int>(std::ceil(9 - std::log10(std::max(1.0, ns)))), 0, 9);
    const QString text = QString::number(static_cast<double>(*cursor) * 1e-9, 'f', decimals) + " s";
    const int room = fontMetrics().horizontalAdvance(text) + 12;
    const int left =
        std::clamp(static_cast<int>(now.x_of(*cursor)) - room / 2, 0, std::max(0, width() - room));
    return {text, {left, 3, room, kAxis_px - 6}};
}

void TimeCanvas::paint_axis(QPainter& painter, const TimeAxis& now) const {
    const QRect b = body();
    painter.fillRect(QRect(0, 0, width(), kAxis_px), palette_.panel);
    // Far from 0 and near in, labels are long: as far apart as the longest needs.
    double least_px = 90;
    std::vector<Tick> ticks = time_ticks(now, least_px);
    for (const Tick& tick : ticks)
        least_px = std::max(least_px, painter.fontMetrics().horizontalAdvance(tick.label) + 16.0);
    if (least_px > 90) ticks = time_ticks(now, least_px);
    const QRect boxes[] = {mark_label(now).rect, cursor_label(now).rect};
    for (const Tick& tick : ticks) {
        const double x = now.x_of(static_cast<int64_t>(std::llround(tick.value)));
        const int column = static_cast<int>(std::floor(x));
        if (column < b.left() || column > b.right()) continue;
        painter.setPen(palette_.grid);
        painter.drawLine(column, kAxis_px - 5, column, b.bottom());
        painter.setPen(palette_.faint_text);
        const QRect label(column + 4, 0, painter.fontMetrics().horizontalAdvance(tick.label) + 2, kAxis_px);
        if (label.right() >= width() || label.intersects(boxes[0]) || label.intersects(boxes[1])) continue;
        painter.drawText(label, Qt::AlignVCenter | Qt::AlignLeft, tick.label);
    }
    painter.setPen(palette_.grid);
    painter.drawLine(0, kAxis_px - 1, width(), kAxis_px - 1);
}

void TimeCanvas::paint_mark(QPainter& painter, const TimeAxis& now) const {
    const std::optional<TimeRange> marked = focus_.marked();
    if (!marked) return;
    const QRect b = body();
    const double from = std::max<double>(b.left(), now.x_of(marked->begin_ns));
    const double to = std::min<double>(b.right() + 1, now.x_of(marked->end_ns));
    if (to <= from) return;
    painter.fillRect(QRectF(from, 0, to - from, b.bottom() + 1), palette_.marked);
    painter.setPen(palette_.accent);
    painter.drawLine(QPointF(from, 0), QPointF(from, b.bottom()));
    painter.drawLine(QPointF(to - 1, 0), QPointF(to - 1, b.bottom()));
    const Label label = mark_label(now);
    painter.fillRect(label.rect, palette_.accent);
    painter.setPen(Palette::text_on(palette_.accent));
    painter.drawText(label.rect, Qt::AlignCenter, label.text);
}

void TimeCanvas::paint_cursor(QPainter& painter, const TimeAxis& now) const {
    const Label label = cursor_label(now);
    if (label.text.isEmpty()) return;
    const double x = std::floor(now.x_of(*focus_.cursor_ns()));
    painter.setPen(palette_.cursor);
    painter.drawLine(QPointF(x, kAxis_px), QPointF(x, body().bottom()));
    painter.fillRect(label.rect, palette_.cursor);
    painter.setPen(Palette::text_on(palette_.cursor));
    painter.drawText(label.rect, Qt::AlignCenter, label.text);
}

void TimeCanvas::update_cursor_column() {
    const TimeAxis now = axis();
    for (const std::optional<int64_t>& at : {drawn_cursor_ns_, focus_.cursor_ns()}) {
        if (!at) continue;
        const int x = static_cast<int>(std::floor(now.x_of(*at)));
        update(x - 1, kAxis_px, 3, height());
    }
    update(0, 0, width(), kAxis_px);
    drawn_cursor_ns_ = focus_.cursor_ns();
}

}  // namespace headroom::gui
