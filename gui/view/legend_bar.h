// What the colours of a picture mean: swatches with words, in as many rows as they need.
#pragma once

#include <QBrush>
#include <QWidget>
#include <vector>

#include "gui/paint/palette.h"

namespace headroom::gui {

struct LegendEntry {
    std::vector<QBrush> swatches;  // side by side: shades of one meaning
    QString text;
};

class LegendBar : public QWidget {
    Q_OBJECT
public:
    // `margin`: pixels to the left of the first entry.
    explicit LegendBar(int margin, QWidget* parent = nullptr);
    void set_entries(std::vector<LegendEntry> entries);
    const std::vector<LegendEntry>& entries() const { return entries_; }
    void set_palette(const Palette& palette);

    QSize sizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    // Top left corners of the entries in so many pixels, and the height of all.
    std::vector<QPoint> places(int width, int* height) const;

    int margin_;
    std::vector<LegendEntry> entries_;
    Palette palette_;
};

}  // namespace headroom::gui
