// One chart of a sweep: what a step needs on a tier, or its time, against context, a curve for each strategy.
#pragma once

#include <QChartView>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/sweep.h"
#include "gui/paint/palette.h"
#include "search/answer.h"

class QCategoryAxis;
class QChart;

namespace headroom::gui {

// What all panels of a sweep show.
struct SweepPicture {
    std::vector<std::string> strategies;  // those drawn, in the order of their styles
    std::vector<size_t> styles;           // of each of them
    std::vector<SweepPoint> points;
    std::vector<SweepLimit> limits;  // of those drawn
    Tokens from{1}, to{2};           // the contexts that the axis shows
};

class SweepPanel : public QChartView {
    Q_OBJECT
public:
    enum class Quantity { device, host, step };
    static constexpr int kLeft = 96, kRight = 22;

    // `last`: the panel below all others, which names the contexts.
    SweepPanel(Quantity quantity, bool last, QWidget* parent = nullptr);

    void show_picture(std::shared_ptr<const SweepPicture> picture);
    void set_palette(const Palette& palette);
    // The point that is marked, by index; absent: none.
    void mark(std::optional<size_t> point);
    // The index of the point nearest to the pixel, if one is near.
    std::optional<size_t> point_at(const QPointF& pixel) const;
    std::optional<QPointF> pixel_of(size_t point) const;  // absent: outside of the plot, or cannot run
    // Bytes at the top of the axis (device, host), or ns.
    double most() const { return high_; }

    QSize sizeHint() const override { return {700, 230}; }
    QSize minimumSizeHint() const override { return {320, 110}; }

Q_SIGNALS:
    void picked(size_t point);  // clicked
    void opened(size_t point);  // double-clicked

protected:
    void resizeEvent(QResizeEvent* event) override;
    void drawForeground(QPainter* painter, const QRectF& rect) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    double value_of(const SweepPoint& point) const;
    // The painted point after the marked one: `along` the contexts of its strategy, or `across` to the next
    // strategy at the nearest context. Absent: there is none.
    std::optional<size_t> next_to_mark(int along, int across) const;
    void refill();
    void place();
    void set_axes();
    void paint_budget(QPainter& painter, const QRectF& plot) const;
    void paint_limits(QPainter& painter, const QRectF& plot) const;

    Quantity quantity_;
    bool last_;
    QChart* chart_;
    QCategoryAxis *contexts_, *amounts_;
    std::shared_ptr<const SweepPicture> picture_;
    double low_ = 0, high_ = 1;  // of the amounts, as they stand on the axis
    std::optional<double> budget_;
    std::optional<size_t> marked_;
    Palette palette_;
};

}  // namespace headroom::gui
