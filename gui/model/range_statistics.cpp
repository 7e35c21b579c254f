#include "gui/model/range_statistics.h"

#include <algorithm>

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

void add(RangeFigures& f, const TimelineOp& op, int64_t inside_ns) {
    const int64_t length = op.end_ns - op.start_ns;
    const double share = length == 0 ? 1 : static_cast<double>(inside_ns) / static_cast<double>(length);
    f.min_ns = f.count == 0 ? length : std::min(f.min_ns, length);
    f.max_ns = std::max(f.max_ns, length);
    ++f.count;
    f.sum_ns += inside_ns;
    f.whole_ns += length;
    f.bytes += share * static_cast<double>(op.bytes);
    f.flops += share * static_cast<double>(op.flops);
}

double rate(double amount, int64_t ns) {
    return ns == 0 ? 0 : amount / static_cast<double>(ns);
}

}  // namespace

RangeStatistics statistics_of(const Step& step, TimeRange range, const std::function<bool()>& go_on) {
    constexpr size_t kBetweenQuestions = 1 << 16;
    RangeStatistics statistics;
    statistics.range = range;
    size_t seen = 0;
    for (size_t s = 0; s < kStreams; ++s) {
        const std::vector<OpId>& ops = step.index.streams[s];
        for (size_t i = first_ending_after(step.timeline, ops, range.begin_ns); i < ops.size(); ++i) {
            const TimelineOp& op = step.timeline.ops[ops[i]];
            if (op.start_ns >= range.end_ns) break;
            const int64_t inside = std::min(op.end_ns, range.end_ns) - std::max(op.start_ns, range.begin_ns);
            add(statistics.streams[s], op, inside);
            add(statistics.kinds[static_cast<size_t>(op.kind)], op, inside);
            if (++seen % kBetweenQuestions == 0 && go_on && !go_on()) return statistics;
        }
    }
    return statistics;
}

void RangeStatisticsModel::set(const RangeStatistics& statistics) {
    beginResetModel();
    statistics_ = statistics;
    rows_.clear();
    const size_t size = by_ == By::kind ? kOpKinds : kStreams;
    const RangeFigures* all = by_ == By::kind ? statistics_.kinds.data() : statistics_.streams.data();
    for (size_t i = 0; i < size; ++i) {
        if (all[i].count > 0) rows_.push_back(i);
    }
    if (by_ == By::kind)
        std::stable_sort(rows_.begin(), rows_.end(),
                         [&](size_t a, size_t b) { return all[a].sum_ns > all[b].sum_ns; });
    endResetModel();
}

void RangeStatisticsModel::clear() {
    beginResetModel();
    rows_.clear();
    endResetModel();
}

void RangeStatisticsModel::set_colours(std::function<QVariant(size_t)> of) {
    colours_ = std::move(of);
    if (!rows_.empty())
        Q_EMIT dataChanged(index(0, kName), index(rowCount() - 1, kName), {Qt::DecorationRole});
}

const RangeFigures& RangeStatisticsModel::figures(int row) const {
    const size_t i = rows_[static_cast<size_t>(row)];
    return by_ == By::kind ? statistics_.kinds[i] : statistics_.streams[i];
}

QString RangeStatisticsModel::name(int row) const {
    const size_t i = rows_[static_cast<size_t>(row)];
    return by_ == By::kind ? label_of(static_cast<OpKind>(i)) : label_of(static_cast<Stream>(i));
}

double RangeStatisticsModel::busy_share(const RangeFigures& f) const {
    return rate(static_cast<double>(f.sum_ns), statistics_.range.length_ns());
}

int RangeStatisticsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RangeStatisticsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumns;
}

