#include "gui/model/memory_instant.h"

#include <QFont>

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

QString share_text(int64_t part, int64_t whole) {
    return whole == 0 ? QString() : percent_text(static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

int64_t TierInstant::total_bytes() const {
    int64_t sum = 0;
    for (const auto& [category, bytes] : categories) sum += bytes;
    return sum;
}

void MemoryInstantModel::set(StepPtr step, MemoryInstant instant) {
    // While the pointer moves the rows stay the same and only their figures change: no reset, so that nothing
    // that is scrolled or selected jumps.
    const std::vector<Row> before = std::exchange(rows_, {});
    step_ = std::move(step);
    instant_ = std::move(instant);
    if (step_) {
        for (const TierInstant& tier : instant_.tiers) add_tier(tier);
        add_running();
    }
    if (before.size() == rows_.size()) {
        if (!rows_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
        return;
    }
    std::vector<Row> now = std::exchange(rows_, before);
    beginResetModel();
    rows_ = std::move(now);
    endResetModel();
}

void MemoryInstantModel::add_tier(const TierInstant& tier) {
    const int64_t total = tier.total_bytes();
    const bool limited = tier.capacity_bytes > 0;
    rows_.push_back({.name = label_of(tier.tier),
                     .bytes = bytes_text(total),
                     .share = limited ? share_text(total, tier.capacity_bytes) : QString(),
                     .heading = true});
    if (limited) {
        const int64_t left = tier.capacity_bytes - total;
        rows_.push_back({.name = left >= 0 ? tr("headroom of %1").arg(bytes_text(tier.capacity_bytes))
                                           : tr("more than %1").arg(bytes_text(tier.capacity_bytes)),
                         .bytes = bytes_text(std::abs(left)),
                         .share = share_text(std::abs(left), tier.capacity_bytes)});
    }
    for (size_t i = tier.categories.size(); i-- > 0;) {
        const auto& [category, bytes] = tier.categories[i];
        rows_.push_back({.name = label_of(category),
                         .bytes = bytes_text(bytes),
                         .share = share_text(bytes, total),
                         .category = category});
    }
}

void MemoryInstantModel::add_running() {
    rows_.push_back({.name = tr("running"), .heading = true, .wide = true});
    // An excerpt knows of some chunks alone.
    const QString none = step_->timeline.excerpt.empty() ? tr("idle") : tr("not in this excerpt");
    for (size_t s = 0; s < kStreams; ++s) {
        if (step_->index.streams[s].empty()) continue;
        const OpId op = instant_.running[s];
        rows_.push_back({.name = QString("%1: %2").arg(label_of(static_cast<Stream>(s)),
                                                       op == kNone ? none : op_text(step_->timeline.ops[op])),
                         .wide = true});
    }
}

void MemoryInstantModel::set_colours(std::function<QVariant(Category)> of) {
    colours_ = std::move(of);
    if (!rows_.empty())
        Q_EMIT dataChanged(index(0, kName), index(rowCount() - 1, kName), {Qt::DecorationRole});
}

int MemoryInstantModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int MemoryInstantModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumns;
}

QVariant MemoryInstantModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Row& row = rows_[static_cast<size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            return index.column() == kName ? row.name : index.column() == kBytes ? row.bytes : row.share;
        case Qt::ToolTipRole:
            return row.wide ? QVariant(row.name) : QVariant();
        case Qt::TextAlignmentRole:
            return QVariant(int(index.column() == kName ? Qt::AlignLeft : Qt::AlignRight) |
                            int(Qt::AlignVCenter));
        case Qt::FontRole: {
            if (!row.heading) return {};
            QFont bold;
            bold.setBold(true);
            return bold;
        }
        case Qt::DecorationRole:
            return index.column() == kName && row.category != Category::count_ && colours_
                       ? colours_(row.category)
                       : QVariant();
        default:
            return {};
    }
}

QVariant MemoryInstantModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
        case kName:
            return tr("Category");
        case kBytes:
            return tr("Bytes");
        case kShare:
            return tr("Share");
        default:
            return {};
    }
}

}  // namespace headroom::gui
