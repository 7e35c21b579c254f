#include "gui/view/view.h"

#include <QPainter>

namespace headroom::gui {

View::View(const QString& title, Document& document, Focus& focus, QWidget* parent)
    : QWidget(parent), title_(title), document_(document), focus_(focus), palette_(Palette::light()) {
    setAccessibleName(title);
}

void View::set_palette(const Palette& palette) {
    palette_ = palette;
    update();
}

void View::draw(QPainter& painter) {
    render(&painter, QPoint(), QRegion(), DrawChildren | DrawWindowBackground);
}

}  // namespace headroom::gui
