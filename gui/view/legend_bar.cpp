#include "gui/view/legend_bar.h"

#include <QPainter>

namespace headroom::gui {
namespace {

constexpr int kSwatch = 13, kGap = 6, kBetween = 20, kPad = 3;

}  // namespace

LegendBar::LegendBar(int margin, QWidget* parent)
    : QWidget(parent), margin_(margin), palette_(Palette::light()) {
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Legend"));
}

void LegendBar::set_entries(std::vector<LegendEntry> entries) {
    entries_ = std::move(entries);
    QStringList words;
    for (const LegendEntry& e : entries_) words << e.text;
    setAccessibleDescription(words.join(", "));
    updateGeometry();
    update();
}

void LegendBar::set_palette(const Palette& palette) {
    palette_ = palette;
    update();
}

std::vector<QPoint> LegendBar::places(int width, int* height) const {
    std::vector<QPoint> places;
    const QFontMetrics metrics(font());
    const int row = std::max(metrics.height(), kSwatch) + 2 * kPad;
    int x = margin_, y = 0;
    for (const LegendEntry& e : entries_) {
        const int wide =
            static_cast<int>(e.swatches.size()) * kSwatch + kGap + metrics.horizontalAdvance(e.text);
        if (x > margin_ && x + wide > width) {
            x = margin_;
            y += row;
        }
        places.emplace_back(x, y);
        x += wide + kBetween;
    }
    *height = y + row;
    return places;
}

int LegendBar::heightForWidth(int width) const {
    int height = 0;
    places(width, &height);
    return height;
}

QSize LegendBar::sizeHint() const {
    return {200, heightForWidth(std::max(200, width()))};
}

void LegendBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    int height = 0;
    const std::vector<QPoint> at = places(width(), &height);
    const QFontMetrics metrics(font());
    for (size_t i = 0; i < entries_.size(); ++i) {
        const int row = std::max(metrics.height(), kSwatch) + 2 * kPad;
        int x = at[i].x();
        for (const QBrush& brush : entries_[i].swatches) {
            const QRect box(x, at[i].y() + (row - kSwatch) / 2, kSwatch, kSwatch);
            painter.fillRect(box, palette_.background);
            painter.fillRect(box, brush);
            painter.setPen(palette_.grid);
            painter.drawRect(box.adjusted(0, 0, -1, -1));
            x += kSwatch;
        }
        painter.setPen(palette_.text);
        painter.drawText(QRect(x + kGap, at[i].y(), width() - x, row), Qt::AlignVCenter | Qt::AlignLeft,
                         entries_[i].text);
    }
}

}  // namespace headroom::gui
