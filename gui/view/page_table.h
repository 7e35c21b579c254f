// The page map as a table.
#pragma once

#include <QByteArray>

#include "gui/paint/chunk_times.h"
#include "gui/paint/chunk_traffic.h"
#include "gui/paint/page_map.h"

namespace headroom::gui {

// One row a chunk: what travels for it, when it is worked on, and the pages that it reads, as ranges
// ("0-3 17 40-41").
QByteArray page_table_csv(const PageMap& map, const TrafficTable& traffic, const ChunkTimes& times, Pass pass,
                          int layer);

}  // namespace headroom::gui
