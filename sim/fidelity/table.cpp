// The table of a suite as Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "fidelity/report.h"
#include "program/names.h"

namespace headroom::fidelity {
namespace {

std::string percent(double v) {
    return std::isfinite(v) ? fmt::format("{:+.2f} %", 100 * v) : "new";
}
std::string share(double v) {
    return fmt::format("{:.1f} %", 100 * v);
}
std::string seconds(int64_t ns) {
    return fmt::format("{:.4g}", static_cast<double>(ns) * 1e-9);
}
std::string gib(int64_t bytes) {
    return fmt::format("{:.3f}", static_cast<double>(bytes) / static_cast<double>(kGiB));
}
// What would end a cell or a line of the table.
std::string cell(std::string text) {
    for (char& c : text)
        if (c == '|' || c == '\n' || c == '\r') c = ' ';
    return text;
}

std::string row(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& c : cells) line += " " + c + " |";
    return line + "\n";
}
std::string head(const std::vector<std::string>& cells) {
    std::string rule = "|";
    for (size_t i = 0; i < cells.size(); ++i) rule += "---|";
    return row(cells) + rule + "\n";
}

std::string mark(const std::optional<bool>& within) {
    return within ? (*within ? "yes" : "**no**") : "";
}
// An error, in bold where it is beyond its bound.
std::string error_of(const Finding& f) {
    return f.within() ? percent(f.error()) : "**" + percent(f.error()) + "**";
}
const Finding* find(const std::vector<Finding>& list, std::string_view what) {
    const auto at = std::find_if(list.begin(), list.end(), [&](const Finding& f) { return f.what == what; });
    return at == list.end() ? nullptr : &*at;
}

std::string sets_text(const Results& r) {
    std::string text = "## Machines\n\n" +
                       head({"set", "machine", "date", "commit", "plan repeated", "its step, s", "apart"});
    for (const RunSet& s : r.sets) {
        std::string times;
        for (const int64_t ns : s.repeat_step_ns) times += (times.empty() ? "" : ", ") + seconds(ns);
        text += row({std::to_string(s.id), cell(s.machine), s.date, s.commit, s.repeated, times,
                     s.repeat_step_ns.size() > 1 ? share(s.repeatability()) : ""});
    }
    for (const RunSet& s : r.sets) {
        if (!s.hardware.empty()) text += fmt::format("\nSet {} is predicted from {}.\n", s.id, s.hardware);
        text += fmt::format("\nCalibration read again in set {}: ", s.id);
        if (s.calibration.empty()) {
            text += "not read" + (s.calibration_not_read.empty() ? "" : " (" + s.calibration_not_read + ")") +
                    "\n";
            continue;
        }
        text += "\n\n```\n";
        for (const std::string& line : s.calibration) text += line + "\n";
        text += "```\n";
    }
    return text + "\n";
}

std::string steps_text(const Results& r) {
    std::string text =
        "## Step time\n\n" + head({"plan", "half", "set", "predicted, s", "measured, s", "error",
                                   "error, recorded selection", "tokens/s", "MFU", "losses"});
    for (const Entry& e : r.entries) {
        if (!e.judgeable()) continue;
        const RunSummary& run = *e.run;
        std::string recorded;
        if (e.recorded) {
            Finding f;
            f.predicted = e.recorded->figures.step_ns;
            f.measured = run.figures.step_ns;
            recorded = percent(f.error());
        }
        std::string losses;
        for (const double l : run.losses)
            losses +=
                (losses.empty() ? "" : ", ") + (std::isfinite(l) ? fmt::format("{:.3f}", l) : "no number");
        const std::vector<Finding> findings = judge(*e.prediction, run);
        text += row({e.plan.name, std::string(name_of(e.plan.half)), std::to_string(run.set),
                     seconds(e.prediction->figures.step_ns), seconds(run.figures.step_ns),
                     error_of(*find(findings, "step time")), recorded,
                     format_integer(static_cast<int64_t>(run.tokens_per_second)), share(run.mfu), losses});
    }
    return text + "\n";
}

std::string memory_text(const Results& r, const Bounds& bounds) {
    std::string text = "## Memory\n\nGiB, predicted / measured.\n\n" +
                       head({"plan", "device, live", "error", "worst category", "driver total", "error",
                             "host, live", "error", "pinned", "error"});
    for (const Entry& e : r.entries) {
        if (!e.judgeable()) continue;
        const std::vector<Finding> findings = judge(*e.prediction, *e.run, bounds);
        std::vector<std::string> cells{e.plan.name};
        const auto pair = [&](const char* what) {
            const Finding* f = find(findings, what);
            cells.push_back(f == nullptr ? "" : gib(f->predicted) + " / " + gib(f->measured));
            cells.push_back(f == nullptr ? "" : error_of(*f));
        };
        pair("device peak");
        const Finding* worst = nullptr;
        for (const Finding& f : findings) {
            const bool category = f.group == "memory" && f.judged && f.what != "driver total" &&
                                  f.what != "pinned" && !f.what.ends_with(" peak");
            if (category && (worst == nullptr || std::abs(f.error()) > std::abs(worst->error()))) worst = &f;
        }
        cells.push_back(worst == nullptr ? "" : worst->what + " " + error_of(*worst));
        for (const char* what : {"driver total", "host peak", "pinned"}) pair(what);
        text += row(cells);
    }
    return text + "\n";
}

std::string streams_text(const Results& r, const Bounds& bounds) {
    std::string text =
        "## Streams\n\nBusy seconds, predicted / measured; what is busy for under 1 % of the step is "
        "shown and not judged.\n\n" +
        head({"plan", "compute", "error", "to device", "error", "to host", "error",
              "hidden, predicted / measured"});
    for (const Entry& e : r.entries) {
        if (!e.judgeable()) continue;
        const std::vector<Finding> findings = judge(*e.prediction, *e.run, bounds);
        std::vector<std::string> cells{e.plan.name};
        for (const char* what : {"compute busy", "to_device busy", "to_host busy"}) {
            const Finding* f = find(findings, what);
            cells.push_back(f == nullptr ? "" : seconds(f->predicted) + " / " + seconds(f->measured));
            cells.push_back(f == nullptr ? "" : f->judged ? error_of(*f) : "(" + percent(f->error()) + ")");
        }
        cells.push_back(share(e.prediction->figures.hidden_share) + " / " +
                        share(e.run->figures.hidden_share));
        text += row(cells);
    }
    return text + "\n";
}

std::string kinds_text(const Results& r) {
    struct Sum {
        int64_t predicted = 0, measured = 0;
        double worst = 0;
        std::string where;
    };
    std::map<std::string, Sum> kinds;
    int64_t total = 0;
    for (const Entry& e : r.entries) {
        if (!e.judgeable()) continue;
        for (const Finding& f : judge(*e.prediction, *e.run)) {
            if (f.group != "kind") continue;
            Sum& s = kinds[f.what];
            s.predicted += f.predicted;
            s.measured += f.measured;
            total += f.measured;
            // Where it matters: a hundredth of the plan's step.
            if (f.measured * 100 >= e.run->figures.step_ns && std::abs(f.error()) >= std::abs(s.worst)) {
                s.worst = f.error();
                s.where = e.plan.name;
            }
        }
    }
    std::vector<std::pair<std::string, Sum>> sorted(kinds.begin(), kinds.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.measured > b.second.measured; });
    std::string text =
        "## Kinds of operations\n\nOver all plans; the worst among plans where the kind takes 1 % of the "
        "step.\n\n" +
        head({"kind", "share", "predicted, s", "measured, s", "error", "worst", "in"});
    for (const auto& [kind, s] : sorted) {
        Finding f;
        f.predicted = s.predicted;
        f.measured = s.measured;
        text +=
            row({kind, share(total > 0 ? static_cast<double>(s.measured) / static_cast<double>(total) : 0),
                 seconds(s.predicted), seconds(s.measured), percent(f.error()),
                 s.where.empty() ? "" : percent(s.worst), s.where});
    }
    return text + "\n";
}

