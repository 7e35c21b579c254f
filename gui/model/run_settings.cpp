#include "gui/model/run_settings.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <cerrno>

#include "cli/engine_process.h"
#include "gui/model/open_file.h"
#include "gui/model/text.h"

namespace headroom::gui {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("headroom::gui::RunSettings", text);
}

// A processor of today reaches some 100 GFLOP/s of fp32 on a few cores.
constexpr double kCpuFlops = 1e11;
constexpr double kLong_s = 600;

QString folder_of(const QString& file) {
    return QFileInfo(file).absolutePath();
}

}  // namespace

QStringList words_of(const RunSettings& s, const QString& plan_file) {
    const RunSettings standard;
    QStringList words{"run", "--device=" + s.device, "--steps=" + QString::number(s.steps),
                      "--seed=" + QString::number(s.seed)};
    if (s.learning_rate != standard.learning_rate)
        words << "--learning-rate=" + QString::number(s.learning_rate, 'g', 10);
    const std::pair<const char*, const QString*> files[] = {
        {"--weights=", &s.weights},       {"--tokens=", &s.tokens}, {"--save-weights=", &s.save_weights},
        {"--checkpoint=", &s.checkpoint}, {"--resume=", &s.resume}, {"--output=", &s.output}};
    for (const auto& [option, value] : files) {
        if (!value->isEmpty()) words << option + *value;
    }
    if (s.record_selection)
        words << "--record-selection=" +
                     QString::fromStdString(selection_beside(s.output.toStdString()).string());
    return words << "--json"
                 << "--" << plan_file;
}

QStringList run_devices() {
    QStringList devices{"cpu"};
    if (QFile::exists("/dev/nvidia0") || !QStandardPaths::findExecutable("nvidia-smi").isEmpty())
        devices.prepend("cuda");
    return devices;
}

int64_t host_memory_bytes() {
    QFile file("/proc/meminfo");
    if (!file.open(QIODevice::ReadOnly)) return 0;
    for (QByteArray line = file.readLine(); !line.isEmpty(); line = file.readLine()) {
        if (!line.startsWith("MemTotal:")) continue;
        return line.mid(9).simplified().split(' ').value(0).toLongLong() * kKiB;
    }
    return 0;
}

std::vector<Obstacle> obstacles_of(const Plan* plan, const RunNeeds& needs, const RunSettings& s,
                                   const std::string& engine) {
    std::vector<Obstacle> found;
    if (plan == nullptr)
        found.push_back(
            {true, tr("Open a scenario, a plan or a timeline: a run executes the plan of what is open.")});
    if (!cli::can_start(engine)) {
        const Error error = cli::cannot_start(cli::engine_program(), ENOENT);
        found.push_back({true, text_of(error.text())});
    }
    if (plan != nullptr && plan->gpus > 1)
        found.push_back(
            {false,
             tr("The plan is for %1 GPUs. The engine runs on one, and may refuse it.").arg(plan->gpus)});
    const int64_t memory = host_memory_bytes();
    if (s.device == "cpu" && needs.bytes > memory && memory > 0) {
        found.push_back({false, tr("The plan needs %1 and this machine has %2: the engine will refuse it.")
                                    .arg(bytes_text(needs.bytes), bytes_text(memory))});
    } else if (s.device == "cpu" && needs.flops / kCpuFlops > kLong_s) {
        found.push_back(
            {false, tr("A step takes about %1 on a CPU. The shipped scenario tiny-cpu takes seconds.")
                        .arg(time_text(static_cast<int64_t>(needs.flops / kCpuFlops * 1e9)))});
    }
    if (s.output.isEmpty()) {
        found.push_back({true, tr("Name a file for the measured timeline.")});
    } else if (!s.output.endsWith(".trace.json.gz")) {
        found.push_back({true, tr("The measured timeline's name must end in .trace.json.gz.")});
    } else if (!QFileInfo(folder_of(s.output)).isDir()) {
        found.push_back(
            {true, tr("There is no folder %1 for the measured timeline.").arg(folder_of(s.output))});
    } else if (!QFileInfo(folder_of(s.output)).isWritable()) {
        found.push_back({true, tr("The folder %1 cannot be written to.").arg(folder_of(s.output))});
    } else if (QFile::exists(s.output)) {
        found.push_back(
            {false, tr("%1 is there already and will be replaced.").arg(QFileInfo(s.output).fileName())});
    }
    return found;
}

}  // namespace headroom::gui
