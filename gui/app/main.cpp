// headroom-gui: the desktop app. With --export it writes one view to a file and shows no window.
#include <QApplication>
#include <QCommandLineParser>
#include <cstdio>

#include "gui/app/export.h"
#include "gui/app/main_window.h"

namespace {

using headroom::gui::ExportRequest;

int bad(const QString& text) {
    std::fprintf(stderr, "headroom-gui: %s (see headroom-gui --help)\n", text.toUtf8().constData());
    return 2;
}

// A window cannot be had for a file alone: no screen is asked for.
bool wants_export(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const QString word = argv[i];
        if (word == "--export" || word.startsWith("--export=")) return true;
    }
    return false;
}

std::optional<QSize> size_of(const QString& text) {
    const QStringList parts = text.split('x');
    if (parts.size() != 2) return std::nullopt;
    bool wide = false, high = false;
    const QSize size(parts[0].toInt(&wide), parts[1].toInt(&high));
    const bool sensible =
        size.width() >= 200 && size.height() >= 150 && size.width() <= 16384 && size.height() <= 16384;
    return wide && high && sensible ? std::optional<QSize>(size) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
    if (wants_export(argc, argv)) qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication app(argc, argv);
    QApplication::setApplicationName("headroom-gui");
    QApplication::setApplicationDisplayName("Headroom");
    QApplication::setApplicationVersion(HEADROOM_VERSION);
    QApplication::setDesktopFileName("org.headroom.Headroom");

    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Headroom: see whether a training context fits, see the step, see where the prediction was wrong.");
    parser.addPositionalArgument(
        "file", "A scenario (*.toml), a plan (*.json) or a timeline (*.trace.json.gz)", "[FILE]");
    const QCommandLineOption export_view(
        "export",
        "Write VIEW (verdict, memory, streams, ..., timeline, all) to a file; "
        "no window",
        "VIEW");
    const QCommandLineOption output({"o", "output"},
                                    "The file of --export: .png, .svg, .csv; a folder for 'all'", "FILE");
    const QCommandLineOption size("size", "Of the picture, in pixels", "WxH", "1600x900");
    const QCommandLineOption scale("scale", "Pixels per unit, 1 to 4: 2 for a HiDPI picture", "N", "1");
    const QCommandLineOption dark("dark", "Dark colours");
    const QCommandLineOption run_first("run",
                                       "With --export: run the plan on this machine first, as the view Run "
                                       "does; its measured timeline goes to "
                                       "TIMELINE (*.trace.json.gz), and Compare has it",
                                       "TIMELINE");
    const QCommandLineOption with_selection(
        "run-selection",
        "With --export: Compare predicts with the pages that the run selected, recorded beside it");
    parser.addOptions({export_view, output, size, scale, dark, run_first, with_selection});
    parser.addHelpOption();
    parser.addVersionOption();
    if (!parser.parse(QApplication::arguments())) return bad(parser.errorText());
    if (parser.isSet("help")) parser.showHelp(0);
    if (parser.isSet("version")) parser.showVersion();
    const QStringList files = parser.positionalArguments();
    if (files.size() > 1) return bad("more than one file: " + files.join(", "));

    if (parser.isSet(export_view)) {
        if (files.isEmpty()) return bad("--export: no file to show");
        if (!parser.isSet(output)) return bad("--export: -o FILE is missing");
        ExportRequest request;
        request.view = parser.value(export_view);
        request.input = files[0].toStdString();
        request.output = parser.value(output).toStdString();
        const std::optional<QSize> asked = size_of(parser.value(size));
        if (!asked) return bad("--size: '" + parser.value(size) + "'; allowed: 200x150 to 16384x16384");
        request.size = *asked;
        bool number = false;
        request.scale = parser.value(scale).toDouble(&number);
        if (!number || request.scale < 1 || request.scale > 4)
            return bad("--scale: '" + parser.value(scale) + "'; allowed: 1 to 4");
        request.dark = parser.isSet(dark);
        if (parser.isSet(run_first) && parser.value(run_first).isEmpty())
            return bad("--run: an empty name; allowed: a name that ends in .trace.json.gz");
        request.run_to = parser.value(run_first).toStdString();
        request.with_selection = parser.isSet(with_selection);
        if (request.with_selection && request.view != "compare" && request.view != "all")
            return bad("--run-selection: '" + request.view +
                       "' is not what it is for; allowed: compare, all");
        return headroom::gui::run_export(request);
    }
    if (parser.isSet(with_selection))
        return bad("--run-selection: without --export; a window has it in the view Compare");
    if (parser.isSet(run_first)) return bad("--run: without --export; a window has the view Run");
    headroom::gui::MainWindow window;
    if (parser.isSet(dark)) window.set_dark(true);
    if (!files.isEmpty()) window.open(files[0].toStdString());
    window.show();
    return QApplication::exec();
}
