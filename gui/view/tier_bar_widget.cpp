#include "gui/view/tier_bar_widget.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>

#include "gui/model/answer_tables.h"
#include "gui/model/text.h"
#include "gui/paint/tier_bar.h"

namespace headroom::gui {
namespace {

constexpr int kMargin = 8, kBar = 26, kSwatch = 10, kGap = 16;

std::vector<std::pair<Category, int64_t>> pairs_of(const TierNeed& need) {
    std::vector<std::pair<Category, int64_t>> list;
    for (const Share& s : shares_of(need)) list.emplace_back(s.category, s.bytes);
    // Before the step is simulated only the sum is known.
    if (list.empty() && need.need_bytes > 0) list.emplace_back(Category::slack, need.need_bytes);
    return list;
}

// Calls visit(x, line, category, text) for every entry of the legend, wrapped to `width`. Returns the lines.
template <class Visit>
int lay_out(const TierNeed& need, const QFontMetrics& metrics, int width, Visit&& visit) {
    int x = 0, line = 0;
    for (const Share& s : shares_of(need)) {
        const QString text = label_of(s.category) + " " + bytes_text(s.bytes);
        const int wide = kSwatch + 5 + metrics.horizontalAdvance(text);
        if (x > 0 && x + wide > width) {
            x = 0;
            ++line;
        }
        visit(x, line, s.category, text);
        x += wide + kGap;
    }
    return line + 1;
}

}  // namespace

TierBarWidget::TierBarWidget(QWidget* parent) : QWidget(parent), palette_(Palette::light()) {
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setSizePolicy(policy);
}

void TierBarWidget::show_tier(Tier tier, const TierNeed& need) {
    tier_ = tier;
    need_ = need;
    QString text = tr("%1 memory: needs %2 of %3, %4")
                       .arg(label_of(tier), bytes_text(need.need_bytes), bytes_text(need.budget_bytes),
                            need.headroom() < 0 ? tr("%1 short").arg(bytes_text(-need.headroom()))
                                                : tr("%1 left").arg(bytes_text(need.headroom())));
    setAccessibleName(text);
    updateGeometry();
    update();
}

void TierBarWidget::set_palette(const Palette& palette) {
    palette_ = palette;
    update();
}

int TierBarWidget::legend_lines() const {
    return lay_out(need_, fontMetrics(), std::max(200, width() - 2 * kMargin),
                   [](int, int, Category, const QString&) {});
}

QSize TierBarWidget::sizeHint() const {
    const int line = fontMetrics().height();
    return {480, kMargin + line + 4 + kBar + 6 + legend_lines() * (line + 2) + kMargin};
}

QRectF TierBarWidget::bar_area() const {
    return {double(kMargin), double(kMargin + fontMetrics().height() + 4), double(width() - 2 * kMargin),
            double(kBar)};
}

void TierBarWidget::paintEvent(QPaintEvent*) {
    QPainter p(this);
    const QFontMetrics metrics = fontMetrics();
    const int line = metrics.height();
    p.setPen(palette_.text);
    QFont bold = font();
    bold.setBold(true);
    p.setFont(bold);
    const QString name = label_of(tier_);
    p.drawText(QRect(kMargin, kMargin, width() - 2 * kMargin, line), Qt::AlignLeft, name);
    p.setFont(font());
    const bool fits = need_.headroom() >= 0;
    const QString sum =
        tr("needs %1 of %2").arg(bytes_text(need_.need_bytes), bytes_text(need_.budget_bytes));
    p.setPen(palette_.faint_text);
    const int indent = kMargin + QFontMetrics(bold).horizontalAdvance(name) + 12;
    p.drawText(QRect(indent, kMargin, width() - indent, line), Qt::AlignLeft, sum);
    p.setPen(fits ? palette_.good : palette_.bad);
    p.setFont(bold);
    p.drawText(QRect(kMargin, kMargin, width() - 2 * kMargin, line), Qt::AlignRight,
               fits ? QString(QChar(0x2714)) + " " + tr("%1 left").arg(bytes_text(need_.headroom()))
                    : QString(QChar(0x2718)) + " " + tr("%1 short").arg(bytes_text(-need_.headroom())));
    p.setFont(font());

    const QRectF area = bar_area();
    p.fillRect(area, palette_.panel);
    const TierBar bar = tier_bar(pairs_of(need_), need_.need_bytes, need_.budget_bytes, area);
    for (const BarPiece& piece : bar.pieces)
        p.fillRect(piece.rect.adjusted(0, 0, -0.5, 0), palette_.of(piece.category));
    if (!fits) {  // what is above the budget
        p.fillRect(QRectF(QPointF(bar.budget_x, area.top()), QPointF(bar.need_x, area.bottom())),
                   QBrush(palette_.bad, Qt::BDiagPattern));
    }
    p.setPen(QPen(palette_.text, 2));
    const double edge = std::min(bar.budget_x, area.right() - 1);
    p.drawLine(QPointF(edge, area.top() - 2), QPointF(edge, area.bottom() + 2));
    p.setPen(QPen(palette_.grid, 1));
    p.drawRect(area.adjusted(0, 0, -1, -1));

    const int top = static_cast<int>(area.bottom()) + 6;
    lay_out(
        need_, metrics, width() - 2 * kMargin, [&](int x, int row, Category category, const QString& text) {
            const int y = top + row * (line + 2);
            p.fillRect(QRect(kMargin + x, y + (line - kSwatch) / 2, kSwatch, kSwatch), palette_.of(category));
            p.setPen(palette_.text);
            p.drawText(QPoint(kMargin + x + kSwatch + 5, y + metrics.ascent()), text);
        });
}

bool TierBarWidget::event(QEvent* event) {
    if (event->type() == QEvent::Resize) updateGeometry();
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (const BarPiece& piece :
         tier_bar(pairs_of(need_), need_.need_bytes, need_.budget_bytes, bar_area()).pieces) {
        if (!piece.rect.contains(help->pos())) continue;
        const double share =
            static_cast<double>(piece.bytes) / static_cast<double>(std::max<int64_t>(1, need_.need_bytes));
        QToolTip::showText(
            help->globalPos(),
            QString("%1: %2, %3").arg(label_of(piece.category), bytes_text(piece.bytes), percent_text(share)),
            this);
        return true;
    }
    QToolTip::hideText();
    return true;
}

}  // namespace headroom::gui
