#include "gui/model/engine_run.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "cli/engine_process.h"
#include "gui/model/text.h"
#include "plan/plan.h"

namespace headroom::gui {
namespace {

constexpr int kSample_ms = 500;
constexpr size_t kMostSamples = 2000;
constexpr int kBetweenPresses_ms = 1500;
constexpr qsizetype kMostError_bytes = 16 * 1024;

int64_t resident_bytes(qint64 process) {
    QFile file(QString("/proc/%1/statm").arg(process));
    if (!file.open(QIODevice::ReadOnly)) return 0;
    return file.readAll().split(' ').value(1).toLongLong() * sysconf(_SC_PAGESIZE);
}

Fault fault_of_exit(int code) {
    switch (code) {
        case 2:
            return Fault::bad_input;
        case 3:
            return Fault::does_not_fit;
        case 130:
            return Fault::interrupted;
        default:
            return Fault::run_failed;
    }
}

}  // namespace

QString meaning_of_exit(int code) {
    switch (code) {
        case 0:
            return QObject::tr("done");
        case 2:
            return QObject::tr("bad input");
        case 3:
            return QObject::tr("the plan does not fit this machine");
        case 5:
            return QObject::tr("the run failed");
        case 127:
            return QObject::tr("a library that it needs is missing");
        case 130:
            return QObject::tr("interrupted");
        default:
            return QObject::tr("exit code %1").arg(code);
    }
}

Error engine_error(int code, int signal, const QString& errors) {
    Error error{fault_of_exit(code), "headroom-engine", "", ""};
    // The last line that is the engine's own; what libraries print may stand around it.
    QString own;
    for (const QString& line : errors.split('\n', Qt::SkipEmptyParts)) {
        if (line.startsWith("headroom-engine: ")) own = line.mid(17);
    }
    if (signal != 0) {
        error.fault = Fault::run_failed;
        QString text = QObject::tr("ended by signal %1 (%2)").arg(signal).arg(strsignal(signal));
        if (signal == SIGKILL) text += QObject::tr("; the system may have run out of memory");
        error.found = text.toStdString();
    } else if (!own.isEmpty()) {
        const qsizetype allowed = own.lastIndexOf("; allowed: ");
        error.found = (meaning_of_exit(code) + ": " + own.left(allowed)).toStdString();
        if (allowed >= 0) error.allowed = own.mid(allowed + 11).toStdString();
    } else {
        QString said = errors.trimmed();
        if (said.size() > 500) said = "…" + said.right(500);
        error.found = (meaning_of_exit(code) + (said.isEmpty() ? "" : ": " + said)).toStdString();
    }
    return error;
}

EngineRun::EngineRun(QObject* parent) : QObject(parent) {
    process_.setChildProcessModifier([] {
        // The engine must not outlive the app, whatever ends that.
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        // What a script starts in the background ignores Ctrl-C, and what it starts in turn does too: the
        // engine would not hear that it is cancelled.
        ::signal(SIGINT, SIG_DFL);
        sigset_t interrupt;
        sigemptyset(&interrupt);
        sigaddset(&interrupt, SIGINT);
        sigprocmask(SIG_UNBLOCK, &interrupt, nullptr);
    });
    connect(&process_, &QProcess::readyReadStandardOutput, this, &EngineRun::read);
    connect(&process_, &QProcess::readyReadStandardError, this, [this] {
        errors_ += process_.readAllStandardError();
        if (errors_.size() > kMostError_bytes) errors_ = errors_.right(kMostError_bytes);
    });
    connect(&process_, &QProcess::finished, this, &EngineRun::ended);
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;  // finished() comes for the others
        set_state(State::idle);
        Q_EMIT failed(cli::cannot_start(cli::engine_program(), ENOENT));
    });
    grace_.setSingleShot(true);
    connect(&grace_, &QTimer::timeout, this, &EngineRun::press);
    sampling_.setInterval(kSample_ms);
    connect(&sampling_, &QTimer::timeout, this, &EngineRun::sample);
}

EngineRun::~EngineRun() {
    process_.disconnect(this);
    if (process_.state() == QProcess::NotRunning) return;
    ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
    if (process_.waitForFinished(std::min(grace_ms_, 3000))) return;
    process_.kill();
    process_.waitForFinished();
}

Result<QString> EngineRun::write_plan_file(const Plan& plan) {
    folder_ = std::make_unique<QTemporaryDir>();
    const QString path = folder_->filePath("plan.json");
    HEADROOM_CHECK(write_file(path.toStdString(), write_plan(plan)));
    return path;
}

