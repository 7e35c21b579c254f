// Bars of what travels for each chunk, aligned with the page map above them.
#pragma once

#include <QChartView>
#include <array>
#include <optional>

#include "gui/paint/chunk_traffic.h"
#include "gui/paint/page_tile.h"
#include "gui/paint/palette.h"
#include "gui/view/legend_bar.h"

class QBarSet;
class QCategoryAxis;
class QStackedBarSeries;
class QValueAxis;

namespace headroom::gui {

class TrafficChart : public QChartView {
    Q_OBJECT
public:
    explicit TrafficChart(QWidget* parent = nullptr);

    // `table` null: none. The plot stands between the same pixels as the map's.
    void show_traffic(const TrafficTable* table, Pass pass, int layer, TrafficUnit unit,
                      const MapWindow& window);
    void set_palette(const Palette& palette);
    void set_chunk(std::optional<int64_t> chunk);  // being worked on
    const TrafficColumns& columns() const { return columns_; }
    // What the bars are stacked of.
    std::vector<LegendEntry> legend() const;
    // What stands in place of the bars where there are none; empty: there are.
    QString nothing_text() const;
    // What a column says, for a chunk; empty: not in view.
    QString text_of_chunk(int64_t chunk) const;

    QSize sizeHint() const override { return {900, 150}; }
    QSize minimumSizeHint() const override { return {260, 80}; }

protected:
    void resizeEvent(QResizeEvent* event) override;
    void drawForeground(QPainter* painter, const QRectF& rect) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void refill();
    void place();
    void restyle();

    QChart* chart_;
    QStackedBarSeries* series_;
    std::array<QBarSet*, kTrafficParts> sets_{};
    QValueAxis* chunks_;
    QCategoryAxis* amounts_;
    const TrafficTable* table_ = nullptr;
    Pass pass_ = Pass::fill;
    int layer_ = kAllLayers;
    TrafficUnit unit_ = TrafficUnit::pages;
    MapWindow window_;
    TrafficColumns columns_;
    std::optional<int64_t> chunk_;
    Palette palette_;
};

}  // namespace headroom::gui