QVariant RangeStatisticsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const RangeFigures& f = figures(index.row());
    if (role == Qt::TextAlignmentRole)
        return QVariant(int(index.column() == kName ? Qt::AlignLeft : Qt::AlignRight) |
                        int(Qt::AlignVCenter));
    if (role == Qt::DecorationRole && index.column() == kName && colours_)
        return colours_(rows_[static_cast<size_t>(index.row())]);
    if (role != Qt::DisplayRole && role != Qt::UserRole) return {};
    const bool text = role == Qt::DisplayRole;
    const auto time = [&](double ns) {
        return text ? QVariant(time_text(static_cast<int64_t>(ns))) : QVariant(ns);
    };
    const auto number = [&](double value, double least, int decimals) {
        if (!text) return QVariant(value);
        return QVariant(value < least ? QString("-") : QString::number(value, 'f', decimals));
    };
    switch (index.column()) {
        case kName:
            return text ? QVariant(name(index.row()))
                        : QVariant(static_cast<int>(rows_[static_cast<size_t>(index.row())]));
        case kCount:
            return text ? QVariant(count_text(f.count)) : QVariant(static_cast<qlonglong>(f.count));
        case kSum:
            return time(static_cast<double>(f.sum_ns));
        case kBusy:
            return text ? QVariant(percent_text(busy_share(f))) : QVariant(busy_share(f));
        case kMin:
            return time(static_cast<double>(f.min_ns));
        case kMean:
            return time(f.mean_ns());
        case kMax:
            return time(static_cast<double>(f.max_ns));
        case kBytes:
            return text ? QVariant(f.bytes == 0 ? QString("-") : bytes_text(static_cast<int64_t>(f.bytes)))
                        : QVariant(f.bytes);
        case kRate:
            return number(rate(f.bytes, f.sum_ns), 0.05, 1);
        case kFlopRate:
            return number(rate(f.flops, f.sum_ns) * 1e-3, 0.05, 1);
        default:
            return {};
    }
}

QVariant RangeStatisticsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) return {};
    struct Header {
        QString title, help;
    };
    const Header headers[kColumns] = {
        {by_ == By::kind ? tr("Kind") : tr("Stream"), tr("What the figures are of")},
        {tr("Ops"), tr("Ops that run at some time of the range")},
        {tr("Sum"), tr("Their time within the range")},
        {tr("Busy"), tr("That time as a share of the range")},
        {tr("Shortest"), tr("The shortest of these ops, whole")},
        {tr("Mean"), tr("The mean length of these ops, whole")},
        {tr("Longest"), tr("The longest of these ops, whole")},
        {tr("Bytes"),
         tr("Bytes that they moved within the range; an op's bytes are spread evenly over its time")},
        {tr("GB/s"), tr("Bytes over the sum: billions of bytes a second while they run")},
        {tr("TFLOP/s"), tr("Floating-point operations over the sum, in trillions a second")}};
    if (section < 0 || section >= kColumns) return {};
    return role == Qt::DisplayRole ? headers[section].title : headers[section].help;
}

QByteArray RangeStatisticsModel::csv() const {
    QByteArray text = by_ == By::kind ? "kind" : "stream";
    text += ",count,sum_ns,busy_share,min_ns,mean_ns,max_ns,bytes,gb_per_s,tflop_per_s\n";
    for (int row = 0; row < rowCount(); ++row) {
        const RangeFigures& f = figures(row);
        const size_t i = rows_[static_cast<size_t>(row)];
        const std::string_view id =
            by_ == By::kind ? name_of(static_cast<OpKind>(i)) : name_of(static_cast<Stream>(i));
        text += QString("%1,%2,%3,%4,%5,%6,%7,%8,%9,%10\n")
                    .arg(text_of(id))
                    .arg(f.count)
                    .arg(f.sum_ns)
                    .arg(busy_share(f), 0, 'f', 6)
                    .arg(f.min_ns)
                    .arg(f.mean_ns(), 0, 'f', 1)
                    .arg(f.max_ns)
                    .arg(f.bytes, 0, 'f', 0)
                    .arg(rate(f.bytes, f.sum_ns), 0, 'f', 3)
                    .arg(rate(f.flops, f.sum_ns) * 1e-3, 0, 'f', 3)
                    .toUtf8();
    }
    return text;
}

}  // namespace headroom::gui
