// What is open: a scenario, a plan or a timeline, and everything worked out of it on worker threads.
//
// A scenario is answered in three steps, each told as soon as it is there: a verdict (exact bytes of the plan
// that leaves most room: does anything fit?), the best plan with its figures, its simulated step. Then what
// more of each budget would buy, or what would make it fit. Turning a knob begins anew. A plan is priced as
// it stands. A measured timeline is laid beside what its own plan predicts.
#pragma once

#include <QObject>
#include <QString>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "gui/model/job.h"
#include "gui/model/knobs.h"
#include "gui/model/open_file.h"
#include "gui/model/step.h"
#include "search/answer.h"

namespace headroom::gui {

// Whether any plan fits, and the exact bytes of the one that leaves most room.
struct Verdict {
    bool fits = false;
    std::array<TierNeed, kTiers> tiers;  // their peaks are not known
};

class Document : public QObject {
    Q_OBJECT
public:
    enum class Kind { none, scenario, plan, timeline };
    // Which of two steps the views of one step look at.
    enum class Side { predicted, measured };

    explicit Document(QObject* parent = nullptr);

    Kind kind() const { return kind_; }
    const std::filesystem::path& path() const { return path_; }
    QString title() const;  // of the window: the file's name, or that of a plan without a file

    // Reads the file on a worker thread; then opened() or failed(). What was open stays until then.
    void open(const std::filesystem::path& path);
    // A plan that was found, not read: path() is empty. What was open is closed.
    void open_plan(Plan plan, const QString& name);
    // The step of a measured run lies beside the prediction of what is open, if it is of the same plan.
    void set_measured(StepPtr step);
    // Reads a measured run and lays it beside the prediction: of the same plan, or of one with the same ops.
    // Else failed() says what differs.
    void open_measured(const std::filesystem::path& path);
    void close();

    // Of a scenario: overrides of its keys. Turning one plans anew.
    Knobs& knobs() { return knobs_; }
    // As the file and the knobs say; null but for a scenario.
    std::shared_ptr<const Scenario> scenario() const { return scenario_; }

    std::optional<Verdict> verdict() const { return verdict_; }
    // Null until there is one. `answer_final()`: nothing more is being worked out of it.
    std::shared_ptr<const Answer> answer() const { return answer_; }
    // Whether the answer is of the scenario as the knobs stand now, not of how they stood before.
    bool answer_current() const { return answer_ != nullptr && !answer_stale_; }
    bool answer_final() const { return answer_final_; }
    // The plan of the answer, or of the timeline; null: none.
    const Plan* plan() const;

    StepPtr predicted() const { return predicted_; }
    StepPtr measured() const { return measured_; }
    Side side() const { return side_; }
    void look_at(Side side);
    // The one looked at; the other where that is missing; null: none.
    StepPtr step() const;
    // What an axis of time covers: the longer of the two steps; 0: there is none.
    int64_t span_ns() const;

    bool busy() const;
    // Stops what is being worked out. What is there stays.
    void cancel();

Q_SIGNALS:
    void opened();                              // another file, or none
    void failed(const headroom::Error& error);  // of opening, planning or simulating
    void cleared_error();                       // what failed() said no longer holds
    void verdict_changed();
    void answer_changed();
    void steps_changed();  // step(), predicted() or measured()
    void busy_changed(bool busy);
    void progressed(const QString& text, double share);

private:
    void take(Opened opened, const std::filesystem::path& path, const QString& name);
    void forget();
    void replan();
    void answer_scenario();
    void answer_plan(Plan plan);
    // `searcher`: the scenario's, for what more would buy.
    void simulate(Plan plan, std::shared_ptr<Searcher> searcher);
    void explain(std::shared_ptr<Searcher> searcher);
    void tell(const Error& error);
    void tell_busy();

    Kind kind_ = Kind::none;
    Side side_ = Side::predicted;
    std::filesystem::path path_;
    QString name_;
    Knobs knobs_;
    std::shared_ptr<const Scenario> scenario_;
    std::optional<Verdict> verdict_;
    std::shared_ptr<const Answer> answer_;
    bool answer_final_ = false, answer_stale_ = false;
    StepPtr predicted_, measured_;
    bool was_busy_ = false;
    Job reading_, judging_, answering_, simulating_, gaining_, pairing_;
};

}  // namespace headroom::gui
