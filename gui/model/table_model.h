// A table for views to show: rows of cells, given whole. One class serves every list of figures in the app.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <QStringList>
#include <QVariant>
#include <vector>

namespace headroom::gui {

struct Cell {
    QString text;   // as shown
    QVariant sort;  // what sorting and CSV go by (a number without its unit); invalid: the text
    QString tip = {};
    bool strong = false;  // stands out: bold
    bool right = false;   // aligned right: numbers
};
Cell number_cell(QString text, double value);

struct TableData {
    QStringList header;      // as shown
    QStringList csv_header;  // units in the names; as long as header
    std::vector<std::vector<Cell>> rows;
    bool empty() const { return rows.empty(); }
};
// Comma-separated, RFC 4180; a header line, then the rows: `sort` where there is one. Empty data: empty.
QByteArray csv_of(const TableData& data);

class TableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    // QSortFilterProxyModel::setSortRole(TableModel::kSortRole) sorts by figures.
    static constexpr int kSortRole = Qt::UserRole;

    explicit TableModel(QObject* parent = nullptr);
    void set(TableData data);
    const TableData& table() const { return data_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    TableData data_;
};

}  // namespace headroom::gui
