#include "gui/model/run_steps_model.h"

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

QString figure(std::optional<double> value) {
    return value ? QString::number(*value, 'g', 6) : RunStepsModel::tr("not a number");
}
QByteArray exact(std::optional<double> value) {
    return value ? QByteArray::number(*value, 'g', 17) : QByteArray();
}

}  // namespace

RunStepsModel::RunStepsModel(QObject* parent) : QAbstractTableModel(parent) {}

void RunStepsModel::clear() {
    beginResetModel();
    steps_.clear();
    endResetModel();
}

void RunStepsModel::add(const RunEvent& done) {
    const int row = static_cast<int>(steps_.size());
    beginInsertRows({}, row, row);
    steps_.push_back(done);
    endInsertRows();
}

int RunStepsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(steps_.size());
}

int RunStepsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns_);
}

QVariant RunStepsModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    const RunEvent& e = steps_[static_cast<size_t>(index.row())];
    switch (index.column()) {
        case step:
            return count_text(e.step + 1);
        case loss:
            return figure(e.loss);
        case gradient_norm:
            return figure(e.gradient_norm);
        case seconds:
            return time_text(static_cast<int64_t>(e.seconds * 1e9));
        case tokens_per_second:
            return count_text(static_cast<int64_t>(e.tokens_per_second));
        case mfu:
            return e.mfu ? percent_text(*e.mfu) : QString("-");
        default:
            return e.device_used_bytes ? bytes_text(*e.device_used_bytes) : QString("-");
    }
}

QVariant RunStepsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columns_) return {};
    if (role == Qt::DisplayRole) {
        const QString names[] = {tr("Step"),     tr("Loss"), tr("Gradient norm"), tr("Time"),
                                 tr("Tokens/s"), tr("MFU"),  tr("Device in use")};
        return names[section];
    }
    if (role == Qt::ToolTipRole) {
        const QString tips[] = {tr("Counted from 1"),
                                tr("Mean cross entropy of a token, in nats"),
                                tr("Of all gradients, before they are clipped"),
                                tr("Of the step, by the clock"),
                                tr("Trained tokens a second"),
                                tr("Model FLOPs over the device's dense peak; on a GPU"),
                                tr("The most device memory that was in use, by whatever process; on a GPU")};
        return tips[section];
    }
    return {};
}

QByteArray RunStepsModel::csv() const {
    if (steps_.empty()) return {};
    QByteArray text =
        "step,loss,gradient_norm,learning_rate,step_seconds,tokens_per_second,mfu,device_used_bytes\n";
    for (const RunEvent& e : steps_) {
        text += QByteArray::number(static_cast<qlonglong>(e.step + 1)) + ',' + exact(e.loss) + ',' +
                exact(e.gradient_norm) + ',' + exact(e.learning_rate) + ',' + exact(e.seconds) + ',' +
                exact(e.tokens_per_second) + ',' + exact(e.mfu) + ',' +
                (e.device_used_bytes ? QByteArray::number(static_cast<qlonglong>(*e.device_used_bytes))
                                     : QByteArray()) +
                '\n';
    }
    return text;
}

}  // namespace headroom::gui
