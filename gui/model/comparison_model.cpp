#include "gui/model/comparison_model.h"

#include <QFont>
#include <cmath>

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

QString quantity(const Difference& d, int64_t value) {
    return d.unit == "bytes" ? bytes_text(value) : time_text(value);
}

QString quoted(const std::string& text) {
    return '"' + text_of(text).replace('"', "\"\"") + '"';
}

}  // namespace

ComparisonModel::ComparisonModel(QObject* parent) : QAbstractTableModel(parent) {}

void ComparisonModel::set(ComparisonPtr comparison) {
    beginResetModel();
    comparison_ = std::move(comparison);
    endResetModel();
}

void ComparisonModel::set_tolerance(double tolerance) {
    if (tolerance == tolerance_) return;
    tolerance_ = tolerance;
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columns_ - 1));
}

const Difference& ComparisonModel::row(int index) const {
    return comparison_->figures.differences[static_cast<size_t>(index)];
}

bool ComparisonModel::outside(const Difference& d) const {
    return d.judged && std::abs(d.error) > tolerance_;
}

int ComparisonModel::count_outside() const {
    int count = 0;
    for (int i = 0; i < rowCount(); ++i) count += outside(row(i)) ? 1 : 0;
    return count;
}

int ComparisonModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !comparison_ ? 0 : static_cast<int>(comparison_->figures.differences.size());
}

int ComparisonModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns_);
}

QString ComparisonModel::text(const Difference& d, int column) const {
    switch (column) {
        case group:
            return d.group == "kind" ? tr("op kind") : text_of(d.group);
        case what:
            return text_of(d.what).replace('_', ' ');
        case predicted:
            return quantity(d, d.predicted);
        case measured:
            return quantity(d, d.measured);
        case error:
            return error_text(d.error);
        case share:
            return percent_text(d.weight);
        default:
            return !d.judged    ? tr("too small to judge")
                   : outside(d) ? QString(QChar(0x2715)) + ' ' + tr("outside")
                                : QString(QChar(0x2713)) + ' ' + tr("within");
    }
}

QVariant ComparisonModel::figure(const Difference& d, int column) const {
    switch (column) {
        case predicted:
            return static_cast<qlonglong>(d.predicted);
        case measured:
            return static_cast<qlonglong>(d.measured);
        case error:
            return std::abs(d.error);
        case share:
            return d.weight;
        case verdict:
            return !d.judged ? 0 : outside(d) ? 2 : 1;
        default:
            return text(d, column);
    }
}

QVariant ComparisonModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Difference& d = row(index.row());
    switch (role) {
        case Qt::DisplayRole:
            return text(d, index.column());
        case sort_role:
            return figure(d, index.column());
        case outside_role:
            return outside(d);
        case Qt::FontRole: {
            QFont font;
            font.setBold(outside(d));
            return font;
        }
        case Qt::TextAlignmentRole:
            return index.column() >= predicted && index.column() <= share
                       ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                       : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
        case Qt::ToolTipRole: {
            if (index.column() != error) return {};
            const int64_t by = d.predicted - d.measured;
            return tr("%1 %2 than measured").arg(quantity(d, std::abs(by)), by < 0 ? tr("less") : tr("more"));
        }
        default:
            return {};
    }
}

QVariant ComparisonModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columns_) return {};
    if (role == Qt::DisplayRole) {
        const QString names[] = {tr("Group"), tr("What"),  tr("Predicted"), tr("Measured"),
                                 tr("Error"), tr("Share"), tr("Verdict")};
        return names[section];
    }
    if (role == Qt::ToolTipRole) {
        const QString tips[] = {tr("What the rows of one group have in common"),
                                tr("Peaks are those of the step; a category's is the largest it ever was"),
                                tr("Bytes, or time summed over all operations"),
                                tr("Bytes, or time summed over all operations"),
                                tr("(predicted - measured) / measured; sorted by its size"),
                                tr("Of its group's total, in the step where it is larger"),
                                tr("Against the tolerance; less than 0.5 % of its group is not judged")};
        return tips[section];
    }
    return {};
}

QByteArray ComparisonModel::csv() const {
    if (rowCount() == 0) return {};
    QString text = "group,what,unit,predicted,measured,error,share,judged,outside_tolerance\n";
    for (const Difference& d : comparison_->figures.differences) {
        text += QString("%1,%2,%3,%4,%5,%6,%7,%8,%9\n")
                    .arg(text_of(d.group), quoted(d.what), text_of(d.unit))
                    .arg(d.predicted)
                    .arg(d.measured)
                    .arg(std::isfinite(d.error) ? QString::number(d.error, 'g', 10) : QString())
                    .arg(QString::number(d.weight, 'g', 10), d.judged ? "true" : "false",
                         outside(d) ? "true" : "false");
    }
    return text.toUtf8();
}

ComparisonFilter::ComparisonFilter(ComparisonModel& model, QObject* parent)
    : QSortFilterProxyModel(parent), model_(model) {
    setSourceModel(&model);
    setSortRole(ComparisonModel::sort_role);
    setDynamicSortFilter(true);
}

void ComparisonFilter::set_group(const QString& group) {
    group_ = group.toStdString();
    invalidateFilter();
}

void ComparisonFilter::set_judged_only(bool on) {
    judged_only_ = on;
    invalidateFilter();
}

const Difference& ComparisonFilter::row(const QModelIndex& index) const {
    return model_.row(mapToSource(index).row());
}

bool ComparisonFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    const Difference& d = model_.row(row);
    return (group_.empty() || d.group == group_) && (!judged_only_ || d.judged);
}

}  // namespace headroom::gui
