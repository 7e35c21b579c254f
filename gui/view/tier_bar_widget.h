// One tier: its name, need, budget and headroom in words, and the bar of who owns the bytes.
#pragma once

#include <QWidget>

#include "gui/paint/palette.h"
#include "search/evaluate.h"

namespace headroom::gui {

class TierBarWidget : public QWidget {
    Q_OBJECT
public:
    explicit TierBarWidget(QWidget* parent = nullptr);
    void show_tier(Tier tier, const TierNeed& need);
    void set_palette(const Palette& palette);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;  // tooltips of the pieces

private:
    QRectF bar_area() const;
    int legend_lines() const;

    Tier tier_ = Tier::device;
    TierNeed need_;
    Palette palette_;
};

}  // namespace headroom::gui
