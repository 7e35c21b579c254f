#include "gui/view/page_cell_text.h"

#include <QCoreApplication>

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("page_cell_text", text);
}

QString place(PastPlace home) {
    switch (home) {
        case PastPlace::device:
            return tr("the device");
        case PastPlace::host:
            return tr("the host");
        case PastPlace::disk:
            return tr("disk");
    }
    return {};
}

QString what_it_does(const PageMap& map, Pass pass, int layer, int64_t chunk, int64_t page,
                     const PageCell& cell) {
    const bool gradient = pass == Pass::gradient;
    switch (cell.state) {
        case CellState::read:
            return gradient ? tr("reads it and adds to its dK and dV") : tr("reads it");
        case CellState::cached:
            return gradient ? tr("finds it in the page cache and adds to its dK and dV")
                            : tr("finds it in the page cache");
        case CellState::first_touched:
            return tr("reads it and is the first to touch its dK and dV");
        case CellState::own:
            return gradient ? tr("finishes its dK and dV, a page of its own") : tr("makes it");
        case CellState::resident:
            return gradient ? tr("leaves its sums as they are") : tr("does not read it");
        case CellState::none:
            break;
    }
    if (gradient)
        return page < (chunk + 1) * map.pages_per_chunk ? tr("finds no sums of it")
                                                        : tr("no longer needs it");
    const bool last = page >= map.kept_until(layer, map.chunks - 1);
    return last ? tr("does not need it: no later chunk reads it") : tr("comes before it is made");
}

}  // namespace

QString page_cell_text(const PageMap& map, Pass pass, int layer, int64_t chunk, int64_t page) {
    const PageCell cell = map.cell(pass, layer, chunk, page);
    const int64_t first = page * map.page_tokens, last = std::min(first + map.page_tokens, map.context) - 1;
    QString text = (pass == Pass::gradient ? tr("Page %1 (tokens %2 to %3; dK, dV on %4): chunk %5 %6")
                                           : tr("Page %1 (tokens %2 to %3; K, V on %4): chunk %5 %6"))
                       .arg(count_text(page), count_text(first), count_text(last), place(cell.home),
                            count_text(chunk), what_it_does(map, pass, layer, chunk, page, cell));
    if (layer != kAllLayers)
        text += tr(" in layer %1").arg(layer);
    else if (cell.layers > 0)
        text += tr(" in %1 of %2 layers").arg(cell.layers).arg(map.layers);
    const std::vector<int64_t> readers = map.readers(pass, layer, page);
    if (readers.empty()) return text + tr(". No chunk of this pass reads it.");
    if (readers.size() == 1) return text + tr(". Read by chunk %1 alone.").arg(count_text(readers.front()));
    return text + tr(". Read by %1 chunks of this pass, %2 to %3.")
                      .arg(count_text(static_cast<int64_t>(readers.size())), count_text(readers.front()),
                           count_text(readers.back()));
}

}  // namespace headroom::gui
