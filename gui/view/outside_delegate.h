// Rows outside of the tolerance in the colour of what is bad (the model makes them bold and says it in
// words).
#pragma once

#include <QStyledItemDelegate>

#include "gui/model/comparison_model.h"
#include "gui/view/view.h"

namespace headroom::gui {

class OutsideDelegate : public QStyledItemDelegate {
public:
    OutsideDelegate(const View& view, QObject* parent) : QStyledItemDelegate(parent), view_(view) {}

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        if (index.data(ComparisonModel::outside_role).toBool())
            option->palette.setColor(QPalette::Text, view_.colours().bad);
    }

private:
    const View& view_;
};

}  // namespace headroom::gui
