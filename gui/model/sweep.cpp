#include "gui/model/sweep.h"

#include <QThread>
#include <algorithm>

#include "base/text.h"
#include "gui/model/text.h"

namespace headroom::gui {
namespace {

constexpr int64_t kNear = 16;     // a gap of a 16th of the context is small enough
constexpr int64_t kRound = 1024;  // contexts between are multiples of this
constexpr int kMostThreads = 4;   // a point of a million tokens takes gigabytes

std::optional<Tier> most_exceeded(const SweepPoint& point) {
    std::optional<Tier> worst;
    int64_t most = 0;
    for (size_t t = 0; t < kTiers; ++t) {
        const int64_t excess = point.need_bytes[t] - point.budget_bytes[t];
        if (excess <= most) continue;
        most = excess;
        worst = static_cast<Tier>(t);
    }
    return worst;
}

}  // namespace

std::vector<Tokens> doubling(Tokens from, Tokens to) {
    std::vector<Tokens> contexts;
    for (Tokens t = from; t <= to; t = t * 2) contexts.push_back(t);
    if (contexts.empty() || contexts.back() != to) contexts.push_back(to);
    return contexts;
}

std::vector<SweepLimit> sweep_limits(const std::vector<SweepPoint>& points) {
    std::vector<SweepLimit> limits;
    const auto limit_of = [&](const std::string& strategy) -> SweepLimit& {
        for (SweepLimit& l : limits) {
            if (l.strategy == strategy) return l;
        }
        limits.emplace_back().strategy = strategy;
        return limits.back();
    };
    for (const SweepPoint& p : points) {
        SweepLimit& l = limit_of(p.strategy);
        if (p.runs) l.runs = true;
        if (!p.runs && l.why_not.empty()) l.why_not = short_reason(p.why_not);
        if (p.runs && p.fits && (!l.fits_to || p.context > *l.fits_to)) l.fits_to = p.context;
    }
    for (const SweepPoint& p : points) {
        SweepLimit& l = limit_of(p.strategy);
        if (!p.runs || p.fits || (l.fits_to && p.context < *l.fits_to)) continue;
        if (l.stops_at && p.context >= *l.stops_at) continue;
        l.stops_at = p.context;
        l.tier = most_exceeded(p);
    }
    return limits;
}

std::optional<Tokens> halving(const SweepLimit& limit) {
    if (!limit.fits_to || !limit.stops_at) return std::nullopt;
    const int64_t fits = limit.fits_to->count(), stops = limit.stops_at->count();
    if (stops - fits <= fits / kNear) return std::nullopt;
    const int64_t middle = (fits + stops) / 2 / kRound * kRound;
    if (middle <= fits || middle >= stops) return std::nullopt;
    return Tokens(middle);
}

std::string short_reason(const std::string& why_not) {
    const size_t at = why_not.find("can run this: ");
    std::string why = at == std::string::npos ? why_not : why_not.substr(at + 14);
    if (const size_t file = why.find(".toml: "); file != std::string::npos) why = why.substr(file + 7);
    return why.substr(0, why.find("; "));
}

SweepRun::SweepRun(QObject* parent) : QObject(parent) {
    const int threads = std::clamp(QThread::idealThreadCount(), 1, kMostThreads);
    for (int i = 0; i < threads; ++i) {
        const auto& job = jobs_.emplace_back(std::make_unique<Job>());
        connect(job.get(), &Job::progressed, this, [this](const QString& text, double) {
            Q_EMIT progressed(text,
                              static_cast<double>(done_) / static_cast<double>(std::max<size_t>(1, total_)));
        });
    }
}

void SweepRun::start(std::shared_ptr<const Scenario> scenario, const std::vector<Tokens>& contexts,
                     const std::vector<std::string>& strategies) {
    stop();
    scenario_ = std::move(scenario);
    strategies_ = strategies;
    points_.clear();
    done_ = total_ = 0;
    for (const Tokens context : contexts) {
        for (const std::string& strategy : strategies) wish(strategy, context);
    }
    busy_ = true;
    Q_EMIT started();
    go_on();
}

void SweepRun::wish(const std::string& strategy, Tokens context) {
    wishes_.push_back({strategy, context, total_++});
}

void SweepRun::cancel() {
    if (busy_) end();
}

void SweepRun::stop() {
    for (const auto& job : jobs_) job->cancel();
    wishes_.clear();
    too_early_.clear();
}

void SweepRun::end() {
    stop();
    busy_ = false;
    Q_EMIT finished();
}

// Halves the gap of every strategy that still has one.
void SweepRun::narrow() {
    for (const SweepLimit& limit : sweep_limits(points_)) {
        const std::optional<Tokens> context = halving(limit);
        if (context) wish(limit.strategy, *context);
    }
}

// Gives every idle job a point. Once all points are there, the next ones are known, or that there are none.
void SweepRun::go_on() {
    if (points_.size() == total_) narrow();
    if (points_.size() == total_) return end();
    for (const auto& job : jobs_) {
        if (job->busy() || wishes_.empty()) continue;
        const Wish wish = wishes_.front();
        wishes_.pop_front();
        work_out(*job, wish);
    }
}

void SweepRun::work_out(Job& job, const Wish& wish) {
    job.start<std::vector<SweepPoint>>(
        [scenario = scenario_, wish](const Progress& progress) {
            return sweep(*scenario, {wish.context}, {wish.strategy}, progress);
        },
        [this, place = wish.place](Result<std::vector<SweepPoint>> result) {
            ++done_;
            if (!result) {
                stop();
                Q_EMIT failed(with_places(result.error(), *scenario_));
                return end();
            }
            take(place, std::move(result->front()));
            if (busy_) go_on();
        });
}

// Tells the point and those that waited for it.
void SweepRun::take(size_t place, SweepPoint point) {
    too_early_.emplace(place, std::move(point));
    while (busy_ && too_early_.contains(points_.size())) {
        points_.push_back(std::move(too_early_.extract(points_.size()).mapped()));
        Q_EMIT found(points_.back());
    }
}

}  // namespace headroom::gui
