#include "gui/model/text.h"

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

}  // namespace headroom::gui
