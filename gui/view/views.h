// All views, in the order of their tabs. A new view is one line in views.cpp.
#pragma once

#include <span>

#include "gui/view/view.h"

namespace headroom::gui {

struct ViewEntry {
    const char* id;     // for --export and the sidecar file: "memory"
    const char* title;  // of the tab
    View* (*make)(Document&, Focus&);
};
std::span<const ViewEntry> view_entries();

}  // namespace headroom::gui
