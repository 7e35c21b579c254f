#include "gui/view/views.h"

namespace headroom::gui {

std::span<const ViewEntry> view_entries() {
    static const std::vector<ViewEntry> entries{};
    return entries;
}

}  // namespace headroom::gui
