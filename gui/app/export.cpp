#include "gui/app/export.h"

#include <QApplication>
#include <QBuffer>
#include <QEventLoop>
#include <QFileInfo>
#include <QImage>
#include <QPainter>
#include <QSvgGenerator>
#include <QThread>
#include <cstdio>

#include "base/file.h"
#include "cli/checks.h"
#include "gui/app/main_window.h"
#include "gui/model/document.h"
#include "gui/view/compare_view.h"
#include "gui/view/run_form.h"
#include "gui/view/run_view.h"
#include "gui/view/views.h"
#include "timeline/timeline.h"

namespace headroom::gui {
namespace {

QByteArray png_of(View& view, double scale) {
    QImage image(view.picture_size() * scale, QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    image.fill(view.colours().background);
    QPainter painter(&image);
    view.draw(painter);
    painter.end();
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return bytes;
}

QByteArray svg_of(View& view) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(view.picture_size());
    generator.setViewBox(QRect(QPoint(), view.picture_size()));
    generator.setResolution(90);  // what readers of SVG take a unit for
    generator.setTitle(view.title());
    QPainter painter(&generator);
    painter.fillRect(QRect(QPoint(), view.picture_size()), view.colours().background);
    view.draw(painter);
    painter.end();
    return bytes;
}

int say(const Error& error) {
    std::fprintf(stderr, "headroom-gui: %s\n", error.text().c_str());
    return exit_code(error.fault);
}

// Until nothing is being worked out any more, for a while: one piece of work may begin another. Counted in
// rounds of events, not in time: on a busy machine a round may take long.
void settle(MainWindow& window, View* view, const bool& stop) {
    constexpr int kQuietRounds = 75;
    for (int quiet = 0; !stop && quiet < kQuietRounds; ++quiet) {
        QApplication::processEvents(QEventLoop::AllEvents, 20);
        if (window.document().busy() || (view != nullptr && view->busy())) quiet = 0;
        QThread::msleep(2);
    }
}

Result<void> export_one(MainWindow& window, View& view, const std::filesystem::path& path, double scale,
                        const bool& failed) {
    const QString ending = QFileInfo(QString::fromStdString(path.string())).suffix();
    const std::optional<ExportFormat> format = format_of(ending);
    if (!format)
        return fail(path.string(), "'" + ending.toStdString() + "' is no format of a picture or table",
                    "a name that ends in .png, .svg or .csv");
    window.show_view(view.objectName());
    settle(window, &view, failed);
    return export_view(view, *format, path, scale);
}

// Runs the plan that is open, as the view Run does, to its end.
Result<void> run_plan(MainWindow& window, const std::filesystem::path& timeline, const bool& failed) {
    auto* view = qobject_cast<RunView*>(window.view("run"));
    if (window.document().plan() == nullptr)
        return fail("--run", "no plan fits", "a scenario or a plan that fits this machine");
    RunSettings settings = view->form().settings();
    settings.output = QString::fromStdString(timeline.string());
    view->form().set_settings(settings);
    std::optional<Error> error;
    const auto connection =
        QObject::connect(&view->run(), &EngineRun::failed, [&](const Error& e) { error = e; });
    view->start();
    settle(window, view, failed);
    QObject::disconnect(connection);
    if (error) return tl::unexpected<Error>(*error);
    return {};
}

}  // namespace

std::optional<ExportFormat> format_of(const QString& name) {
    const QString n = name.startsWith('.') ? name.mid(1).toLower() : name.toLower();
    if (n == "png") return ExportFormat::png;
    if (n == "svg") return ExportFormat::svg;
    if (n == "csv") return ExportFormat::csv;
    return std::nullopt;
}

Result<void> export_view(View& view, ExportFormat format, const std::filesystem::path& path, double scale) {
    const QByteArray table = format == ExportFormat::csv ? view.csv() : QByteArray();
    if (!view.has_content() || (format == ExportFormat::csv && table.isEmpty())) {
        return fail(path.string(), "the view '" + view.objectName().toStdString() + "' shows nothing yet",
                    "a file that it can show");
    }
    const QByteArray bytes = format == ExportFormat::csv   ? table
                             : format == ExportFormat::png ? png_of(view, scale)
                                                           : svg_of(view);
    return write_file(path, std::string_view(bytes.constData(), static_cast<size_t>(bytes.size())));
}

Result<void> export_timeline(const Document& document, const std::filesystem::path& path) {
    const StepPtr step = document.step();
    if (!step) return fail(path.string(), "no step is open", "a scenario, a plan or a timeline");
    return write_timeline(step->timeline, path);
}

int run_export(const ExportRequest& request) {
    if (request.view != "all") {
        const Result<void> can = cli::check_output(request.output.string(), {request.input.string()});
        if (!can) return say(can.error());
    }
    if (request.view == "timeline" && request.output.extension() != ".gz")
        return say(Error{Fault::bad_input, request.output.string(),
                         "'" + request.output.extension().string() + "' is no format of a timeline",
                         "a name that ends in .trace.json.gz"});
    if (!request.run_to.empty()) {
        const Result<void> can =
            cli::check_output(request.run_to.string(), {request.input.string(), request.output.string()});
        if (!can) return say(can.error());
    }
    MainWindow window;
    window.set_dark(request.dark);
    window.show();
    std::optional<Error> error;
    bool failed = false;
    QObject::connect(&window.document(), &Document::failed, [&](const Error& e) {
        error = e;
        failed = true;
    });
    window.document().open(request.input);
    settle(window, nullptr, failed);
    if (error) return say(*error);
    window.resize_views(request.size);
    if (!request.run_to.empty()) {
        const Result<void> ran = run_plan(window, request.run_to, failed);
        if (!ran) return say(ran.error());
        if (error) return say(*error);
    }
    if (request.with_selection &&
        !qobject_cast<CompareView*>(window.view("compare"))->set_with_selection(true)) {
        return say(Error{Fault::bad_input, request.input.string(),
                         "the pages that the run selected are not recorded beside it",
                         "a measured NAME.trace.json.gz with NAME.selection.json"});
    }
    if (request.view == "timeline") {
        const Result<void> written = export_timeline(window.document(), request.output);
        return written ? 0 : say(written.error());
    }
    if (request.view == "all") {
        std::error_code ignored;
        std::filesystem::create_directories(request.output, ignored);
        for (View* view : window.views()) {
            window.show_view(view->objectName());
            settle(window, view, failed);
            if (!view->has_content()) continue;  // nothing to compare, say
            const std::filesystem::path path = request.output / (view->objectName().toStdString() + ".png");
            const Result<void> written = export_view(*view, ExportFormat::png, path, request.scale);
            if (!written) return say(written.error());
        }
        return 0;
    }
    View* view = window.view(request.view);
    if (view == nullptr) {
        std::string names;
        for (const ViewEntry& entry : view_entries()) names += std::string(entry.id) + ", ";
        return say(Error{Fault::bad_input, "--export", "'" + request.view.toStdString() + "' is no view",
                         names + "timeline or all"});
    }
    const Result<void> written = export_one(window, *view, request.output, request.scale, failed);
    if (!written) return say(written.error());
    return error ? say(*error) : 0;
}

}  // namespace headroom::gui
