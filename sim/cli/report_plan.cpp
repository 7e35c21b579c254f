#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "cli/report.h"
#include "search/disk_cost.h"

namespace headroom::cli {
namespace {

double gib(int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(kGiB);
}
double percent(int64_t part, int64_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}
std::string seconds(int64_t ns) {
    return format_time(Nanoseconds(ns));
}

// Owners of the worst instant, largest first; what is allocated but owned by no one is slack.
std::vector<std::pair<std::string, int64_t>> owners(const TierNeed& t) {
    std::vector<std::pair<std::string, int64_t>> list;
    for (size_t c = 0; c < kCategories; ++c) {
        if (t.peak.by_category[c] > 0)
            list.emplace_back(name_of(static_cast<Category>(c)), t.peak.by_category[c]);
    }
    if (t.need_bytes > t.peak.bytes) list.emplace_back("slack", t.need_bytes - t.peak.bytes);
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return list;
}

// Kinds of op by their part of the critical path, largest first.
std::vector<std::pair<std::string, int64_t>> critical(const Statistics& s) {
    std::vector<std::pair<std::string, int64_t>> list;
    for (size_t k = 0; k < kOpKinds; ++k) {
        if (s.critical_ns[k] > 0) list.emplace_back(name_of(static_cast<OpKind>(k)), s.critical_ns[k]);
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return list;
}

struct TrafficSums {
    int64_t chunks_layers = 0, selected = 0, loaded = 0, hit = 0, evicted = 0, written = 0, first_touched = 0,
            gradients_loaded = 0, most_selected = 0, loaded_bytes = 0, written_bytes = 0;
};

TrafficSums traffic_sums(const Evaluation& e, Pass pass) {
    TrafficSums s;
    for (const Traffic& t : e.traffic) {
        if (t.pass != pass) continue;
        s.chunks_layers += t.selected > 0 ? 1 : 0;
        s.selected += t.selected;
        s.most_selected = std::max<int64_t>(s.most_selected, t.selected);
        s.loaded += t.loaded;
        s.hit += t.hit;
        s.evicted += t.evicted;
        s.written += t.written_back;
        s.first_touched += t.first_touched;
        s.gradients_loaded += t.gradients_loaded;
        s.loaded_bytes += t.loaded_bytes;
        s.written_bytes += t.written_bytes;
    }
    return s;
}

std::string homes_text(const Decisions& d) {
    return fmt::format("weights {}, gradients {}, optimizer states {}", name_of(d.weights_home),
                       name_of(d.gradients_home), name_of(d.states_home));
}

std::string residency_text(const Residency& r, int64_t layers) {
    if (r.device_layers == layers) return "device";
    std::string text = r.device_layers == 0 ? "host"
                                            : fmt::format("device for {} of {} layers, host for the others",
                                                          r.device_layers, layers);
    if (r.device_chunks > 0) text += fmt::format(" (first {} chunks on the device)", r.device_chunks);
    if (r.disk_chunks > 0) text += fmt::format(" (last {} chunks on disk)", r.disk_chunks);
    return text;
}

std::string recipe_text(const Recipe& r) {
    static constexpr const char* names[] = {"no optimizer", "SGD", "AdamW", "8-bit AdamW"};
    std::string text = names[static_cast<size_t>(r.optimizer)];
    if (r.optimizer == Optimizer::adamw) text += fmt::format(" ({} states)", name_of(r.states));
    text += fmt::format(", {} gradients", name_of(r.gradients));
    if (r.master_weights) text += ", fp32 master weights";
    if (r.lora_rank > 0)
        text += fmt::format(", LoRA rank {} on {}", r.lora_rank, fmt::join(r.lora_targets, ", "));
    if (r.batch > 1) text += fmt::format(", batch {}", r.batch);
    return text;
}

// What is trained in figures: parameters, KV, and where the FLOPs of a forward pass go.
std::string model_line(const Plan& p) {
    const Parameters n = count_parameters(p.model);
    const Flops f = forward_flops(p.model, p.context);
    const std::string active =
        n.active < n.total() ? fmt::format(" ({} visited by a token)", format_integer(n.active)) : "";
    return fmt::format(
        "model       {} parameters{}; K and V {} bytes a token; FLOPs: attention {:.0f} %, projections "
        "{:.0f} %, MLP {:.0f} %, head {:.0f} %\n",
        format_integer(n.total()), active,
        format_integer(kv_bytes_per_token(p.model, p.decisions.kv).count()), 100 * f.attention / f.total(),
        100 * f.attention_projections / f.total(), 100 * f.mlp / f.total(), 100 * f.head / f.total());
}

// Empty where no pages are on disk.
std::string disk_line(const Plan& p, const Evaluation& e) {
    const Result<std::optional<DiskCost>> cost = disk_cost(p, e);
    if (!cost || !*cost) return "";
    return fmt::format(
        "disk        the step waits for it {:.1f} % of the time; with these pages on the host: {}, {} of "
        "host "
        "memory\n",
        percent((*cost)->waits_ns, e.step_ns), seconds((*cost)->step_ns),
        format_bytes(Bytes((*cost)->host_bytes)));
}

std::string plan_lines(const Plan& p) {
    const Decisions& d = p.decisions;
    const int64_t layers = p.model.layer_count();
    std::string text = fmt::format("plan        {}, chunk {}, page {}", d.strategy, format_tokens(d.chunk),
                                   format_tokens(d.page));
    if (p.gpus > 1) text += fmt::format(", {} GPUs", p.gpus);
    if (d.attention.sparse) {
        text += fmt::format("; sparse attention: {} pages selected by each {} queries", d.attention.budget,
                            format_tokens(Tokens(d.attention.block)));
        if (d.attention.waiting > 0) {
            text += fmt::format(", so that the gradients of at most {} of a layer wait at once",
                                format_integer(d.attention.waiting));
        }
    } else {
        text += "; dense (exact) attention";
    }
    text += fmt::format("\n            {}\n", homes_text(d));
    if (p.chunks() > 1) {
        text += fmt::format("            K and V ({}): {}; dK and dV ({}): {}\n", name_of(d.kv),
                            residency_text(d.kv_residency, layers), name_of(d.kv_gradients),
                            residency_text(d.kv_gradient_residency, layers));
    }
    text += fmt::format("            activations: {}; attention outputs: {}", name_of(d.activations),
                        name_of(d.attention_outputs));
    if (p.chunks() > 1) {
        text += fmt::format("; {} staging slots, prefetch {}, {} copies", d.staging_slots, d.prefetch,
                            name_of(d.page_copy));
        if (d.page_cache.count() > 0) text += fmt::format(", page cache {}", format_bytes(d.page_cache));
        if (d.wavefront > 1) text += fmt::format(", {} chunks in flight", d.wavefront);
    }
    return text + "\n";
}

}  // namespace

std::string verdict_text(const Answer& a) {
    std::string text = a.fits() ? "FITS" : "DOES NOT FIT";
    std::vector<std::string> parts;
    for (size_t t = 0; t < kTiers; ++t) {
        const TierNeed& need = a.evaluation.tiers[t];
        const std::string tier(name_of(static_cast<Tier>(t)));
        if (need.headroom() < 0) {
            parts.push_back(fmt::format("{} short of {}", format_bytes(Bytes(-need.headroom())),
                                        tier == "disk" ? "disk" : tier + " memory"));
        } else if (a.fits() && need.need_bytes > 0) {
            parts.push_back(fmt::format("{} of {} left", format_bytes(Bytes(need.headroom())),
                                        tier == "disk" ? "disk" : tier + " memory"));
        }
    }
    return text + ": " + fmt::format("{}", fmt::join(parts, ", "));
}

std::string tiers_text(const Evaluation& e) {
    std::string text = fmt::format("{:<10}{:>14}{:>14}{:>14}   {}\n", "tier", "needs", "budget", "headroom",
                                   "at its worst instant (GiB)");
    for (size_t t = 0; t < kTiers; ++t) {
        const TierNeed& need = e.tiers[t];
        if (need.need_bytes == 0) continue;
        std::string who, line;
        std::vector<std::string> lines;
        for (const auto& [name, bytes] : owners(need)) {
            const std::string item = fmt::format("{} {:.2f}", name, gib(bytes));
            if (line.size() + item.size() > 58 && !line.empty()) {
                lines.push_back(line + ",");
                line.clear();
            }
            line += (line.empty() ? "" : ", ") + item;
        }
        lines.push_back(line);
        text += fmt::format("{:<10}{:>14}{:>14}{:>14}   {}\n", name_of(static_cast<Tier>(t)),
                            format_bytes(Bytes(need.need_bytes)), format_bytes(Bytes(need.budget_bytes)),
                            format_bytes(Bytes(need.headroom())), lines[0]);
        for (size_t i = 1; i < lines.size(); ++i) text += fmt::format("{:<55}{}\n", "", lines[i]);
    }
    return text;
}

std::string report_text(const Answer& a) {
    const Plan& p = a.plan;
    const Evaluation& e = a.evaluation;
    const Statistics& s = e.statistics;
    std::string text = fmt::format("{} on {}{}, context {} ({} tokens)\n", p.model.name,
                                   p.gpus > 1 ? fmt::format("{} x ", p.gpus) : "", p.hardware.title,
                                   format_tokens(p.context), format_integer(p.context.count()));
    text += fmt::format("{}\n", recipe_text(p.recipe));
    text += model_line(p);
    text += fmt::format("rates       {}\n\n", p.hardware.calibrated
                                                  ? "calibrated: " + p.hardware.provenance
                                                  : "UNCALIBRATED, from " + p.hardware.provenance);
    text += verdict_text(a) + "\n\n" + tiers_text(e) + "\n";

    text += fmt::format("step        {}   {} tokens/s   MFU {:.1f} %\n", seconds(e.step_ns),
                        format_integer(std::llround(a.tokens_per_second)), 100 * a.mfu);
    text += fmt::format("            fill {}, gradient {}, update {}\n",
                        seconds(s.pass_ns[static_cast<size_t>(Pass::fill)]),
                        seconds(s.pass_ns[static_cast<size_t>(Pass::gradient)]),
                        seconds(s.pass_ns[static_cast<size_t>(Pass::update)]));
    text += fmt::format("bound       {} (busy {:.1f} % of the step; no less than {})\n", a.bound_by,
                        percent(a.bound_ns, e.step_ns), seconds(a.bound_ns));
    std::string busy;
    for (size_t i = 0; i < kStreams; ++i) {
        if (s.streams[i].busy_ns == 0) continue;
        busy += fmt::format("{}{} {:.1f} %", busy.empty() ? "" : ", ", name_of(static_cast<Stream>(i)),
                            percent(s.streams[i].busy_ns, s.duration_ns));
    }
    text += fmt::format("streams     busy: {}\n", busy);
    text +=
        fmt::format("transfers   {:.1f} % of their time is hidden behind compute\n", 100 * s.hidden_share);
    std::string path;
    int shown = 0;
    for (const auto& [name, ns] : critical(s)) {
        if (shown++ == 6) break;
        path += fmt::format("{}{} {:.1f} %", path.empty() ? "" : ", ", name, percent(ns, s.duration_ns));
    }
    text += fmt::format("critical    {}\n", path);
    text += disk_line(p, e);
    if (p.decisions.attention.sparse && p.chunks() > 1) {
        const TrafficSums fill = traffic_sums(e, Pass::fill), back = traffic_sums(e, Pass::gradient);
        if (fill.chunks_layers > 0) {
            const bool limited = p.decisions.attention.waiting > 0 && p.selection.spread > 0;
            const std::string room =
                limited ? "all the gradient pages that may wait"
                        : fmt::format("{:.0f} % more gradient pages than it draws", 100 * p.selection.spread);
            text += fmt::format(
                "pages       a chunk reads {:.0f} distinct pages of a layer (most: {}); model of selections: "
                "{}; room for {}\n",
                static_cast<double>(fill.selected) / static_cast<double>(fill.chunks_layers),
                fill.most_selected, p.selection.source, room);
        }
        text += fmt::format(
            "            fill: {} loaded, {} hit in the cache, {} written; gradient: {} + {} of dK, dV "
            "loaded, {} written\n",
            format_integer(fill.loaded), format_integer(fill.hit), format_integer(fill.written),
            format_integer(back.loaded), format_integer(back.gradients_loaded), format_integer(back.written));
    }
    text += "\n" + plan_lines(p);
    if (a.scored > 0)
        text += fmt::format(
            "            {} candidates scored, {} simulated exactly ({} operations in the step)\n",
            format_integer(a.scored), a.simulated, format_integer(static_cast<int64_t>(e.ops)));

    if (!a.gains.empty()) {
        text += "\nwhat more would buy\n";
        for (const Gain& g : a.gains) {
            const int64_t saved = g.saved_ns(e.step_ns);
            if (saved == 0) {
                text += fmt::format("  {:<30} nothing\n", g.what);
            } else {
                text += fmt::format("  {:<30} {} less a step ({:.1f} %){}\n", g.what, seconds(saved),
                                    percent(saved, e.step_ns), g.changes.empty() ? "" : ": " + g.changes);
            }
        }
    }
    if (!a.fits() && a.remedies_tried) {
        text += a.remedies.empty() ? "\nno single change tried makes it fit\n"
                                   : "\nsingle changes that make it fit (each was applied and planned)\n";
        for (const Remedy& r : a.remedies) {
            text += fmt::format("  {:<52} step {:<12} --set '{}'{}\n", r.what, seconds(r.step_ns), r.setting,
                                r.changes_result ? "  (another training run)" : "");
        }
    }
    return text;
}

nlohmann::ordered_json tiers_json(const Evaluation& e) {
    nlohmann::ordered_json tiers;
    for (size_t t = 0; t < kTiers; ++t) {
        const TierNeed& need = e.tiers[t];
        nlohmann::ordered_json categories = nlohmann::ordered_json::object();
        for (const auto& [name, bytes] : owners(need)) categories[name] = bytes;
        tiers[std::string(name_of(static_cast<Tier>(t)))] = {
            {"need_bytes", need.need_bytes},     {"budget_bytes", need.budget_bytes},
            {"headroom_bytes", need.headroom()}, {"peak_bytes", need.peak.bytes},
            {"peak_ns", need.peak.time_ns},      {"by_category_bytes", categories}};
    }
    return tiers;
}

nlohmann::ordered_json report_json(const Answer& a) {
    const Evaluation& e = a.evaluation;
    const Statistics& s = e.statistics;
    nlohmann::ordered_json j;
    j["schema_version"] = 1;
    j["verdict"] = a.fits() ? "fits" : "does_not_fit";
    const Parameters parameters = count_parameters(a.plan.model);
    const Flops flops = forward_flops(a.plan.model, a.plan.context);
    j["model"] = {{"name", a.plan.model.name},
                  {"parameters", parameters.total()},
                  {"active_parameters", parameters.active},
                  {"kv_bytes_per_token", kv_bytes_per_token(a.plan.model, a.plan.decisions.kv).count()},
                  {"forward_flops",
                   {{"attention_projections", flops.attention_projections},
                    {"attention", flops.attention},
                    {"mlp", flops.mlp},
                    {"head", flops.head}}}};
    j["calibrated"] = a.plan.hardware.calibrated;
    j["rates"] = a.plan.hardware.provenance;
    j["tiers"] = tiers_json(e);
    j["step_ns"] = e.step_ns;
    j["tokens_per_second"] = a.tokens_per_second;
    j["mfu"] = a.mfu;
    for (size_t i = 0; i < s.pass_ns.size(); ++i)
        j["pass_ns"][std::string(name_of(static_cast<Pass>(i)))] = s.pass_ns[i];
    j["bound_by"] = a.bound_by;
    j["bound_ns"] = a.bound_ns;
    for (size_t i = 0; i < kStreams; ++i) {
        j["streams"][std::string(name_of(static_cast<Stream>(i)))] = {{"busy_ns", s.streams[i].busy_ns},
                                                                      {"hidden_ns", s.streams[i].hidden_ns},
                                                                      {"bytes", s.streams[i].bytes},
                                                                      {"ops", s.streams[i].ops}};
    }
    j["hidden_share"] = s.hidden_share;
    for (const auto& [name, ns] : critical(s)) j["critical_ns"][name] = ns;
    for (const Pass pass : {Pass::fill, Pass::gradient}) {
        const TrafficSums t = traffic_sums(e, pass);
        j["traffic"][std::string(name_of(pass))] = {{"selected_pages", t.selected},
                                                    {"loaded_pages", t.loaded},
                                                    {"cache_hit_pages", t.hit},
                                                    {"evicted_pages", t.evicted},
                                                    {"gradient_pages_loaded", t.gradients_loaded},
                                                    {"written_back_pages", t.written},
                                                    {"first_touched_pages", t.first_touched},
                                                    {"loaded_bytes", t.loaded_bytes},
                                                    {"written_bytes", t.written_bytes}};
    }
    if (const Result<std::optional<DiskCost>> cost = disk_cost(a.plan, e); cost && *cost)
        j["pages_on_disk"] = {{"waits_ns", (*cost)->waits_ns},
                              {"on_host_step_ns", (*cost)->step_ns},
                              {"on_host_need_bytes", (*cost)->host_bytes}};
    j["selection_source"] = a.plan.decisions.attention.sparse ? a.plan.selection.source : "";
    j["ops"] = e.ops;
    j["candidates_scored"] = a.scored;
    j["candidates_simulated"] = a.simulated;
    j["gains"] = nlohmann::ordered_json::array();
    for (const Gain& g : a.gains)
        j["gains"].push_back(
            {{"what", g.what}, {"fits", g.fits}, {"step_ns", g.step_ns}, {"changes", g.changes}});
    j["remedies"] = nlohmann::ordered_json::array();
    for (const Remedy& r : a.remedies) {
        j["remedies"].push_back({{"what", r.what},
                                 {"setting", r.setting},
                                 {"step_ns", r.step_ns},
                                 {"changes_result", r.changes_result}});
    }
    j["plan"] = nlohmann::ordered_json::parse(write_plan(a.plan));
    return j;
}

}  // namespace headroom::cli
