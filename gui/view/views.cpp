#include "gui/view/views.h"

#include "gui/view/pages_view.h"

namespace headroom::gui {
namespace {

template <class V>
View* make(Document& document, Focus& focus) {
    return new V(document, focus);
}

}  // namespace

std::span<const ViewEntry> view_entries() {
    static const std::vector<ViewEntry> entries{
        {"pages", "Page traffic", make<PagesView>},
    };
    return entries;
}

}  // namespace headroom::gui
