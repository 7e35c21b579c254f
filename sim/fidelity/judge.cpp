#include "fidelity/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/text.h"
#include "program/names.h"

namespace headroom::fidelity {
namespace {

constexpr double kCategoryFrom = 0.005;  // of its tier's peak
constexpr double kStreamFrom = 0.01;     // of the step

double share(int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string percent(double v) {
    return std::isfinite(v) ? fmt::format("{:.2f} %", 100 * v) : "new";
}

class Findings {
public:
    void add(std::string group, std::string what, std::string unit, int64_t predicted, int64_t measured,
             double bound, bool judged) {
        if (predicted == 0 && measured == 0) return;
        list.push_back(
            {std::move(group), std::move(what), std::move(unit), predicted, measured, judged, bound});
    }
    std::vector<Finding> list;
};

void judge_memory(const Prediction& p, const RunSummary& run, double bound, Findings& out) {
    for (size_t i = 0; i < kTiers; ++i) {
        const std::string tier(headroom::name_of(static_cast<Tier>(i)));
        const TierFigures &a = p.figures.tiers[i], &b = run.figures.tiers[i];
        out.add("memory", tier + " peak", "bytes", a.peak_bytes, b.peak_bytes, bound, true);
        for (size_t c = 0; c < kCategories; ++c) {
            const int64_t predicted = a.category_peaks[c], measured = b.category_peaks[c];
            const bool large =
                std::max(share(predicted, a.peak_bytes), share(measured, b.peak_bytes)) >= kCategoryFrom;
            out.add("memory", tier + " " + std::string(headroom::name_of(static_cast<Category>(c))), "bytes",
                    predicted, measured, bound, large);
        }
    }
    if (run.device_used_bytes > 0)
        out.add("memory", "driver total", "bytes", p.need_bytes[0], run.device_used_bytes, bound, true);
    if (run.pinned_bytes > 0 || p.need_bytes[1] > 0)
        out.add("memory", "pinned", "bytes", p.need_bytes[1], run.pinned_bytes, bound, true);
}

// Where the largest |error| of those that `wanted` takes is.
struct Worst {
    double error = 0;
    std::string where;
    size_t judged = 0;
};
template <class Wanted>
Worst worst_of(const Results& r, const Bounds& bounds, Wanted wanted) {
    Worst w;
    for (const Entry& e : r.entries) {
        if (!e.judgeable()) continue;
        for (const Finding& f : judge(*e.prediction, *e.run, bounds)) {
            if (!f.judged || !wanted(f)) continue;
            ++w.judged;
            if (w.judged > 1 && std::abs(f.error()) <= std::abs(w.error)) continue;
            w.error = f.error();
            w.where = e.plan.name + ", " + f.what;
        }
    }
    return w;
}

Verdict verdict_of(const std::string& what, const Worst& w, double bound) {
    Verdict v{what, percent(w.error), percent(bound), w.where, std::abs(w.error) <= bound};
    if (w.judged == 0) v = {what, "nothing to judge", percent(bound), "", std::nullopt};
    return v;
}

void step_verdicts(const Results& r, const Bounds& bounds, Half half, std::vector<Verdict>& out) {
    std::vector<std::pair<double, std::string>> errors;
    for (const Entry& e : r.entries)
        if (e.judgeable() && e.plan.half == half) errors.emplace_back(std::abs(e.step_error()), e.plan.name);
    std::sort(errors.begin(), errors.end());
    const std::string of = fmt::format("step time, {} half ({} plans): ", name_of(half), errors.size());
    if (errors.empty()) {
        out.push_back(
            {of + "median error", "nothing to judge", percent(bounds.step_median), "", std::nullopt});
        return;
    }
    const size_t n = errors.size();
    const double median = (errors[(n - 1) / 2].first + errors[n / 2].first) / 2;
    const bool judged = half == Half::unseen;
    const auto within = [&](double v, double bound) {
        return judged ? std::optional<bool>(v <= bound) : std::nullopt;
    };
    out.push_back({of + "median error", percent(median), judged ? percent(bounds.step_median) : "", "",
                   within(median, bounds.step_median)});
    out.push_back({of + "worst error", percent(errors.back().first), judged ? percent(bounds.step_worst) : "",
                   errors.back().second, within(errors.back().first, bounds.step_worst)});
}

}  // namespace

double Finding::error() const {
    if (predicted == measured) return 0;
    if (measured == 0)
        return predicted > 0 ? std::numeric_limits<double>::infinity()
                             : -std::numeric_limits<double>::infinity();
    return (static_cast<double>(predicted) - static_cast<double>(measured)) / static_cast<double>(measured);
}

double Entry::step_error() const {
    Finding step;
    step.predicted = prediction->figures.step_ns;
    step.measured = run->figures.step_ns;
    return step.error();
}

std::vector<Finding> judge(const Prediction& p, const RunSummary& run, const Bounds& bounds) {
    Findings out;
    const Figures &a = p.figures, &b = run.figures;
    out.add("step", "step time", "ns", a.step_ns, b.step_ns, bounds.step_worst, true);
    for (size_t i = 0; i < a.pass_ns.size(); ++i)
        out.add("pass", std::string(headroom::name_of(static_cast<Pass>(i))), "ns", a.pass_ns[i],
                b.pass_ns[i], 0, false);
    judge_memory(p, run, bounds.memory, out);
    for (size_t i = 0; i < kStreams; ++i) {
        const bool busy =
            std::max(share(a.busy_ns[i], a.step_ns), share(b.busy_ns[i], b.step_ns)) >= kStreamFrom;
        out.add("stream", std::string(headroom::name_of(static_cast<Stream>(i))) + " busy", "ns",
                a.busy_ns[i], b.busy_ns[i], bounds.stream, busy);
    }
    std::map<OpKind, std::pair<int64_t, int64_t>> kinds;
    for (const KindFigures& k : a.kinds) kinds[k.kind].first += k.total_ns;
    for (const KindFigures& k : b.kinds) kinds[k.kind].second += k.total_ns;
    for (const auto& [kind, ns] : kinds)
        out.add("kind", std::string(headroom::name_of(kind)), "ns", ns.first, ns.second, 0, false);
    const TrafficFigures &s = a.traffic, &t = b.traffic;
    out.add("traffic", "pages loaded", "pages", s.loaded, t.loaded, 0, false);
    out.add("traffic", "gradient pages loaded", "pages", s.gradients_loaded, t.gradients_loaded, 0, false);
    out.add("traffic", "pages written back", "pages", s.written_back, t.written_back, 0, false);
    out.add("traffic", "gradient pages first touched", "pages", s.first_touched, t.first_touched, 0, false);
    return std::move(out.list);
}

std::optional<bool> LadderResult::right(const Bounds& bounds) const {
    std::optional<Tokens> ran, failed;
    for (size_t i = 0; i < rungs.size(); ++i) {
        if (!rungs[i].run) continue;
        if (rungs[i].run->ran())
            ran = contexts[i];
        else if (rungs[i].run->exit_code != exit_code(Fault::run_failed))
            return std::nullopt;  // refused: that says nothing about memory
        else if (!failed)
            failed = contexts[i];
    }
    if (failed && *failed <= limit) return false;
    if (!ran || *ran < limit || !failed) return std::nullopt;
    const auto most = static_cast<double>(limit.count()) * (1 + bounds.ladder);
    // Rungs are whole pages: the one at the bound may lie a page beyond it.
    return static_cast<double>((*failed - page).count()) < most;
}

RankingResult rank(const Ranking& ranking, const std::vector<Entry>& entries) {
    RankingResult r;
    r.ranking = ranking;
    for (size_t i = 0; i < entries.size(); ++i) {
        const auto& names = ranking.plans;
        if (std::find(names.begin(), names.end(), entries[i].plan.name) != names.end() &&
            entries[i].prediction)
            r.entries.push_back(i);
    }
    std::stable_sort(r.entries.begin(), r.entries.end(), [&](size_t a, size_t b) {
        return entries[a].prediction->figures.step_ns < entries[b].prediction->figures.step_ns;
    });
    int64_t fastest = INT64_MAX;
    bool all = r.entries.size() == ranking.plans.size();
    for (const size_t i : r.entries) {
        all &= entries[i].judgeable();
        if (entries[i].judgeable()) fastest = std::min(fastest, entries[i].run->figures.step_ns);
    }
    if (all && fastest > 0)
        r.lost = static_cast<double>(entries[r.entries.front()].run->figures.step_ns) /
                     static_cast<double>(fastest) -
                 1;
    return r;
}

std::vector<Verdict> verdicts(const Results& r, const Bounds& bounds) {
    std::vector<Verdict> out;
    const auto memory = [](const Finding& f) { return f.group == "memory"; };
    out.push_back(verdict_of("memory: live bytes of each tier and category, worst error",
                             worst_of(r, bounds,
                                      [&](const Finding& f) {
                                          return memory(f) && f.what != "driver total" && f.what != "pinned";
                                      }),
                             bounds.memory));
    for (const char* what : {"driver total", "pinned"})
        out.push_back(
            verdict_of(std::string("memory: ") + what + ", worst error",
                       worst_of(r, bounds, [&](const Finding& f) { return memory(f) && f.what == what; }),
                       bounds.memory));
    step_verdicts(r, bounds, Half::unseen, out);
    step_verdicts(r, bounds, Half::fit, out);
    out.push_back(verdict_of("busy time of each stream, worst error",
                             worst_of(r, bounds, [](const Finding& f) { return f.group == "stream"; }),
                             bounds.stream));
    for (const LadderResult& l : r.ladders) {
        const std::optional<bool> right = l.right(bounds);
        out.push_back(
            {"ladder " + l.ladder.name + ": the limit of " + format_integer(l.limit.count()) + " tokens",
             right ? (*right ? "right" : "wrong") : "not known", percent(bounds.ladder), "", right});
    }
    for (const RankingResult& k : r.rankings) {
        out.push_back({"ranking " + k.ranking.name + ": the plan ranked first against the fastest",
                       k.lost ? percent(*k.lost) : "not known", percent(bounds.ranking),
                       k.entries.empty() ? "" : r.entries[k.entries.front()].plan.name,
                       k.lost ? std::optional<bool>(*k.lost <= bounds.ranking) : std::nullopt});
    }
    return out;
}

}  // namespace headroom::fidelity
