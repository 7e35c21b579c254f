// Where the compute stream stands still, and what it waits for.
#pragma once

#include <QAbstractTableModel>
#include <array>
#include <vector>

#include "gui/model/step.h"

namespace headroom::gui {

// [begin_ns, end_ns): nothing runs on the compute stream.
struct Stall {
    int64_t begin_ns = 0, end_ns = 0;
    OpId after = kNone;       // the op that waits; kNone: there is none, the step ends with other streams
    OpId waited_for = kNone;  // of the ops that it waits for, the one that ended last, within the gap; the
                              // last op of the step where `after` is kNone; kNone: none ended within the gap
                              // (a measured run: the time from one launch to the next)
    int64_t length_ns() const { return end_ns - begin_ns; }
};
// Of the gap before `after` (an op of the compute stream).
Stall stall_before(const Step& step, OpId after);
// "attention past (chunk 12, layer 3) waits for load pages (chunk 12, layer 3) on to device".
QString explanation(const Step& step, const Stall& stall);

struct Stalls {
    int64_t count = 0, total_ns = 0;
    std::vector<Stall> largest;  // longest first, ties by time
    // Of all of them, by the kind of op that was waited for.
    std::array<int64_t, kOpKinds> by_kind_ns{};
    int64_t unexplained_ns = 0;  // waited_for == kNone
};
// Cost: linear in ops. For worker threads.
Stalls stalls_of(const Step& step, size_t most = 1000);
// "412 stalls, 3.20 s (2.4 % of the step), waiting for load pages 2.10 s, ...".
QString summary(const Step& step, const Stalls& stalls);

// The largest stalls as a table: length, share of the step, start, op, what it waits for, on which stream.
class StallsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { kLength, kShare, kStart, kOp, kWaitsFor, kStream, kColumns };

    explicit StallsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    void set(StepPtr step, Stalls stalls);  // null: nothing
    const Stalls& stalls() const { return stalls_; }
    const Stall& at(int row) const { return stalls_.largest[static_cast<size_t>(row)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    StepPtr step_;
    Stalls stalls_;
};

}  // namespace headroom::gui
