#include "fidelity/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "base/toml.h"
#include "strategy/strategy.h"

namespace headroom::fidelity {
namespace {

namespace fs = std::filesystem;

// finish() of a table names an unknown key; what is read before may leave early with its own error.
Result<Question> read_question(ConfigTable& table) {
    Question q;
    HEADROOM_TRY(q.scenario, table.get_or<std::string>("scenario", ""));
    HEADROOM_TRY(q.model, table.get_or<std::string>("model", ""));
    HEADROOM_TRY(q.set, table.get_or<std::vector<std::string>>("set", {}));
    if (q.scenario.empty() == q.model.empty())
        return fail(table.place(),
                    q.model.empty() ? "neither 'scenario' nor 'model'" : "'scenario' and 'model'",
                    "one of the two");
    return q;
}

Result<std::string> read_name(ConfigTable& table) {
    HEADROOM_TRY(std::string name, table.need<std::string>("name"));
    const bool good = !name.empty() && name.size() <= 80 && name[0] != '.' &&
                      std::all_of(name.begin(), name.end(), [](unsigned char c) {
                          return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                      });
    if (!good)
        return fail(table.place("name"), "'" + name + "'",
                    "1 to 80 letters, digits, '.', '_' and '-', not beginning with '.'");
    return name;
}

Result<int64_t> read_steps(ConfigTable& table, int64_t fallback) {
    HEADROOM_TRY(const int64_t steps, table.get_or<int64_t>("steps", fallback));
    if (steps < 1 || steps > 100) return fail(table.place("steps"), std::to_string(steps), "1 to 100");
    return steps;
}

Result<std::optional<SelectionModel>> read_selection_table(ConfigTable& of) {
    HEADROOM_TRY(std::optional<ConfigTable> table, of.get<ConfigTable>("selection"));
    if (!table) return std::optional<SelectionModel>();
    SelectionModel m;
    const struct {
        const char* key;
        double SelectionModel::*member;
        double low, high;
    } numbers[] = {{"block_reuse", &SelectionModel::block_reuse, 0, 1},
                   {"chunk_reuse", &SelectionModel::chunk_reuse, 0, 1},
                   {"popularity", &SelectionModel::popularity, 0, kMaxPopularity},
                   {"recency", &SelectionModel::recency, kMinRecency, kMaxRecency},
                   {"neighbours", &SelectionModel::neighbours, 0, kMaxNeighbours}};
    for (const auto& n : numbers) {
        HEADROOM_TRY(m.*n.member, table->get_or(n.key, m.*n.member));
        if (!(m.*n.member >= n.low && m.*n.member <= n.high))
            return fail(table->place(n.key), fmt::format("{}", m.*n.member),
                        fmt::format("{} to {}", n.low, n.high));
    }
    HEADROOM_TRY(m.source, table->need<std::string>("source"));
    HEADROOM_CHECK(table->finish());
    return std::optional(std::move(m));
}

Result<SuitePlan> read_plan_entry(ConfigTable table) {
    SuitePlan p;
    HEADROOM_TRY(p.name, read_name(table));
    HEADROOM_TRY(p.question, read_question(table));
    HEADROOM_TRY(p.steps, read_steps(table, 2));
    HEADROOM_TRY(p.seed, table.get_or<int64_t>("seed", 0));
    if (p.seed < 0) return fail(table.place("seed"), std::to_string(p.seed), "0 or more");
    HEADROOM_TRY(p.repeat, table.get_or("repeat", false));
    HEADROOM_TRY(p.selection, read_selection_table(table));
    p.half = half_of(p.name);
    HEADROOM_TRY(const std::string half, table.get_or<std::string>("half", std::string(name_of(p.half))));
    if (half != name_of(p.half))
        return fail(
            table.place("half"), "'" + half + "'",
            "'" + std::string(name_of(p.half)) + "', which the hash of the name '" + p.name + "' gives");
    p.place = table.place("name");
    HEADROOM_CHECK(table.finish());
    return p;
}

Result<Ladder> read_ladder(ConfigTable table) {
    Ladder l;
    HEADROOM_TRY(l.name, read_name(table));
    HEADROOM_TRY(l.question, read_question(table));
    HEADROOM_TRY(l.steps, read_steps(table, 1));
    HEADROOM_TRY(l.rungs, table.need<std::vector<double>>("rungs"));
    const bool good = !l.rungs.empty() && l.rungs.front() > -0.9 && l.rungs.back() < 10 &&
                      std::is_sorted(l.rungs.begin(), l.rungs.end());
    if (!good)
        return fail(table.place("rungs"), "rungs that do not ascend, or none",
                    "shares beside the limit, ascending, such as [0, 0.01]");
    l.place = table.place("name");
    HEADROOM_CHECK(table.finish());
    return l;
}

Result<Ranking> read_ranking(ConfigTable table) {
    Ranking r;
    HEADROOM_TRY(r.name, read_name(table));
    HEADROOM_TRY(r.plans, table.need<std::vector<std::string>>("plans"));
    if (r.plans.size() < 2)
        return fail(table.place("plans"), std::to_string(r.plans.size()) + " plans", "2 or more");
    r.place = table.place("plans");
    HEADROOM_CHECK(table.finish());
    return r;
}

template <class T, class Read>
Result<std::vector<T>> read_list(ConfigTable& root, const char* key, Read read) {
    std::vector<T> out;
    HEADROOM_TRY(const std::vector<ConfigTable> tables, root.get_or<std::vector<ConfigTable>>(key, {}));
    for (const ConfigTable& table : tables) {
        HEADROOM_TRY(T item, read(table));
        out.push_back(std::move(item));
    }
    return out;
}

Result<void> check_names(const Suite& s) {
    std::set<std::string> names;
    std::vector<std::string> plans;
    for (const SuitePlan& p : s.plans) {
        if (!names.insert(p.name).second)
            return fail(p.place, "'" + p.name + "', a second time", "a name of its own");
        plans.push_back(p.name);
    }
    for (const Ladder& l : s.ladders)
        if (!names.insert(l.name).second)
            return fail(l.place, "'" + l.name + "', a second time", "a name of its own");
    for (const Ranking& r : s.rankings) {
        for (const std::string& name : r.plans) {
            if (std::find(plans.begin(), plans.end(), name) != plans.end()) continue;
            const std::string near = nearest(name, plans);
            return fail(r.place, "'" + name + "'" + (near.empty() ? "" : " (did you mean '" + near + "'?)"),
                        "names of plans of this suite");
        }
    }
    return {};
}

// A table in quotes and braces of its own text: TOML's basic strings.
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

}  // namespace

std::string_view name_of(Half half) {
    return half == Half::fit ? "fit" : "unseen";
}

Half half_of(std::string_view plan_name) {
    uint64_t hash = 14695981039346656037u;
    for (const char c : plan_name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return (hash >> 32 & 1) != 0 ? Half::unseen : Half::fit;
}

Result<Suite> parse_suite(std::string_view toml, const std::string& where) {
    HEADROOM_TRY(ConfigTable root, parse_toml(toml, where));
    Suite s;
    s.path = where;
    s.name = fs::path(where).stem().string();
    HEADROOM_TRY(s.title, root.get_or<std::string>("title", ""));
    HEADROOM_TRY(s.hardware, root.need<std::string>("hardware"));
    HEADROOM_TRY(s.set, root.get_or<std::vector<std::string>>("set", {}));
    HEADROOM_TRY(s.start_seconds, root.get_or("start_seconds", s.start_seconds));
    if (s.start_seconds < 0 || s.start_seconds > 3600)
        return fail(root.place("start_seconds"), std::to_string(s.start_seconds), "0 to 3600 seconds");
    HEADROOM_TRY(s.selection, read_selection_table(root));
    HEADROOM_TRY(s.plans, read_list<SuitePlan>(root, "plan", read_plan_entry));
    HEADROOM_TRY(s.ladders, read_list<Ladder>(root, "ladder", read_ladder));
    HEADROOM_TRY(s.rankings, read_list<Ranking>(root, "ranking", read_ranking));
    HEADROOM_CHECK(root.finish());
    if (s.plans.empty()) return fail(where, "no [[plan]]", "one or more");
    HEADROOM_CHECK(check_names(s));
    return s;
}

Result<Suite> read_suite(const fs::path& path) {
    HEADROOM_TRY(const std::string text, read_file(path, kMiB));
    return parse_suite(text, path.string());
}

void use_hardware(Suite& suite, const std::string& name_or_path) {
    suite.hardware = name_or_path;
    const std::string word = "hardware=" + name_or_path;
    for (SuitePlan& p : suite.plans) p.question.set.push_back(word);
    for (Ladder& l : suite.ladders) l.question.set.push_back(word);
}

Result<Scenario> scenario_of(const Suite& suite, const Question& question, const std::string& name,
                             const std::string& place, const fs::path& data) {
    std::vector<std::string> set = suite.set;
    set.insert(set.end(), question.set.begin(), question.set.end());
    const fs::path folder = fs::path(suite.path).parent_path();
    Result<Scenario> s = [&]() -> Result<Scenario> {
        if (!question.model.empty())
            // The context stands in 'set'; without it this one is refused by nobody and shown in the table.
            return parse_scenario("model = " + quoted(question.model) +
                                      "\nhardware = " + quoted(suite.hardware) + "\ncontext = 8192\n",
                                  name, folder, data, set);
        std::error_code ignored;
        const fs::path beside = folder / question.scenario;
        const fs::path shipped = data / "scenarios" / (question.scenario + ".toml");
        return read_scenario(fs::is_regular_file(beside, ignored) ? beside : shipped, data, set);
    }();
    const auto here = [&](Error e) {
        e.where = place + ": " + e.where;
        return tl::unexpected<Error>(std::move(e));
    };
    if (!s) return here(s.error());
    if (const Result<void> ok = check_strategy(*s); !ok) return here(ok.error());
    s->name = s->plan.name = name;
    return s;
}

}  // namespace headroom::fidelity
