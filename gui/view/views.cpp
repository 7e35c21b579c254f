#include "gui/view/views.h"

#include <vector>

#include "gui/view/compare_view.h"
#include "gui/view/memory_view.h"
#include "gui/view/pages_view.h"
#include "gui/view/run_view.h"
#include "gui/view/streams_view.h"
#include "gui/view/sweep_view.h"
#include "gui/view/verdict_view.h"

namespace headroom::gui {
namespace {

template <class V>
View* make(Document& document, Focus& focus) {
    return new V(document, focus);
}

}  // namespace

std::span<const ViewEntry> view_entries() {
    static const std::vector<ViewEntry> entries{
        {"verdict", "Verdict", make<VerdictView>},
        {"memory", "Memory", make<MemoryView>},
        {"streams", "Streams", make<StreamsView>},
        {"pages", "Page traffic", make<PagesView>},
        {"sweep", "Sweep", make<SweepView>},
        {"compare", "Compare", make<CompareView>},
        {"run", "Run", make<RunView>},
    };
    return entries;
}

}  // namespace headroom::gui
