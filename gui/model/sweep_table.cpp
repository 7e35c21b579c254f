#include "gui/model/sweep_table.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "gui/model/sweep.h"
#include "gui/model/text.h"
#include "strategy/strategy.h"

namespace headroom::gui {
namespace {

// Strategies stand in the order in which they are registered.
size_t rank_of(const std::string& name) {
    size_t rank = 0;
    for (const Strategy* s : strategies()) {
        if (s->name() == name) break;
        ++rank;
    }
    return rank;
}

bool before(const SweepPoint& a, const SweepPoint& b) {
    const size_t x = rank_of(a.strategy), y = rank_of(b.strategy);
    return x != y ? x < y : a.context < b.context;
}

QString gib(int64_t bytes) {
    return QString::number(static_cast<double>(bytes) / static_cast<double>(kGiB), 'f', 2);
}

}  // namespace

SweepTable::SweepTable(QObject* parent) : QAbstractTableModel(parent) {}

void SweepTable::clear() {
    beginResetModel();
    points_.clear();
    endResetModel();
}

void SweepTable::insert(const SweepPoint& point) {
    const auto at = std::lower_bound(points_.begin(), points_.end(), point, before);
    const int row = static_cast<int>(at - points_.begin());
    if (at != points_.end() && at->strategy == point.strategy && at->context == point.context) {
        *at = point;
        Q_EMIT dataChanged(index(row, 0), index(row, count_ - 1));
        return;
    }
    beginInsertRows({}, row, row);
    points_.insert(at, point);
    endInsertRows();
}

int SweepTable::row_of(const std::string& name, Tokens tokens) const {
    const auto at = std::find_if(points_.begin(), points_.end(), [&](const SweepPoint& p) {
        return p.strategy == name && p.context == tokens;
    });
    return at == points_.end() ? -1 : static_cast<int>(at - points_.begin());
}

int SweepTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(points_.size());
}

int SweepTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : count_;
}

QString SweepTable::text(const SweepPoint& p, int column) const {
    if (column == strategy) return text_of(p.strategy);
    if (column == context) return text_of(format_tokens(p.context));
    if (!p.runs) return column == verdict ? tr("cannot run") : QString();
    switch (column) {
        case device:
            return gib(p.need_bytes[0]);
        case host:
            return gib(p.need_bytes[1]);
        case disk:
            return gib(p.need_bytes[2]);
        case step:
            return time_text(p.step_ns);
        case speed:
            return count_text(std::llround(p.tokens_per_second));
        case mfu:
            return percent_text(p.mfu);
        case chunk:
            return text_of(format_tokens(p.plan.decisions.chunk));
        case verdict:
            return p.fits ? tr("fits") : tr("does not fit");
        default:
            return {};
    }
}

QVariant SweepTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const SweepPoint& p = points_[static_cast<size_t>(index.row())];
    if (role == Qt::DisplayRole) return text(p, index.column());
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(index.column() == strategy || index.column() == verdict
                                                     ? Qt::AlignLeft
                                                     : Qt::AlignRight) |
                                   Qt::AlignVCenter);
    if (role == Qt::ToolTipRole)
        return p.runs ? tr("Enter or double click opens this plan") : text_of(short_reason(p.why_not));
    return {};
}

QVariant SweepTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= count_) return {};
    static const std::pair<const char*, const char*> names[] = {
        {QT_TR_NOOP("Strategy"), QT_TR_NOOP("How the step is cut")},
        {QT_TR_NOOP("Context"), QT_TR_NOOP("Tokens of one sequence")},
        {QT_TR_NOOP("Verdict"), QT_TR_NOOP("Whether the best plan fits the budgets")},
        {QT_TR_NOOP("Step"), QT_TR_NOOP("Time of one training step")},
        {QT_TR_NOOP("Tokens/s"), QT_TR_NOOP("Tokens trained a second")},
        {QT_TR_NOOP("MFU"), QT_TR_NOOP("Share of the GPU's peak FLOPs that trains the model")},
        {QT_TR_NOOP("Device GiB"), QT_TR_NOOP("Bytes needed on the device, in GiB")},
        {QT_TR_NOOP("Host GiB"), QT_TR_NOOP("Pinned bytes needed on the host, in GiB")},
        {QT_TR_NOOP("Disk GiB"), QT_TR_NOOP("Bytes needed on the disk, in GiB")},
        {QT_TR_NOOP("Chunk"), QT_TR_NOOP("Tokens of one chunk of the best plan")}};

    if (role == Qt::DisplayRole) return tr(names[section].first);
    if (role == Qt::ToolTipRole) return tr(names[section].second);
    return {};
}

}  // namespace headroom::gui
