// Rows outside of the tolerance in the colour of what is bad (the model makes them bold and says it in
// words).
#pragma once

#include <QStyledItemDelegate>

#include <QColor>

#include "gui/model/comparison_model.h"

namespace headroom::gui {

class OutsideDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void set_colour(const QColor& bad) { bad_ = bad; }

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        if (index.data(ComparisonModel::outside_role).toBool())
            option->palette.setColor(QPalette::Text, bad_);
    }

private:
    QColor bad_;  // its own: a list asks for it while the view that it is part of goes away
};

}  // namespace headroom::gui
