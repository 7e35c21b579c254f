// The map of chunk by page: a tile made off the window's thread, and over it the replay and the marked cell.
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>

#include "gui/paint/chunk_times.h"
#include "gui/paint/chunk_traffic.h"
#include "gui/paint/page_map.h"
#include "gui/paint/page_tile.h"
#include "gui/view/drawn.h"

namespace headroom::gui {

// All that the page view shows of one step.
struct PagesData {
    PageMap map;
    ChunkTimes times;
    TrafficTable traffic;
};
using PagesPtr = std::shared_ptr<const PagesData>;

class PageMapWidget : public QWidget {
    Q_OBJECT
public:
    // Pixels beside the map; what is aligned with its chunks has the same.
    static constexpr int kLeft = 96, kRight = 18;

    struct Cell {
        int64_t chunk = 0, page = 0;
        bool operator==(const Cell&) const = default;
    };

    explicit PageMapWidget(QWidget* parent = nullptr);

    void set_data(PagesPtr pages);  // null: none; shows all of it
    void look_at(Pass pass, int layer);
    void set_palette(const Palette& palette);
    // The instant of the replay; absent: the whole pass has been worked on.
    void set_now(std::optional<int64_t> ns);
    // The chunk of the selected op; absent: none.
    void set_selected_chunk(std::optional<int64_t> chunk);

    const MapWindow& window() const { return window_; }
    void set_window(const MapWindow& window);
    void show_all();
    MapAxes axes() const;
    std::optional<Cell> cell() const { return cell_; }
    void mark(std::optional<Cell> cell);
    bool busy() const { return tile_.busy(); }

    QSize sizeHint() const override { return {900, 420}; }
    QSize minimumSizeHint() const override { return {260, 140}; }

Q_SIGNALS:
    void window_changed();
    void cell_changed();  // pointed at, or moved to by keys
    void cell_chosen();   // clicked, or Enter

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void request_tile();
    std::optional<Cell> cell_at(const QPointF& point) const;
    void move_cell(int64_t chunks, int64_t pages);
    void zoom(double chunk_factor, double page_factor, double chunk, double page);
    void zoom_at_mark(double factor);
    void pan(double chunks, double pages);
    void paint_axes(QPainter& painter, const MapAxes& axes) const;
    void paint_replay(QPainter& painter, const MapAxes& axes) const;
    void paint_cell(QPainter& painter, const MapAxes& axes) const;

    PagesPtr data_;
    Pass pass_ = Pass::fill;
    int layer_ = kAllLayers;
    Palette palette_;
    MapWindow window_;
    std::optional<int64_t> now_ns_, selected_chunk_;
    std::optional<Cell> cell_;

    struct Tile {
        QImage image;
        MapWindow window;
    };
    Drawn<Tile> tile_;

    QPointF pressed_at_, dragged_from_;
    MapWindow dragged_window_;
    bool dragging_ = false, pressed_ = false;
};

}  // namespace headroom::gui
