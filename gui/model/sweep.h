// A sweep: the best plan of each strategy at each context, worked out point by point on a few worker threads,
// and where each strategy stops fitting.
#pragma once

#include <QObject>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/job.h"
#include "search/answer.h"

namespace headroom::gui {

// Doubling from the first to the last, which is always there; 0 < from <= to.
std::vector<Tokens> doubling(Tokens from, Tokens to);

// Where one strategy stops fitting, as far as the points of a sweep tell.
struct SweepLimit {
    std::string strategy;
    bool runs = false;               // at any context
    std::string why_not;             // where it does not
    std::optional<Tokens> fits_to;   // the largest context that fits
    std::optional<Tokens> stops_at;  // the smallest beyond it that does not
    std::optional<Tier> tier;        // whose budget is exceeded most there
};
// One for each strategy in the order of the points.
std::vector<SweepLimit> sweep_limits(const std::vector<SweepPoint>& points);
// The context that would halve the gap between the largest that fits and the smallest that does not;
// absent: they are near each other (a 16th), or there is no gap.
std::optional<Tokens> halving(const SweepLimit& limit);
// The first reason of a strategy that cannot run, without the names of files and strategies before it.
std::string short_reason(const std::string& why_not);

// Contract: points come context by context, each once and whatever the number of threads in the same order;
// then finished(). After the contexts asked for come those that narrow down where each strategy stops
// fitting.
class SweepRun : public QObject {
    Q_OBJECT
public:
    explicit SweepRun(QObject* parent = nullptr);

    // Begins anew; what ran before is cancelled.
    void start(std::shared_ptr<const Scenario> scenario, const std::vector<Tokens>& contexts,
               const std::vector<std::string>& strategies);
    void cancel();
    bool busy() const { return busy_; }

Q_SIGNALS:
    void started();
    void found(const headroom::SweepPoint& point);
    void progressed(const QString& text, double share);
    void failed(const headroom::Error& error);  // then finished()
    void finished();                            // all points are there, or it was cancelled or failed

private:
    struct Wish {
        std::string strategy;
        Tokens context;
        size_t place = 0;  // among all points
    };
    void wish(const std::string& strategy, Tokens context);
    void go_on();
    void work_out(Job& job, const Wish& wish);
    void take(size_t place, SweepPoint point);
    void stop();
    void narrow();
    void end();

    std::shared_ptr<const Scenario> scenario_;
    std::deque<Wish> wishes_;
    std::vector<std::string> strategies_;
    std::vector<SweepPoint> points_;          // told, in the order of their places
    std::map<size_t, SweepPoint> too_early_;  // by place: one before it is not there yet
    size_t done_ = 0, total_ = 0;
    bool busy_ = false;
    std::vector<std::unique_ptr<Job>> jobs_;  // each works out one point at a time
};

}  // namespace headroom::gui