std::string traffic_text(const Results& r) {
    std::string rows;
    for (const Entry& e : r.entries) {
        if (!e.judgeable() || !e.run->selection) continue;
        const TrafficFigures& t = e.run->figures.traffic;
        const auto against = [&](const Prediction& p, int64_t TrafficFigures::*member) {
            Finding f;
            f.predicted = p.figures.traffic.*member;
            f.measured = t.*member;
            return percent(f.error());
        };
        double distinct = 0, shared = 0;
        const SelectionSample& s = *e.run->selection;
        for (size_t c = 0; c < s.distinct.size(); ++c) {
            distinct += s.distinct[c];
            shared += s.shared[c];
        }
        const auto pages = [&](double v) {
            return s.distinct.empty() ? ""
                                      : fmt::format("{:.1f}", v / static_cast<double>(s.distinct.size()));
        };
        rows += row({e.plan.name, pages(distinct), distinct > 0 ? share(shared / distinct) : "",
                     fmt::format("{:.3f}, {:.3f}, {:.3f}, {:.3f}, {:.3f}", s.block_reuse, s.chunk_reuse,
                                 s.popularity, s.recency, s.neighbours),
                     fmt::format("{:.2f}", static_cast<double>(t.loaded_bytes) * 1e-9),
                     against(*e.prediction, &TrafficFigures::loaded_bytes),
                     e.recorded ? against(*e.recorded, &TrafficFigures::loaded_bytes) : "",
                     against(*e.prediction, &TrafficFigures::first_touched),
                     e.recorded ? against(*e.recorded, &TrafficFigures::first_touched) : ""});
    }
    if (rows.empty()) return "";
    return "## Sparse attention: traffic\n\nAn error that the recorded selection takes away is one of "
           "traffic, what it "
           "leaves is one of cost.\n\n" +
           head({"plan", "distinct pages a chunk", "shared with the chunk before",
                 "fitted block reuse, chunk reuse, popularity, recency, neighbours", "loaded, GB", "error",
                 "error, recorded selection", "gradient pages touched, error", "error, recorded selection"}) +
           rows + "\n";
}

