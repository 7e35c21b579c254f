// The step op by op: a lane for each stream, statistics of a range, search, the largest stalls, and all about
// one op.
#pragma once

#include <QTimer>
#include <memory>

#include "gui/model/range_statistics.h"
#include "gui/model/stalls.h"
#include "gui/view/streams_canvas.h"
#include "gui/view/view.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QTabWidget;
class QTableView;
class QToolButton;

namespace headroom::gui {

class OpDetails;

class StreamsView : public View {
    Q_OBJECT
public:
    StreamsView(Document& document, Focus& focus);

    void set_palette(const Palette& palette) override;
    QByteArray csv() const override;  // statistics of the range, by stream and by kind
    void draw(QPainter& painter) override;
    bool has_content() const override { return data_ != nullptr; }
    bool busy() const override;
    QList<KeyHelp> keys() const override;

    StreamsCanvas& canvas() const { return *canvas_; }
    RangeStatisticsModel& kinds() const { return *by_kind_; }
    RangeStatisticsModel& streams() const { return *by_stream_; }
    StallsModel& stalls() const { return *stalls_; }
    std::shared_ptr<const Hits> hits() const { return hits_; }

private:
    // What is worked out of a step once.
    struct Data {
        Lanes lanes;
        Stalls stalls;
    };
    QWidget* make_bar();
    QWidget* make_below();
    QTableView* make_table(QAbstractTableModel* model, const QString& name, bool sorted);

    void take_step();
    void take_data(std::shared_ptr<const Data> worked);
    void want_statistics();
    TimeRange looked_at() const;  // the marked range, or what is in view
    void tell_range();
    void search();
    void take_hits(std::shared_ptr<const Hits> hits);
    void step_hit(int by);
    void tell_hits();
    void go_to_stall(const QModelIndex& index);

    StreamsCanvas* canvas_;
    OpDetails* details_;
    QLineEdit* search_ = nullptr;
    QToolButton *previous_hit_ = nullptr, *next_hit_ = nullptr;
    QLabel *hits_text_ = nullptr, *range_text_ = nullptr, *stalls_text_ = nullptr;
    QCheckBox *critical_ = nullptr, *shows_stalls_ = nullptr;
    RangeStatisticsModel *by_kind_, *by_stream_;
    StallsModel* stalls_;

    StepPtr step_;
    std::shared_ptr<const Data> data_;
    std::shared_ptr<const Hits> hits_;
    QTimer typing_;  // a search starts when the typing rests
    Job preparing_, searching_;
    Drawn<RangeStatistics> figures_;
};

}  // namespace headroom::gui
