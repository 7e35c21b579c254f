// A cell of the page map in words.
#pragma once

#include <QString>

#include "gui/paint/page_map.h"

namespace headroom::gui {

// Which tokens the page holds, where it lives, what the chunk does with it and who else reads it.
QString page_cell_text(const PageMap& map, Pass pass, int layer, int64_t chunk, int64_t page);

}  // namespace headroom::gui
