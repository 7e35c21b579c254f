// GoogleTest with a QApplication and no screen. Whatever Qt warns of is a failure of the test that runs: what
// a person would find on the console is a defect.
#include <gtest/gtest.h>

#include <QApplication>
#include <QTemporaryDir>

namespace {

void judge(QtMsgType type, const QMessageLogContext&, const QString& text) {
    if (type == QtDebugMsg || type == QtInfoMsg) return;
    // What the offscreen platform itself lacks.
    if (text == "This plugin does not support propagateSizeHints()" ||
        text == "This plugin does not support raise()" ||
        text == "This plugin does not support grabbing the keyboard")
        return;
    ADD_FAILURE() << "Qt says: " << text.toStdString();
}

}  // namespace

int main(int argc, char** argv) {
    // Settings and recent files of a test are its own.
    const QTemporaryDir home;
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    for (const char* name : {"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
        qputenv(name, home.path().toUtf8());
    if (qEnvironmentVariableIsEmpty("HEADROOM_DATA")) qputenv("HEADROOM_DATA", HEADROOM_SOURCE_DIR);
    testing::InitGoogleTest(&argc, argv);
    const QApplication app(argc, argv);
    QApplication::setStyle("Fusion");
    qInstallMessageHandler(judge);
    return RUN_ALL_TESTS();
}
