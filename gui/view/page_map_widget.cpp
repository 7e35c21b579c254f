#include "gui/view/page_map_widget.h"

#include <QPainter>
#include <cmath>

#include "base/text.h"
#include "gui/model/text.h"

namespace headroom::gui {
namespace {

constexpr int kTop = 10, kBottom = 42;

}  // namespace

PageMapWidget::PageMapWidget(QWidget* parent)
    : QWidget(parent), palette_(Palette::light()), tile_([this] { update(); }) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Page map: chunks to the right, pages upwards"));
    setToolTip(
        tr("Wheel: zoom; with Shift only pages, with Ctrl only chunks. Drag: pan. Click: go to that chunk."));
    setToolTipDuration(3000);
}

MapAxes PageMapWidget::axes() const {
    return {window_, QRectF(kLeft, kTop, std::max(1, width() - kLeft - kRight),
                            std::max(1, height() - kTop - kBottom))};
}

void PageMapWidget::set_data(PagesPtr pages) {
    data_ = std::move(pages);
    tile_.clear();
    mark(std::nullopt);
    window_ = data_ ? whole_window(data_->map) : MapWindow{};
    request_tile();
    update();
    Q_EMIT window_changed();
}

void PageMapWidget::look_at(Pass pass, int layer) {
    if (pass == pass_ && layer == layer_) return;
    pass_ = pass;
    layer_ = layer;
    request_tile();
    update();
}

void PageMapWidget::set_palette(const Palette& palette) {
    palette_ = palette;
    request_tile();
    update();
}

void PageMapWidget::set_now(std::optional<int64_t> ns) {
    if (ns == now_ns_) return;
    now_ns_ = ns;
    update();
}

void PageMapWidget::set_selected_chunk(std::optional<int64_t> chunk) {
    if (chunk == selected_chunk_) return;
    selected_chunk_ = chunk;
    update();
}

void PageMapWidget::set_window(const MapWindow& window) {
    if (!data_) return;
    const MapWindow to = clamped(window, data_->map);
    if (to == window_) return;
    window_ = to;
    request_tile();
    update();
    Q_EMIT window_changed();
}

void PageMapWidget::show_all() {
    if (data_) set_window(whole_window(data_->map));
}

void PageMapWidget::request_tile() {
    if (!data_ || data_->map.chunks == 0) return;
    const QSizeF size = axes().plot.size() * devicePixelRatioF();
    const int width = std::max(1, static_cast<int>(std::lround(size.width()))),
              height = std::max(1, static_cast<int>(std::lround(size.height())));
    tile_.want([pages = data_, pass = pass_, layer = layer_, window = window_, palette = palette_, width,
                height] {
        return Tile{tile_image(fuse(pages->map, pass, layer, window, width, height), width, height, palette),
                    window};
    });
}

