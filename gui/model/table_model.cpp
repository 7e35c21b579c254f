#include "gui/model/table_model.h"

#include <QFont>

namespace headroom::gui {
namespace {

QString quoted(QString text) {
    if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
    return '"' + text.replace("\"", "\"\"") + '"';
}

QString line_of(const QStringList& fields) {
    QStringList all;
    for (const QString& f : fields) all << quoted(f);
    return all.join(',') + "\n";
}

QString csv_text(const Cell& cell) {
    if (!cell.sort.isValid()) return cell.text;
    // Numbers as they are: 17 digits hold every double.
    return cell.sort.typeId() == QMetaType::Double ? QString::number(cell.sort.toDouble(), 'g', 17)
                                                   : cell.sort.toString();
}

}  // namespace

Cell number_cell(QString text, double value) {
    return Cell{std::move(text), value, {}, false, true};
}

QByteArray csv_of(const TableData& data) {
    if (data.empty()) return {};
    QString text = line_of(data.csv_header);
    for (const std::vector<Cell>& row : data.rows) {
        QStringList fields;
        for (const Cell& cell : row) fields << csv_text(cell);
        text += line_of(fields);
    }
    return text.toUtf8();
}

TableModel::TableModel(QObject* parent) : QAbstractTableModel(parent) {}

void TableModel::set(TableData data) {
    beginResetModel();
    data_ = std::move(data);
    endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(data_.rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(data_.header.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
    const Cell& cell = data_.rows[static_cast<size_t>(index.row())][static_cast<size_t>(index.column())];
    switch (role) {
        case Qt::DisplayRole:
            return cell.text;
        case Qt::ToolTipRole:
            return cell.tip.isEmpty() ? QVariant() : QVariant(cell.tip);
        case Qt::TextAlignmentRole:
            return QVariant(
                static_cast<int>((cell.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
        case Qt::FontRole: {
            if (!cell.strong) return {};
            QFont bold;
            bold.setBold(true);
            return bold;
        }
        case kSortRole:
            return cell.sort.isValid() ? cell.sort : QVariant(cell.text);
        default:
            return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= data_.header.size()) return {};
    if (role == Qt::DisplayRole) return data_.header[section];
    return {};
}

}  // namespace headroom::gui
