#include "gui/model/answer_tables.h"

#include <QCoreApplication>
#include <algorithm>

#include "gui/model/text.h"
#include "plan/decision_text.h"

namespace headroom::gui {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("AnswerTables", text);
}

Cell words(QString text) {
    return Cell{std::move(text), {}, {}, false, false};
}
Cell bytes_cell(int64_t bytes) {
    return number_cell(bytes_text(bytes), static_cast<double>(bytes));
}
Cell time_cell(int64_t ns) {
    return number_cell(time_text(ns), static_cast<double>(ns) * 1e-9);
}

double ratio(int64_t part, int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

constexpr size_t kLongestKinds = 6;

}  // namespace

std::vector<Share> shares_of(const TierNeed& need) {
    std::vector<Share> list;
    for (size_t c = 0; c < kCategories; ++c) {
        if (need.peak.by_category[c] > 0)
            list.push_back({static_cast<Category>(c), need.peak.by_category[c]});
    }
    if (need.need_bytes > need.peak.bytes && need.peak.bytes > 0)
        list.push_back({Category::slack, need.need_bytes - need.peak.bytes});
    std::stable_sort(list.begin(), list.end(),
                     [](const Share& a, const Share& b) { return a.bytes > b.bytes; });
    return list;
}

TableData tier_table(const std::array<TierNeed, kTiers>& tiers) {
    TableData t;
    t.header = {tr("Tier"), tr("Bytes of"), tr("At its worst instant")};
    t.csv_header = {"tier", "category", "bytes"};
    for (size_t i = 0; i < kTiers; ++i) {
        const TierNeed& need = tiers[i];
        if (need.need_bytes == 0) continue;
        const QString tier = label_of(static_cast<Tier>(i));
        const auto line = [&](const QString& what, int64_t bytes, bool strong) {
            std::vector<Cell> row{words(tier), words(what), bytes_cell(bytes)};
            for (Cell& c : row) c.strong = strong;
            t.rows.push_back(std::move(row));
        };
        line(tr("needs"), need.need_bytes, true);
        line(tr("budget"), need.budget_bytes, true);
        line(tr("headroom"), need.headroom(), true);
        for (const Share& s : shares_of(need)) line(label_of(s.category), s.bytes, false);
    }
    return t;
}

TableData figure_table(const Answer& a) {
    TableData t;
    t.header = {tr("Figure"), tr("Value"), tr("Of the step")};
    t.csv_header = {"figure", "value", "share_of_step"};
    const Statistics& s = a.evaluation.statistics;
    const auto add = [&](const QString& what, Cell value, double share) {
        t.rows.push_back(
            {words(what), std::move(value), share < 0 ? words("") : number_cell(percent_text(share), share)});
    };
    add(tr("step"), time_cell(a.evaluation.step_ns), 1);
    t.rows.back()[0].strong = t.rows.back()[1].strong = true;
    add(tr("tokens/s"),
        number_cell(count_text(static_cast<int64_t>(a.tokens_per_second)), a.tokens_per_second), -1);
    add(tr("MFU"), number_cell(percent_text(a.mfu), a.mfu), -1);
    for (const Pass pass : {Pass::fill, Pass::gradient, Pass::update}) {
        const int64_t ns = s.pass_ns[static_cast<size_t>(pass)];
        if (ns > 0)
            add(pass == Pass::update ? tr("update") : label_of(pass) + tr(" pass"), time_cell(ns),
                ratio(ns, s.duration_ns));
    }
    for (size_t i = 0; i < kStreams; ++i) {
        if (s.streams[i].busy_ns == 0) continue;
        add(tr("%1 busy").arg(label_of(static_cast<Stream>(i))), time_cell(s.streams[i].busy_ns),
            ratio(s.streams[i].busy_ns, s.duration_ns));
    }
    add(tr("transfers hidden behind compute"), number_cell(percent_text(s.hidden_share), s.hidden_share), -1);
    std::vector<size_t> kinds;
    for (size_t k = 0; k < kOpKinds; ++k) {
        if (s.critical_ns[k] > 0) kinds.push_back(k);
    }
    std::stable_sort(kinds.begin(), kinds.end(),
                     [&](size_t x, size_t y) { return s.critical_ns[x] > s.critical_ns[y]; });
    for (size_t i = 0; i < std::min(kLongestKinds, kinds.size()); ++i) {
        const int64_t ns = s.critical_ns[kinds[i]];
        add(tr("critical path: %1").arg(label_of(static_cast<OpKind>(kinds[i]))), time_cell(ns),
            ratio(ns, s.duration_ns));
    }
    return t;
}

TableData gain_table(const Answer& a) {
    TableData t;
    t.header = {tr("What more"), tr("Less time a step"), tr("What the plan would do differently")};
    t.csv_header = {"what", "saved_s", "changes"};
    for (const Gain& g : a.gains) {
        const int64_t saved = g.saved_ns(a.evaluation.step_ns);
        const bool any = saved > 0;
        Cell cell = number_cell(
            any ? QString("%1 (%2)").arg(time_text(saved), percent_text(ratio(saved, a.evaluation.step_ns)))
                : tr("nothing"),
            static_cast<double>(saved) * 1e-9);
        Cell changes = words(any ? text_of(g.changes).replace('_', ' ') : QString());
        changes.tip = changes.text;
        t.rows.push_back({words(text_of(g.what)), std::move(cell), std::move(changes)});
    }
    return t;
}

TableData remedy_table(const Answer& a) {
    TableData t;
    t.header = {tr("Change"), tr("Step"), tr("Training run")};
    t.csv_header = {"change", "step_s", "another_run"};
    for (const Remedy& r : a.remedies) {
        Cell run = words(r.changes_result ? tr("another one") : tr("the same"));
        run.sort = r.changes_result;
        t.rows.push_back({words(text_of(r.what)), time_cell(r.step_ns), std::move(run)});
        t.rows.back()[0].tip = "--set '" + text_of(r.setting) + "'";
    }
    return t;
}

TableData decision_table(const Plan& plan, const Scenario* scenario) {
    TableData t;
    t.header = {tr("Decision"), tr("Value"), tr("Taken by")};
    t.csv_header = {"key", "value", "taken_by"};
    for (const auto& [key, value] : decision_texts(plan.decisions)) {
        const bool fixed = scenario == nullptr || scenario->fixed.contains(key);
        Cell name = words(text_of(key).replace('_', ' '));
        name.tip = "plan." + text_of(key);
        t.rows.push_back({std::move(name), words(text_of(value)),
                          words(scenario == nullptr               ? tr("the plan")
                                : fixed                           ? tr("the scenario")
                                : planner_decides(*scenario, key) ? tr("the planner")
                                                                  : tr("the default"))});
        t.rows.back()[1].strong = fixed && scenario != nullptr;
    }
    return t;
}

}  // namespace headroom::gui