void PageMapWidget::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette_.background);
    if (!data_) return;
    const MapAxes a = axes();
    if (const Tile* tile = tile_.get()) {
        const MapWindow& w = tile->window;
        const QRectF target(QPointF(a.x_of(w.chunk0), a.y_of(w.page1)),
                            QPointF(a.x_of(w.chunk1), a.y_of(w.page0)));
        painter.save();
        painter.setClipRect(a.plot);
        painter.drawImage(target, tile->image);
        painter.restore();
    }
    paint_replay(painter, a);
    paint_cell(painter, a);
    paint_axes(painter, a);
    if (hasFocus()) {
        painter.setPen(QPen(palette_.accent, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(a.plot.adjusted(-1, -1, 1, 1));
    }
}

void PageMapWidget::paint_axes(QPainter& painter, const MapAxes& a) const {
    const PageMap& map = data_->map;
    painter.setPen(palette_.grid);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(a.plot);
    const QFontMetrics metrics(font());
    painter.setPen(palette_.faint_text);
    const double per_label = metrics.horizontalAdvance(count_text(map.chunks)) + 28;
    for (const int64_t chunk : whole_ticks(a.window.chunk0 - 0.5, a.window.chunk1 - 0.5,
                                           per_label / a.plot.width() * a.window.chunk_span(), false)) {
        const double x = a.x_of(static_cast<double>(chunk) + 0.5);
        painter.drawLine(QPointF(x, a.plot.bottom()), QPointF(x, a.plot.bottom() + 4));
        const QString text = count_text(chunk);
        const double wide = metrics.horizontalAdvance(text);
        if (x + wide / 2 > width()) continue;
        painter.drawText(QPointF(x - wide / 2, a.plot.bottom() + 5 + metrics.ascent()), text);
    }
    const double per_row = metrics.height() + 14;
    for (const int64_t page : whole_ticks(a.window.page0 - 0.5, a.window.page1 - 0.5,
                                          per_row / a.plot.height() * a.window.page_span(), true)) {
        const double y = a.y_of(static_cast<double>(page) + 0.5);
        painter.drawLine(QPointF(a.plot.left() - 4, y), QPointF(a.plot.left(), y));
        painter.drawText(QRectF(0, y - 10, a.plot.left() - 7, 20), Qt::AlignRight | Qt::AlignVCenter,
                         count_text(page));
    }
    painter.setPen(palette_.text);
    const int64_t tokens = map.pages_per_chunk * map.page_tokens;
    painter.drawText(
        QRectF(a.plot.left(), a.plot.bottom() + 5 + metrics.height(), a.plot.width(), metrics.height() + 2),
        Qt::AlignHCenter | Qt::AlignTop,
        tr("chunk (%1 tokens each)").arg(text_of(format_tokens(Tokens(tokens)))));
    painter.save();
    painter.translate(4, a.plot.center().y());
    painter.rotate(-90);
    painter.drawText(QRectF(-a.plot.height() / 2, 0, a.plot.height(), metrics.height() + 4),
                     Qt::AlignHCenter | Qt::AlignTop, tr("page (%1 tokens each)").arg(map.page_tokens));
    painter.restore();
}

void PageMapWidget::paint_replay(QPainter& painter, const MapAxes& a) const {
    painter.save();
    painter.setClipRect(a.plot.adjusted(-1, 0, 1, 0));
    if (now_ns_) {
        // A veil over what has not been worked on yet, one for each stretch of chunks.
        QColor veil = palette_.background;
        veil.setAlpha(190);
        const auto first = static_cast<int64_t>(std::floor(a.window.chunk0)),
                   last = std::min(data_->map.chunks, static_cast<int64_t>(std::ceil(a.window.chunk1)));
        for (int64_t c = first; c < last;) {
            if (data_->times.begun(pass_, layer_, c, *now_ns_)) {
                ++c;
                continue;
            }
            const int64_t begin = c;
            while (c < last && !data_->times.begun(pass_, layer_, c, *now_ns_)) ++c;
            const double left = a.x_of(static_cast<double>(begin));
            painter.fillRect(
                QRectF(left, a.plot.top(), a.x_of(static_cast<double>(c)) - left, a.plot.height()), veil);
        }
    }
    const auto column = [&](int64_t chunk, const QPen& pen) {
        const double left = a.x_of(static_cast<double>(chunk)),
                     right = a.x_of(static_cast<double>(chunk + 1));
        const double wide = std::max(3.0, right - left);
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF((left + right - wide) / 2, a.plot.top() - 1, wide, a.plot.height() + 2));
    };
    if (selected_chunk_) column(*selected_chunk_, QPen(palette_.selection, 1.5, Qt::DashLine));
    const WorkSpan* span = now_ns_ ? data_->times.at(*now_ns_) : nullptr;
    if (span != nullptr && span->pass == pass_ && span->chunk < data_->map.chunks)
        column(span->chunk, QPen(palette_.accent, 2));
    painter.restore();
}

void PageMapWidget::paint_cell(QPainter& painter, const MapAxes& a) const {
    if (!cell_) return;
    painter.save();
    painter.setClipRect(a.plot);
    const double x0 = a.x_of(static_cast<double>(cell_->chunk)),
                 x1 = a.x_of(static_cast<double>(cell_->chunk + 1)),
                 y0 = a.y_of(static_cast<double>(cell_->page + 1)),
                 y1 = a.y_of(static_cast<double>(cell_->page));
    const double wide = std::max(9.0, x1 - x0), high = std::max(9.0, y1 - y0);
    const QRectF box((x0 + x1 - wide) / 2, (y0 + y1 - high) / 2, wide, high);
    QColor faint = palette_.cursor;
    faint.setAlpha(110);
    painter.setPen(QPen(faint, 1, Qt::DotLine));
    painter.drawLine(QPointF(a.plot.left(), box.center().y()), QPointF(box.left(), box.center().y()));
    painter.drawLine(QPointF(box.center().x(), box.bottom()), QPointF(box.center().x(), a.plot.bottom()));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette_.background, 3));
    painter.drawRect(box);
    painter.setPen(QPen(palette_.cursor, 1.5));
    painter.drawRect(box);
    painter.restore();
}

}  // namespace headroom::gui
