// The points of a sweep as a table, sorted by strategy and context.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "search/answer.h"

namespace headroom::gui {

class SweepTable : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { strategy, context, verdict, step, speed, mfu, device, host, disk, chunk, count_ };

    explicit SweepTable(QObject* parent = nullptr);

    void clear();
    void insert(const SweepPoint& point);  // one there is of the same strategy and context is replaced
    const std::vector<SweepPoint>& points() const { return points_; }
    // -1: there is none.
    int row_of(const std::string& name, Tokens tokens) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString text(const SweepPoint& point, int column) const;
    std::vector<SweepPoint> points_;
};

}  // namespace headroom::gui
