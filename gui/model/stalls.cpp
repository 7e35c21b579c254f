#include "gui/model/stalls.h"

#include <algorithm>

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

// Of the waits of `after`, the one that ended last, if that was after `since_ns` (ties: the lowest id).
OpId last_waited(const Step& step, OpId after, int64_t since_ns) {
    OpId last = kNone;
    int64_t end_ns = since_ns;
    for (const OpId op : waits_of(step.timeline, after)) {
        if (step.timeline.ops[op].end_ns <= end_ns) continue;
        last = op;
        end_ns = step.timeline.ops[op].end_ns;
    }
    return last;
}

// From the last op of compute to the end of the step.
Stall tail_of(const Step& step, int64_t compute_end_ns) {
    Stall stall{compute_end_ns, step.duration_ns(), kNone, kNone};
    for (const auto& stream : step.index.streams) {
        if (!stream.empty() && step.timeline.ops[stream.back()].end_ns == step.duration_ns()) {
            stall.waited_for = stream.back();
            break;
        }
    }
    return stall;
}

}  // namespace

Stall stall_before(const Step& step, OpId after) {
    const OpId before = neighbour(step.timeline, step.index, after, -1);
    Stall stall{before == kNone ? 0 : step.timeline.ops[before].end_ns, step.timeline.ops[after].start_ns,
                after, kNone};
    stall.waited_for = last_waited(step, after, stall.begin_ns);
    return stall;
}

QString explanation(const Step& step, const Stall& stall) {
    const std::vector<TimelineOp>& ops = step.timeline.ops;
    if (stall.after == kNone) {
        return StallsModel::tr("the step ends with %1 on %2")
            .arg(op_text(ops[stall.waited_for]), label_of(ops[stall.waited_for].stream));
    }
    if (stall.waited_for == kNone) {
        return StallsModel::tr("%1 starts late: all that it waits for had ended")
            .arg(op_text(ops[stall.after]));
    }
    return StallsModel::tr("%1 waits for %2 on %3")
        .arg(op_text(ops[stall.after]), op_text(ops[stall.waited_for]),
             label_of(ops[stall.waited_for].stream));
}

Stalls stalls_of(const Step& step, size_t most) {
    Stalls stalls;
    const std::vector<TimelineOp>& ops = step.timeline.ops;
    int64_t end_ns = 0;
    const auto add = [&](const Stall& stall) {
        ++stalls.count;
        stalls.total_ns += stall.length_ns();
        int64_t& cause = stall.waited_for == kNone
                             ? stalls.unexplained_ns
                             : stalls.by_kind_ns[static_cast<size_t>(ops[stall.waited_for].kind)];
        cause += stall.length_ns();
        stalls.largest.push_back(stall);
    };
    const auto longer = [](const Stall& a, const Stall& b) {
        return a.length_ns() != b.length_ns() ? a.length_ns() > b.length_ns() : a.begin_ns < b.begin_ns;
    };
    const auto keep_largest = [&] {
        if (stalls.largest.size() <= most) return;
        std::nth_element(stalls.largest.begin(), stalls.largest.begin() + static_cast<ptrdiff_t>(most),
                         stalls.largest.end(), longer);
        stalls.largest.resize(most);
    };
    for (const OpId op : step.index.of(Stream::compute)) {
        if (ops[op].start_ns > end_ns) {
            add({end_ns, ops[op].start_ns, op, last_waited(step, op, end_ns)});
            if (stalls.largest.size() > 8 * most + 1024) keep_largest();
        }
        end_ns = ops[op].end_ns;
    }
    if (end_ns < step.duration_ns() && !step.index.of(Stream::compute).empty()) add(tail_of(step, end_ns));
    keep_largest();
    std::sort(stalls.largest.begin(), stalls.largest.end(), longer);
    return stalls;
}

QString summary(const Step& step, const Stalls& stalls) {
    if (stalls.count == 0) return StallsModel::tr("Compute never stands still.");
    std::vector<std::pair<int64_t, QString>> causes;
    for (size_t k = 0; k < kOpKinds; ++k) {
        if (stalls.by_kind_ns[k] > 0)
            causes.emplace_back(stalls.by_kind_ns[k], label_of(static_cast<OpKind>(k)));
    }
    if (stalls.unexplained_ns > 0)
        causes.emplace_back(stalls.unexplained_ns, StallsModel::tr("nothing (late starts)"));
    std::stable_sort(causes.begin(), causes.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    constexpr size_t kNamed = 4;
    QStringList named;
    for (size_t i = 0; i < std::min(kNamed, causes.size()); ++i)
        named << QString("%1 %2").arg(causes[i].second, time_text(causes[i].first));
    if (causes.size() > kNamed)
        named << StallsModel::tr("%n more", nullptr, static_cast<int>(causes.size() - kNamed));
    const double share =
        static_cast<double>(stalls.total_ns) / static_cast<double>(std::max<int64_t>(1, step.duration_ns()));
    return StallsModel::tr("%1 stalls, %2 (%3 of the step), waiting for %4")
        .arg(count_text(stalls.count), time_text(stalls.total_ns), percent_text(share), named.join(", "));
}

void StallsModel::set(StepPtr step, Stalls stalls) {
    beginResetModel();
    step_ = std::move(step);
    stalls_ = std::move(stalls);
    endResetModel();
}

int StallsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !step_ ? 0 : static_cast<int>(stalls_.largest.size());
}

int StallsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumns;
}

QVariant StallsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Stall& stall = at(index.row());
    const std::vector<TimelineOp>& ops = step_->timeline.ops;
    if (role == Qt::ToolTipRole) return explanation(*step_, stall);
    if (role == Qt::TextAlignmentRole) {
        const bool number = index.column() <= kStart;
        return QVariant(int(number ? Qt::AlignRight : Qt::AlignLeft) | int(Qt::AlignVCenter));
    }
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case kLength:
            return time_text(stall.length_ns());
        case kShare:
            return percent_text(static_cast<double>(stall.length_ns()) /
                                static_cast<double>(std::max<int64_t>(1, step_->duration_ns())));
        case kStart:
            return instant_text(stall.begin_ns);
        case kOp:
            return stall.after == kNone ? tr("end of the step") : op_text(ops[stall.after]);
        case kWaitsFor:
            return stall.waited_for == kNone ? tr("nothing: it starts late") : op_text(ops[stall.waited_for]);
        case kStream:
            return stall.waited_for == kNone ? QString() : label_of(ops[stall.waited_for].stream);
        default:
            return {};
    }
}

QVariant StallsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
        case kLength:
            return tr("Length");
        case kShare:
            return tr("Of the step");
        case kStart:
            return tr("At");
        case kOp:
            return tr("Op");
        case kWaitsFor:
            return tr("Waits for");
        case kStream:
            return tr("On");
        default:
            return {};
    }
}

}  // namespace headroom::gui
