#include "search/search.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "search/interruption.h"
#include "search/parallel.h"
#include "strategy/strategy.h"

namespace headroom {
namespace {

constexpr size_t kSampled = 24;        // candidates whose few chunks are simulated
constexpr size_t kOfEachStrategy = 3;  // ... whatever the scores of others
constexpr size_t kRoomiest = 6;        // candidates lowered to see whether anything fits
constexpr int64_t kEveryShare =
    8;  // models of up to so many layers: every share of layers on the device is a candidate
constexpr double kNear = 0.02;     // of the budgets: what a score may be off
constexpr size_t kAllExact = 400;  // spaces up to this size are simulated whole where their steps are short

Hardware with_link_speed(Hardware hardware, double factor) {
    if (factor == 1) return hardware;
    for (LinkDirection* d : {&hardware.to_device, &hardware.to_host}) {
        for (Curve* c : {&d->single, &d->batch, &d->gather}) {
            for (Curve::Point& p : c->points) p.bandwidth *= factor;
        }
    }
    hardware.both_directions *= factor;
    return hardware;
}

// The same question with every free decision fixed that costs bytes in some tier and saves none in another:
// what fits at all fits so.
Scenario tightest(Scenario s) {
    Decisions& d = s.plan.decisions;
    const auto fix = [&](const char* key, auto Decisions::*member, auto value) {
        if (s.fixed.insert(key).second) d.*member = value;
    };
    fix("prefetch", &Decisions::prefetch, int64_t{1});
    fix("staging_slots", &Decisions::staging_slots, std::max<int64_t>(2, d.prefetch + 1));
    fix("wavefront", &Decisions::wavefront, int64_t{1});
    fix("page_cache", &Decisions::page_cache, Bytes(0));
    fix("page_copy", &Decisions::page_copy, PageCopy::batch);
    fix("attention_outputs", &Decisions::attention_outputs, AttentionOutputs::recompute);
    return s;
}

}  // namespace

int64_t excess_of(const Score& score, const Budget& budget) {
    const std::array<int64_t, kTiers> budgets{budget.device.count(), budget.host.count(),
                                              budget.disk.count()};
    int64_t excess = 0;
    for (size_t t = 0; t < kTiers; ++t) excess += std::max<int64_t>(0, score.need_bytes[t] - budgets[t]);
    return excess;
}

Searcher::Searcher(const Scenario& scenario) : scenario_(scenario) {}

Plan Searcher::plan_of(const Decisions& decisions, const Budget& budget, double link_speed) const {
    Plan plan = scenario_.plan;
    plan.decisions = decisions;
    plan.budget = budget;
    plan.gpus = decisions.tensor_ranks * decisions.ring_ranks;
    // What more memory would buy: a GPU like this one with more of it.
    if (link_speed != 1) plan.hardware = with_link_speed(plan.hardware, link_speed);
    plan.hardware.device_memory = std::max(plan.hardware.device_memory, budget.device);
    return plan;
}

std::vector<Decisions> Searcher::residencies(Plan& plan, const Budget& budget) {
    const bool kv_free = scenario_.fixed.count("kv") == 0,
               gradient_free = scenario_.fixed.count("kv_gradients") == 0;
    std::vector<Decisions> result;
    if ((!kv_free && !gradient_free) || plan.chunks() == 1 || plan.decisions.strategy == "layer-major") {
        return {plan.decisions};
    }
    Decisions& d = plan.decisions;
    const int64_t layers = plan.model.layer_count();
    const auto fits = [&] {
        ++scored_;
        return estimator_.device_bytes(plan) <= budget.device.count();
    };
    // Device bytes grow with each share: the largest share that fits, by bisection.
    const auto largest = [&](auto&& set) {
        int64_t low = 0, high = layers;
        set(high);
        if (fits()) return high;
        while (low + 1 < high) {
            const int64_t middle = (low + high) / 2;
            set(middle);
            (fits() ? low : high) = middle;
        }
        return low;
    };
    const auto both = [&](int64_t n) {
        if (kv_free) d.kv_residency = Residency{n, 0, 0};
        if (gradient_free) d.kv_gradient_residency = Residency{n, 0, 0};
    };
    const auto kv = [&](int64_t n) {
        if (kv_free) d.kv_residency = Residency{n, 0, 0};
    };
    const auto gradient = [&](int64_t n) {
        if (gradient_free) d.kv_gradient_residency = Residency{n, 0, 0};
    };
    const auto keep = [&] {
        if (std::find(result.begin(), result.end(), d) == result.end()) result.push_back(d);
    };
    if (layers <= kEveryShare) {
        for (int64_t k = 0; k <= (kv_free ? layers : 0); ++k) {
            for (int64_t g = 0; g <= (gradient_free ? layers : 0); ++g) {
                kv(k);
                gradient(g);
                keep();
            }
        }
    }
    both(0);
    keep();
    const int64_t together = largest(both);
    both(together);
    keep();
    if (kv_free && gradient_free && together < layers) {
        both(0);
        const int64_t all_kv = largest(kv);
        kv(all_kv);
        keep();
        gradient(largest(gradient));  // what K and V leave
        keep();
        both(0);
        const int64_t all_gradients = largest(gradient);
        gradient(all_gradients);
        keep();
        kv(largest(kv));
        keep();
        // Between the two ends: a part of K and V, then what gradients they leave room for.
        for (const int64_t quarter : {1, 2, 3}) {
            both(0);
            kv(all_kv * quarter / 4);
            gradient(largest(gradient));
            keep();
        }
    }
    // Where host memory ends, the newest chunks of what is not on the device go to disk.
    both(together);
    if (budget.disk.count() > 0 && estimator_.need_bytes(plan)[1] > budget.host.count()) {
        // As few as make the host fit. What a chunk needs besides its pages is taken from one of them.
        Plan some_on_disk = plan;
        const int64_t half = std::max<int64_t>(1, plan.chunks() / 2);
        if (kv_free) some_on_disk.decisions.kv_residency.disk_chunks = half;
        if (gradient_free) some_on_disk.decisions.kv_gradient_residency.disk_chunks = half;
        const auto on_disk = [&](int64_t chunks) {
            if (kv_free) d.kv_residency.disk_chunks = chunks;
            if (gradient_free) d.kv_gradient_residency.disk_chunks = chunks;
            ++scored_;
            return estimator_.host_bytes(plan, some_on_disk) <= budget.host.count();
        };
        int64_t low = 0, high = plan.chunks();
        while (low + 1 < high) {
            const int64_t middle = (low + high) / 2;
            (on_disk(middle) ? high : low) = middle;
        }
        on_disk(std::min(plan.chunks(), high + 1));  // pages freed late: one chunk more
        keep();
    }
    return result;
}

void Searcher::give_reason(std::string_view strategy, const std::string& why) {
    const std::string line = one_strategy_ ? why : std::string(strategy) + ": " + why;
    if (std::find(reasons_.begin(), reasons_.end(), line) == reasons_.end()) reasons_.push_back(line);
}

void Searcher::consider(Plan& plan, const Budget& budget, std::vector<Candidate>& all) {
    const Strategy& strategy = *find_strategy(plan.decisions.strategy);
    const auto note = [&](const Error& e) { give_reason(strategy.name(), e.text()); };
    if (const Result<void> ok = check_plan(plan, ""); !ok) return note(ok.error());
    if (const Result<void> ok = strategy.check(plan); !ok) return note(ok.error());
    for (const Decisions& d : residencies(plan, budget)) {
        Candidate c;
        c.decisions = d;
        plan.decisions = d;
        c.score = estimator_.score(plan);
        ++scored_;
        c.excess = excess_of(c.score, budget);
        c.time_ns = c.score.step_ns;
        for (const int64_t bytes : c.score.need_bytes) c.total_bytes += bytes;
        all.push_back(std::move(c));
    }
}

Result<std::vector<Searcher::Candidate>> Searcher::candidates(const Scenario& scenario, const Budget& budget,
                                                              const SearchOptions& options) {
    scored_ = 0;
    reasons_.clear();
    one_strategy_ = options.strategies.size() == 1;
    if (link_speed_ != options.link_speed) sampled_.clear();
    link_speed_ = options.link_speed;
    estimator_.set_link_speed(link_speed_);
    std::vector<Candidate> all;
    bool stopped = false;
    try {
        for (const Strategy* strategy : strategies()) {
            const std::string name(strategy->name());
            if (!options.strategies.empty()) {
                if (std::find(options.strategies.begin(), options.strategies.end(), name) ==
                    options.strategies.end())
                    continue;
            } else if (scenario.fixed.count("strategy") > 0 && scenario.plan.decisions.strategy != name) {
                continue;
            }
            Plan plan = plan_of(scenario.plan.decisions, budget, link_speed_);
            bool offers = false;
            strategy->candidates(scenario, [&](const Decisions& d) {
                offers = true;
                stopped = stopped || (options.go_on && !options.go_on());
                if (stopped) return;
                plan.decisions = d;
                plan.gpus = d.tensor_ranks * d.ring_ranks;
                consider(plan, budget, all);
            });
            if (!offers) give_reason(name, std::to_string(scenario.gpus) + " GPU, needs 2 or more");
        }
    } catch (const Overflow& e) {
        return fail(scenario.path, e.what(), "smaller sizes");
    }
    if (stopped) return interruption();
    if (all.empty()) {
        std::string why;
        for (const std::string& r : reasons_) why += (why.empty() ? " " : "; ") + r;
        return fail(scenario.path, "no strategy can run this:" + why, "other decisions in [plan]");
    }
    return all;
}

Result<Found> Searcher::roomiest(const Budget& budget, const SearchOptions& options) {
    estimator_.set_bytes_only(true);
    Result<std::vector<Candidate>> scored = candidates(tightest(scenario_), budget, options);
    estimator_.set_bytes_only(false);
    HEADROOM_TRY(const std::vector<Candidate> all, std::move(scored));
    const std::array<double, kTiers> budgets{static_cast<double>(budget.device.count()),
                                             static_cast<double>(budget.host.count()),
                                             static_cast<double>(budget.disk.count())};
    const auto fullness = [&](const Candidate& c) {  // of the fullest tier
        double most = 0;
        for (size_t t = 0; t < kTiers; ++t) {
            const double need = static_cast<double>(c.score.need_bytes[t]);
            if (need > 0) most = std::max(most, budgets[t] > 0 ? need / budgets[t] : 1e300);
        }
        return most;
    };
    std::vector<const Candidate*> order;
    for (const Candidate& c : all) order.push_back(&c);
    std::stable_sort(order.begin(), order.end(), [&](const Candidate* a, const Candidate* b) {
        return std::make_pair(a->excess, fullness(*a)) < std::make_pair(b->excess, fullness(*b));
    });
    Found found;
    if (!options.exact) {
        found.plan = plan_of(order.front()->decisions, budget, link_speed_);
        found.score = order.front()->score;
        found.scored = scored_;
        return found;
    }
    // Scores are near, not exact: the first that fits exactly, of a few.
    for (size_t i = 0; i < std::min(order.size(), kRoomiest); ++i) {
        Found one;
        one.plan = plan_of(order[i]->decisions, budget, link_speed_);
        one.score = order[i]->score;
        HEADROOM_TRY(const Program program, lower(one.plan, estimator_.selections(one.plan), {{}, true}));
        one.evaluation.tiers = needs_of(one.plan, program);
        if (i == 0 || one.evaluation.excess() < found.evaluation.excess()) found = std::move(one);
        const bool far =
            static_cast<double>(order[i]->excess) > kNear * (budgets[0] + budgets[1] + budgets[2]);
        if (found.evaluation.fits() || far) break;
    }
    found.scored = scored_;
    return found;
}

bool Searcher::sample(std::span<Candidate> candidates, const Budget& budget, const SearchOptions& options) {
    std::vector<Candidate*> fresh;
    std::vector<std::function<void()>> samplings;
    for (Candidate& c : candidates) {
        const auto known = std::find_if(sampled_.begin(), sampled_.end(),
                                        [&](const auto& s) { return s.first == c.decisions; });
        if (known != sampled_.end()) {
            c.time_ns = known->second;
            continue;
        }
        fresh.push_back(&c);
        const Plan plan = plan_of(c.decisions, budget, link_speed_);
        samplings.push_back([&ns = c.time_ns, sampled_ns = estimator_.sampling(plan)] { ns = sampled_ns(); });
    }
    if (!run_all(samplings, [&](size_t) { return !options.go_on || options.go_on(); })) return false;
    for (const Candidate* c : fresh) sampled_.emplace_back(c->decisions, c->time_ns);
    return true;
}

Result<Searcher::Ranking> Searcher::rank(const Budget& budget, const SearchOptions& options) {
    HEADROOM_TRY(std::vector<Candidate> all, candidates(scenario_, budget, options));
    const auto better = [](const Candidate& a, const Candidate& b) {
        if ((a.excess > 0) != (b.excess > 0)) return b.excess > 0;
        if (a.excess > 0 && a.excess != b.excess) return a.excess < b.excess;
        return std::tie(a.time_ns, a.total_bytes) < std::tie(b.time_ns, b.total_bytes);
    };
    std::stable_sort(all.begin(), all.end(), better);

    // A few chunks of the most promising, simulated. All of them where there are few. A score that flatters
    // one strategy must not keep the others out: the best few of each are among them.
    Ranking ranking;
    const Plan probe = plan_of(all.front().decisions, budget, link_speed_);
    ranking.small = all.size() <= kAllExact && probe.chunks() <= 8;
    ranking.sampled = ranking.small ? all.size() : 0;
    if (!ranking.small) {
        std::map<std::string, size_t> of_strategy;
        std::vector<Candidate> chosen, rest;
        for (Candidate& c : all) {
            const bool of_its_best = of_strategy[c.decisions.strategy]++ < kOfEachStrategy && c.excess == 0;
            (chosen.size() < kSampled || of_its_best ? chosen : rest).push_back(std::move(c));
        }
        ranking.sampled = chosen.size();
        all = std::move(chosen);
        std::move(rest.begin(), rest.end(), std::back_inserter(all));
    }
    if (all.front().excess == 0) {
        size_t fitting = 0;
        while (fitting < ranking.sampled && all[fitting].excess == 0) ++fitting;
        if (!sample(std::span(all).first(fitting), budget, options)) return interruption();
        std::stable_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(fitting), better);
    }
    ranking.candidates = std::move(all);
    ranking.budget = budget;
    ranking.link_speed = link_speed_;
    ranking.scored = scored_;
    return ranking;
}

Found Searcher::first_of(const Ranking& ranking) const {
    const Candidate& first = ranking.candidates.front();
    Found found;
    found.plan = plan_of(first.decisions, ranking.budget, ranking.link_speed);
    found.score = first.score;
    found.sampled_ns = first.time_ns;
    found.scored = ranking.scored;
    return found;
}

Result<Found> Searcher::best(const Budget& budget, const SearchOptions& options) {
    HEADROOM_TRY(const Ranking ranking, rank(budget, options));
    if (!options.exact) return first_of(ranking);
    return simulate_best(ranking, options);
}

}  // namespace headroom
