// Runs the plan that is open for real: starts the engine, shows what it says as it comes, and hands the
// measured timeline to the document, for Compare.
#pragma once

#include "gui/model/engine_run.h"
#include "gui/model/run_settings.h"
#include "gui/view/view.h"

class QLabel;
class QProgressBar;
class QTableView;
class QTimer;

namespace headroom::gui {

class RunCharts;
class RunForm;
class RunStepsModel;

class RunView : public View {
    Q_OBJECT
public:
    RunView(Document& document, Focus& focus, QWidget* parent = nullptr);
    ~RunView() override;

    QByteArray csv() const override;
    bool has_content() const override;
    bool busy() const override { return run_.state() != EngineRun::State::idle; }
    QList<KeyHelp> keys() const override;
    void set_palette(const Palette& palette) override;

    RunForm& form() const { return *form_; }
    EngineRun& run() { return run_; }
    // Runs this program in place of the engine that was found.
    void set_engine(const QString& program);

public Q_SLOTS:
    void start();
    void cancel();

Q_SIGNALS:
    // The measured timeline is written, and the document reads it.
    void finished_with(const QString& path);

private:
    QWidget* make_picture();
    void take_plan();
    void judge();
    RunNeeds needs() const;
    QString proposed_output() const;
    void refresh();
    QString facts() const;
    void on_state();

    EngineRun run_;
    QString engine_;
    RunForm* form_;
    QLabel *headline_, *times_, *facts_, *message_, *empty_;
    QProgressBar* bar_;
    RunCharts* charts_;
    RunStepsModel* steps_;
    QTableView* table_;
    QWidget* picture_;
    QTimer *clock_, *judging_;
    QString proposed_;
    enum class Tone { plain, good, bad } tone_ = Tone::plain;
    QString plan_name_;
};

}  // namespace headroom::gui
