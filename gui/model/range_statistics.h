// Figures of the ops in a range of time, by kind and by stream.
#pragma once

#include <QAbstractTableModel>
#include <array>
#include <functional>
#include <vector>

#include "gui/model/focus.h"
#include "gui/model/step.h"

namespace headroom::gui {

// An op counts where it overlaps the range. Sums are of the part inside; bytes and FLOPs are spread evenly
// over an op's time. Shortest and longest are of whole ops.
struct RangeFigures {
    int64_t count = 0;
    int64_t sum_ns = 0;
    int64_t whole_ns = 0;  // of whole ops: / count is the mean
    int64_t min_ns = 0, max_ns = 0;
    double bytes = 0, flops = 0;
    double mean_ns() const {
        return count == 0 ? 0 : static_cast<double>(whole_ns) / static_cast<double>(count);
    }
};
struct RangeStatistics {
    TimeRange range;
    std::array<RangeFigures, kOpKinds> kinds{};
    std::array<RangeFigures, kStreams> streams{};
};
// Cost: linear in the ops of the range: 5 ms a million. `go_on` is asked now and then; false: what there is
// so far. For worker threads.
RangeStatistics statistics_of(const Step& step, TimeRange range, const std::function<bool()>& go_on = {});

// One row for each stream or each kind that has ops in the range: streams in their order, kinds by falling
// sum. Qt::UserRole of a cell is the bare number, for sorting; of the name column the index of the enum.
class RangeStatisticsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum class By { kind, stream };
    enum Column { kName, kCount, kSum, kBusy, kMin, kMean, kMax, kBytes, kRate, kFlopRate, kColumns };

    explicit RangeStatisticsModel(By by, QObject* parent = nullptr) : QAbstractTableModel(parent), by_(by) {}
    void set(const RangeStatistics& statistics);
    void clear();
    // The colour of a row's swatch.
    void set_colours(std::function<QVariant(size_t)> of);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    // "kind,count,sum_ns,..." and a line for each row.
    QByteArray csv() const;

private:
    const RangeFigures& figures(int row) const;
    QString name(int row) const;
    double busy_share(const RangeFigures& f) const;

    By by_;
    RangeStatistics statistics_;
    std::vector<size_t> rows_;  // indices of the enum
    std::function<QVariant(size_t)> colours_;
};

}  // namespace headroom::gui
