#include "gui/model/text.h"

#include <QStringList>

#include "base/text.h"

namespace headroom::gui {

QString text_of(std::string_view utf8) {
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}

QString bytes_text(int64_t bytes) {
    return text_of(format_bytes(Bytes(bytes)));
}

QString time_text(int64_t ns) {
    return text_of(format_time(Nanoseconds(ns)));
}

QString instant_text(int64_t ns) {
    return QString::number(static_cast<double>(ns) * 1e-9, 'f', 6) + " s";
}

QString count_text(int64_t count) {
    return text_of(format_integer(count));
}

QString percent_text(double share) {
    return QString::number(100 * share, 'f', 1) + " %";
}

QString rate_text(int64_t bytes, int64_t ns) {
    if (ns <= 0) return "-";
    return QString::number(static_cast<double>(bytes) / static_cast<double>(ns), 'f', 1) + " GB/s";
}

QString place_text(uint32_t chunk, uint16_t layer, uint16_t piece, Pass pass) {
    QString text;
    if (layer != kNoLayer) text += QString("layer %1, ").arg(layer);
    if (chunk != kNone) text += QString("chunk %1, ").arg(chunk);
    if (piece != 0) text += QString("piece %1, ").arg(piece);
    return text + label_of(pass) + (pass == Pass::update || pass == Pass::setup ? "" : " pass");
}

QString op_text(const TimelineOp& op) {
    QStringList where;
    if (op.chunk != kNone) where << QString("chunk %1").arg(op.chunk);
    if (op.layer != kNoLayer) where << QString("layer %1").arg(op.layer);
    if (op.piece != 0) where << QString("piece %1").arg(op.piece);
    const QString kind = label_of(op.kind);
    return where.isEmpty() ? kind : QString("%1 (%2)").arg(kind, where.join(", "));
}

QString flop_rate_text(double flops, int64_t ns) {
    if (ns <= 0) return "-";
    return QString::number(flops / static_cast<double>(ns) * 1e-3, 'f', 1) + " TFLOP/s";
}

}  // namespace headroom::gui
