// One run of the engine: its process, what it says while it runs, how it ends.
//
// Contract: nothing blocks but the destructor, which stops a run that is still going (the engine gets
// kGrace_ms of its own to leave whole files). After start() exactly one of finished(), cancelled() and
// failed() comes.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QTimer>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "gui/model/run_event.h"

class QTemporaryDir;

namespace headroom {
struct Plan;
}

namespace headroom::gui {

// What happened so far.
struct RunSoFar {
    std::optional<RunEvent> start;
    std::vector<RunEvent> steps;  // Kind::step, in order
    std::optional<RunEvent> end;
    double share = 0;  // of all steps
    struct Memory {
        double seconds = 0;  // since the start of the process
        int64_t bytes = 0;   // that it has resident in host memory
    };
    std::vector<Memory> memory;         // sampled twice a second; thinned where there are many
    std::vector<Memory> device_memory;  // on a GPU: in use by whatever process, after each step
    QStringList lines;                  // what it said that is no event, the last kLines
    static constexpr qsizetype kLines = 200;
};

class EngineRun : public QObject {
    Q_OBJECT
public:
    enum class State { idle, running, cancelling };
    static constexpr int kGrace_ms = 10'000;

    explicit EngineRun(QObject* parent = nullptr);
    ~EngineRun() override;

    // The plan as a file that lives as long as this object, for the command line.
    Result<QString> write_plan_file(const Plan& plan);
    // `output`: the timeline that it will write, told by finished(). While one runs: does nothing.
    void start(const QString& program, const QStringList& words, const QString& output);
    // As Ctrl-C: SIGINT, which the engine answers at the next op. After the grace period, or when called
    // again, a second one, which ends it at once; then SIGKILL.
    void cancel();
    void set_grace_ms(int ms) { grace_ms_ = ms; }

    State state() const { return state_; }
    const RunSoFar& so_far() const { return so_far_; }
    double elapsed_seconds() const;
    // Until the last step is done, by the pace so far; absent: not known yet.
    std::optional<double> remaining_seconds() const;
    qint64 process_id() const { return process_.processId(); }

Q_SIGNALS:
    void state_changed();
    void said(const headroom::gui::RunEvent& event);
    void sampled();  // memory
    void finished(const QString& timeline);
    void cancelled();
    void failed(const headroom::Error& error);

private:
    void read();
    void take(const QByteArray& line);
    void sample();
    void press();
    void ended(int code, QProcess::ExitStatus status);
    void set_state(State state);

    QProcess process_;
    std::unique_ptr<QTemporaryDir> folder_;
    QString output_;
    QByteArray pending_, errors_;
    RunSoFar so_far_;
    State state_ = State::idle;
    QElapsedTimer since_start_;
    qint64 stepping_since_ms_ = -1, ended_ms_ = 0;
    QTimer grace_, sampling_;
    int grace_ms_ = kGrace_ms, presses_ = 0, samples_a_point_ = 1, samples_ = 0;
};

// "the plan does not fit" for 3.
QString meaning_of_exit(int code);
// What the engine's exit code and standard error say. `signal`: it was ended by that signal; 0: it exited.
Error engine_error(int code, int signal, const QString& errors);

}  // namespace headroom::gui