std::string ladders_text(const Results& r, const Bounds& bounds) {
    std::string text;
    for (const LadderResult& l : r.ladders) {
        text += fmt::format(
            "## Ladder {}\n\nPredicted to fit: up to {} tokens. Each rung is run without looking at the "
            "device's memory first, until an allocation fails.\n\n",
            l.ladder.name, format_integer(l.limit.count()));
        text += head({"context", "beside the limit", "predicted, GiB", "said", "ran", "driver total, GiB",
                      "ended by"});
        for (size_t i = 0; i < l.rungs.size(); ++i) {
            const Entry& e = l.rungs[i];
            const double beside =
                static_cast<double>(l.contexts[i].count()) / static_cast<double>(l.limit.count()) - 1;
            text += row({format_integer(l.contexts[i].count()), percent(beside),
                         e.prediction ? gib(e.prediction->need_bytes[0]) : "",
                         e.prediction ? (e.prediction->fits() ? "fits" : "does not fit") : "",
                         !e.run         ? "not run"
                         : e.run->ran() ? "yes"
                                        : "no",
                         e.run && e.run->device_used_bytes > 0 ? gib(e.run->device_used_bytes) : "",
                         e.run ? cell(e.run->failure) : cell(e.missing)});
        }
        const std::optional<bool> right = l.right(bounds);
        text += fmt::format("\n{}\n\n", !right   ? "Not known: rungs are missing."
                                        : *right ? "The verdict is right."
                                                 : "**The verdict is wrong.**");
    }
    return text;
}

std::string rankings_text(const Results& r) {
    std::string text;
    for (const RankingResult& k : r.rankings) {
        text += fmt::format("## Ranking {}\n\n", k.ranking.name) +
                head({"ranked", "plan", "predicted, s", "measured, s"});
        for (size_t i = 0; i < k.entries.size(); ++i) {
            const Entry& e = r.entries[k.entries[i]];
            text += row({std::to_string(i + 1), e.plan.name, seconds(e.prediction->figures.step_ns),
                         e.judgeable() ? seconds(e.run->figures.step_ns) : "not run"});
        }
        text += k.lost ? fmt::format("\nThe plan ranked first takes {} longer than the fastest.\n\n",
                                     share(*k.lost))
                       : "\nNot known: a plan is missing.\n\n";
    }
    return text;
}

std::string missing_text(const Results& r) {
    std::string rows;
    for (const Entry& e : r.entries) {
        if (e.judgeable()) continue;
        const std::string why = e.run && !e.run->ran() ? "failed: " + e.run->failure
                                : !e.missing.empty()   ? e.missing
                                : e.prediction         ? "not run"
                                                       : "not predicted";
        rows += row({e.plan.name, std::string(name_of(e.plan.half)),
                     e.prediction ? seconds(e.prediction->figures.step_ns) : "", cell(why)});
    }
    return rows.empty() ? ""
                        : "## Not measured\n\n" + head({"plan", "half", "predicted, s", "why"}) + rows + "\n";
}

}  // namespace

std::string results_markdown(const Results& r, const Bounds& bounds) {
    std::string text = fmt::format("# {}\n\n", r.title.empty() ? r.suite : cell(r.title));
    text += fmt::format(
        "Suite {}, hardware file {}. Errors are (predicted - measured) / measured; bold is beyond its "
        "bound.\n\n",
        r.suite, r.hardware);
    text += head({"what", "found", "bound", "within", "where"});
    for (const Verdict& v : verdicts(r, bounds))
        text += row({v.what, v.found, v.bound, mark(v.within), v.where});
    text += "\n";
    text += sets_text(r) + steps_text(r) + memory_text(r, bounds) + streams_text(r, bounds) + kinds_text(r) +
            traffic_text(r) + ladders_text(r, bounds) + rankings_text(r) + missing_text(r);
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
}

}  // namespace headroom::fidelity
