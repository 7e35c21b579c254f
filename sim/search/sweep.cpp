#include <algorithm>

#include "base/text.h"
#include "search/answer.h"
#include "search/interruption.h"
#include "search/search.h"
#include "strategy/strategy.h"

namespace headroom {

Result<std::vector<SweepPoint>> sweep(const Scenario& scenario, const std::vector<Tokens>& contexts,
                                      const std::vector<std::string>& strategy_names,
                                      const Progress& progress) {
    std::vector<std::string> names = strategy_names;
    if (names.empty()) {
        for (const Strategy* s : strategies()) names.emplace_back(s->name());
    }
    for (const std::string& name : names) {
        if (find_strategy(name) != nullptr) continue;
        std::vector<std::string> known;
        for (const Strategy* s : strategies()) known.emplace_back(s->name());
        const std::string near = nearest(name, known);
        return fail("--strategies",
                    "'" + name + "'" + (near.empty() ? "" : " (did you mean '" + near + "'?)"),
                    one_of(known));
    }
    std::vector<SweepPoint> points;
    const size_t total = names.size() * contexts.size();
    for (const std::string& name : names) {
        for (const Tokens context : contexts) {
            const std::string at = name + " at " + format_tokens(context);
            const double share = static_cast<double>(points.size()) / static_cast<double>(total);
            const auto go_on = [&] { return !progress || progress(at, share); };
            if (!go_on()) return interruption();
            Scenario s = scenario;
            s.plan.context = context;
            SweepPoint point;
            point.strategy = name;
            point.context = context;
            try {
                Searcher searcher(s);
                SearchOptions options;
                options.op_budget = 0;
                options.statistics = false;  // a point has none
                options.strategies = {name};
                options.go_on = go_on;
                const Result<Found> found = searcher.best(s.plan.budget, options);
                if (!found && found.error().fault == Fault::interrupted) {
                    return tl::unexpected<Error>(found.error());
                } else if (!found) {
                    point.why_not = found.error().text();
                } else {
                    const Evaluation& e = found->evaluation;
                    point.runs = true;
                    point.fits = e.fits();
                    point.step_ns = e.step_ns;
                    for (size_t t = 0; t < kTiers; ++t) {
                        point.need_bytes[t] = e.tiers[t].need_bytes;
                        point.budget_bytes[t] = e.tiers[t].budget_bytes;
                    }
                    point.tokens_per_second = tokens_per_second(found->plan, e.step_ns);
                    point.mfu = mfu(found->plan, e.step_ns);
                    point.plan = found->plan;
                }
            } catch (const Overflow& e) {
                return fail(scenario.path, e.what(), "smaller sizes");
            }
            points.push_back(std::move(point));
        }
    }
    return points;
}

}  // namespace headroom
