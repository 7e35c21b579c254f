// Everything about one instant of a step: the bytes of each tier by category, what is left, what runs.
#pragma once

#include <QAbstractTableModel>
#include <functional>
#include <utility>
#include <vector>

#include "gui/model/step.h"

namespace headroom::gui {

struct TierInstant {
    Tier tier = Tier::device;
    int64_t capacity_bytes = 0;                            // 0: none is known
    std::vector<std::pair<Category, int64_t>> categories;  // as stacked, the lowest first
    int64_t total_bytes() const;
};
struct MemoryInstant {
    int64_t ns = 0;
    std::vector<TierInstant> tiers;
    std::array<OpId, kStreams> running{};  // kNone: the stream is idle
};

// As rows, in the order of the eye: a heading for each tier, what is left of it, its categories from the top
// of the stack down; then what each stream runs.
class MemoryInstantModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { kName, kBytes, kShare, kColumns };

    explicit MemoryInstantModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    void set(StepPtr step, MemoryInstant instant);  // null: nothing
    const MemoryInstant& instant() const { return instant_; }
    void set_colours(std::function<QVariant(Category)> of);

    // Rows whose text reaches over all columns.
    bool is_wide(int row) const { return rows_[static_cast<size_t>(row)].wide; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Row {
        QString name, bytes = {}, share = {};
        bool heading = false, wide = false;
        Category category = Category::count_;
    };
    void add_tier(const TierInstant& tier);
    void add_running();

    StepPtr step_;
    MemoryInstant instant_;
    std::vector<Row> rows_;
    std::function<QVariant(Category)> colours_;
};

}  // namespace headroom::gui
