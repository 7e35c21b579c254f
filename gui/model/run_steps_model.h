// The steps of a run as a table, one row each, growing as they come.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "gui/model/run_event.h"

namespace headroom::gui {

class RunStepsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { step, loss, gradient_norm, seconds, tokens_per_second, mfu, device_used, columns_ };

    explicit RunStepsModel(QObject* parent = nullptr);
    void clear();
    void add(const RunEvent& done);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    // With a header line; figures in full. Empty: no step yet.
    QByteArray csv() const;

private:
    std::vector<RunEvent> steps_;
};

}  // namespace headroom::gui