void EngineRun::start(const QString& program, const QStringList& words, const QString& output) {
    if (state_ != State::idle) return;
    output_ = output;
    pending_.clear();
    errors_.clear();
    so_far_ = {};
    presses_ = samples_ = 0;
    samples_a_point_ = 1;
    stepping_since_ms_ = -1;
    ended_ms_ = 0;
    since_start_.start();
    set_state(State::running);
    process_.start(program, words, QIODevice::ReadOnly);
    sampling_.start();
}

void EngineRun::cancel() {
    if (state_ == State::idle) return;
    set_state(State::cancelling);
    press();
}

void EngineRun::press() {
    if (process_.state() == QProcess::NotRunning) return;
    if (presses_ < 2) {
        ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
    } else {
        process_.kill();
    }
    grace_.start(presses_ == 0 ? grace_ms_ : kBetweenPresses_ms);
    ++presses_;
}

double EngineRun::elapsed_seconds() const {
    if (!since_start_.isValid()) return 0;
    return static_cast<double>(state_ == State::idle ? ended_ms_ : since_start_.elapsed()) * 1e-3;
}

std::optional<double> EngineRun::remaining_seconds() const {
    if (stepping_since_ms_ < 0 || so_far_.share <= 0) return std::nullopt;
    const double stepping = elapsed_seconds() - static_cast<double>(stepping_since_ms_) * 1e-3;
    return stepping * (1 - so_far_.share) / so_far_.share;
}

void EngineRun::set_state(State state) {
    if (state_ == state) return;
    if (state == State::idle) {
        ended_ms_ = since_start_.elapsed();
        sampling_.stop();
        grace_.stop();
    }
    state_ = state;
    Q_EMIT state_changed();
}

void EngineRun::read() {
    pending_ += process_.readAllStandardOutput();
    qsizetype begin = 0;
    for (qsizetype end = pending_.indexOf('\n'); end >= 0; end = pending_.indexOf('\n', begin)) {
        take(pending_.mid(begin, end - begin));
        begin = end + 1;
    }
    pending_.remove(0, begin);
}

void EngineRun::take(const QByteArray& line) {
    if (line.trimmed().isEmpty()) return;
    const RunEvent e = parse_run_event(line);
    const auto done = [this](int64_t steps, double share) {
        if (!so_far_.start) return 0.0;
        const auto all = static_cast<double>(std::max<int64_t>(1, so_far_.start->steps));
        return std::clamp((static_cast<double>(steps - so_far_.start->first_step) + share) / all, 0.0, 1.0);
    };
    switch (e.kind) {
        case RunEvent::Kind::start:
            so_far_.start = e;
            stepping_since_ms_ = since_start_.elapsed();
            break;
        case RunEvent::Kind::progress:
            so_far_.share = done(e.step, e.share);
            break;
        case RunEvent::Kind::step:
            so_far_.share = done(e.step, 1);
            so_far_.steps.push_back(e);
            if (e.device_used_bytes)
                so_far_.device_memory.push_back({elapsed_seconds(), *e.device_used_bytes});
            break;
        case RunEvent::Kind::end:
            so_far_.share = 1;
            so_far_.end = e;
            break;
        case RunEvent::Kind::other:
            so_far_.lines << e.text;
            if (so_far_.lines.size() > RunSoFar::kLines) so_far_.lines.removeFirst();
            break;
        case RunEvent::Kind::checkpoint:
        case RunEvent::Kind::saved:
        case RunEvent::Kind::written:
            break;
    }
    Q_EMIT said(e);
}

// At most kMostSamples: then every second one goes, and each further one stands for twice the time.
void EngineRun::sample() {
    if (samples_++ % samples_a_point_ != 0) return;
    const int64_t bytes = resident_bytes(process_.processId());
    if (bytes <= 0) return;
    auto& memory = so_far_.memory;
    memory.push_back({elapsed_seconds(), bytes});
    if (memory.size() >= kMostSamples) {
        for (size_t i = 0; 2 * i < memory.size(); ++i) memory[i] = memory[2 * i];
        memory.resize((memory.size() + 1) / 2);
        samples_a_point_ *= 2;
    }
    Q_EMIT sampled();
}

void EngineRun::ended(int code, QProcess::ExitStatus status) {
    read();
    if (!pending_.isEmpty()) take(std::exchange(pending_, {}));
    errors_ += process_.readAllStandardError();
    const bool crashed = status == QProcess::CrashExit;  // then `code` is the signal
    const bool was_cancelling = state_ == State::cancelling;
    set_state(State::idle);
    if (!crashed && code == 0) {
        Q_EMIT finished(output_);
    } else if (was_cancelling) {
        Q_EMIT cancelled();
    } else {
        Q_EMIT failed(engine_error(crashed ? 0 : code, crashed ? code : 0, QString::fromUtf8(errors_)));
    }
}

}  // namespace headroom::gui
