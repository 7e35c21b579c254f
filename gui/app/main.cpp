// headroom-gui: the desktop app.
#include <QApplication>

#include "gui/app/main_window.h"

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    app.setApplicationName("headroom");
    app.setApplicationVersion(HEADROOM_VERSION);
    headroom::gui::MainWindow window;
    if (app.arguments().size() > 1) window.open(app.arguments()[1].toStdString());
    window.show();
    return app.exec();
}
