// The errors of a prediction as a table, judged against a tolerance; and the rows of it that are asked for.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "gui/model/comparison.h"

namespace headroom::gui {

class ComparisonModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { group, what, predicted, measured, error, share, verdict, columns_ };
    // Figures to sort by; whether a row is judged and outside of the tolerance.
    enum Role { sort_role = Qt::UserRole, outside_role };

    explicit ComparisonModel(QObject* parent = nullptr);
    void set(ComparisonPtr comparison);  // null: no rows
    // 0.05: 5 %.
    void set_tolerance(double tolerance);
    double tolerance() const { return tolerance_; }

    ComparisonPtr comparison() const { return comparison_; }
    const Difference& row(int index) const;
    bool outside(const Difference& d) const;
    int count_outside() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    // All rows, figures in full.
    QByteArray csv() const;

private:
    QString text(const Difference& d, int column) const;
    QVariant figure(const Difference& d, int column) const;

    ComparisonPtr comparison_;
    double tolerance_ = 0.05;
};

// Sorted by figures; the rows of one group, or the judged ones only.
class ComparisonFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit ComparisonFilter(ComparisonModel& model, QObject* parent = nullptr);
    void set_group(const QString& group);  // as Difference::group; empty: all
    void set_judged_only(bool on);
    const Difference& row(const QModelIndex& index) const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    ComparisonModel& model_;
    std::string group_;
    bool judged_only_ = false;
};

}  // namespace headroom::gui
