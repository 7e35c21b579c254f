#include "gui/model/sweep.h"

#include <algorithm>

#include "base/text.h"
#include "gui/model/text.h"

namespace headroom::gui {
namespace {

constexpr int64_t kNear = 16;     // a gap of a 16th of the context is small enough
constexpr int64_t kRound = 1024;  // contexts between are multiples of this

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
    connect(&job_, &Job::progressed, this, [this](const QString& text, double) {
        Q_EMIT progressed(text,
                          static_cast<double>(done_) / static_cast<double>(std::max<size_t>(1, total_)));
    });
}

void SweepRun::start(std::shared_ptr<const Scenario> scenario, const std::vector<Tokens>& contexts,
                     const std::vector<std::string>& strategies) {
    job_.cancel();
    scenario_ = std::move(scenario);
    strategies_ = strategies;
    points_.clear();
    wishes_.clear();
    for (const Tokens context : contexts) {
        for (const std::string& strategy : strategies) wishes_.push_back({strategy, context});
    }
    done_ = 0;
    total_ = wishes_.size();
    busy_ = true;
    Q_EMIT started();
    next();
}

void SweepRun::cancel() {
    if (!busy_) return;
    job_.cancel();
    end();
}

void SweepRun::end() {
    busy_ = false;
    wishes_.clear();
    Q_EMIT finished();
}

// Halves the gap of every strategy that still has one.
void SweepRun::narrow() {
    for (const SweepLimit& limit : sweep_limits(points_)) {
        const std::optional<Tokens> context = halving(limit);
        if (context) wishes_.push_back({limit.strategy, *context});
    }
    total_ += wishes_.size();
}

void SweepRun::next() {
    if (wishes_.empty()) narrow();
    if (wishes_.empty()) return end();
    const Wish wish = wishes_.front();
    wishes_.pop_front();
    job_.start<std::vector<SweepPoint>>(
        [scenario = scenario_, wish](const Progress& progress) {
            return sweep(*scenario, {wish.context}, {wish.strategy}, progress);
        },
        [this](Result<std::vector<SweepPoint>> result) {
            ++done_;
            if (!result) {
                Q_EMIT failed(with_places(result.error(), *scenario_));
                return end();
            }
            for (SweepPoint& point : *result) {
                points_.push_back(point);
                Q_EMIT found(point);
            }
            if (busy_) next();
        });
}

}  // namespace headroom::gui
