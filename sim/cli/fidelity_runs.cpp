#include "cli/fidelity_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/utc.h"
#include "cli/engine_process.h"

namespace headroom::cli {
namespace {

using fidelity::Entry;
using fidelity::Prediction;
using fidelity::RunSummary;
namespace fs = std::filesystem;

constexpr int64_t kTextLimit_bytes = 64 * kMiB;

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

double seconds(int64_t ns) {
    return static_cast<double>(ns) * 1e-9;
}

bool selects(const Plan& plan) {
    return plan.decisions.attention.sparse && plan.chunks() > 1;
}

// An open file that a process writes its messages to.
class Messages {
public:
    explicit Messages(const fs::path& path)
        : fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {}
    ~Messages() {
        if (fd_ >= 0) ::close(fd_);
    }
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;
    int fd() const { return fd_; }

private:
    int fd_;
};

}  // namespace

FidelityRuns::FidelityRuns(const FidelityOptions& options, fidelity::Suite suite, fs::path data)
    : options_(options), suite_(std::move(suite)), data_(std::move(data)), folder_(options.folder) {
    results_.suite = suite_.name;
    results_.title = suite_.title;
    results_.hardware = suite_.hardware;
    for (const fidelity::SuitePlan& p : suite_.plans) {
        results_.entries.emplace_back();
        results_.entries.back().plan = p;
    }
}

bool FidelityRuns::wanted(const std::string& name, const std::string& ladder) const {
    const auto named = [&](const std::string& n) {
        return !n.empty() && std::find(options_.only.begin(), options_.only.end(), n) != options_.only.end();
    };
    return options_.only.empty() || named(name) || named(ladder);
}

// What is named again is run again.
bool FidelityRuns::to_run(const Entry& e) const {
    return wanted(e.plan.name, e.plan.ladder) && e.prediction &&
           (!e.run || (!options_.only.empty() && e.run->set != (set_ ? set_->id : 0)));
}

// What a run takes beside its start and its steps: host memory is pinned, as fast as the hardware file of the
// prediction says, and weights are drawn by the processor and copied (0.3 s a GiB on 16 cores).
double FidelityRuns::preparing_seconds(const Prediction& p) const {
    constexpr double kDraw = 0.3;
    auto known = pin_seconds_per_gib_.find(p.hardware);
    if (known == pin_seconds_per_gib_.end()) {
        // A file that is not there any more only worsens an estimate.
        const Result<Hardware> hardware = read_hardware(p.hardware, data_);
        known = pin_seconds_per_gib_.emplace(p.hardware, hardware ? hardware->pin_seconds_per_gib : 0).first;
    }
    const int64_t weights = p.figures.tiers[0].category_peaks[static_cast<size_t>(Category::weights)];
    return (known->second * static_cast<double>(p.need_bytes[1]) + kDraw * static_cast<double>(weights)) /
           static_cast<double>(kGiB);
}

// Steps as predicted, and a tenth more.
double FidelityRuns::expected_seconds(const Entry& e) const {
    if (!e.prediction) return 0;
    const double beside =
        observed_ > 1 ? beside_seconds_ / static_cast<double>(observed_) : suite_.start_seconds;
    return beside + preparing_seconds(*e.prediction) +
           1.1 * static_cast<double>(e.plan.steps) * seconds(e.prediction->figures.step_ns);
}

double FidelityRuns::expected_seconds() const {
    double sum = 0;
    for (const Entry& e : results_.entries) {
        if (!to_run(e)) continue;
        sum += expected_seconds(e) * (e.plan.repeat ? 2 : 1);
    }
    for (const fidelity::LadderResult& l : results_.ladders)
        for (const Entry& e : l.rungs)
            if (to_run(e) && options_.device != "cpu") sum += expected_seconds(e);
    return sum;
}

double FidelityRuns::left_seconds() const {
    if (options_.budget_seconds <= 0) return 1e18;
    return options_.budget_seconds - std::chrono::duration<double>(Clock::now() - begin_).count();
}

std::string FidelityRuns::failure_of(const std::string& log, int exit_code) const {
    const Result<std::string> text = read_file(folder_.file(log), kTextLimit_bytes);
    std::string last;
    for (size_t at = 0; text && at < text->size();) {
        const size_t end = std::min(text->find('\n', at), text->size());
        const std::string line = text->substr(at, end - at);
        // The engine's own message, else the last one.
        if (!line.empty() &&
            (line.starts_with("headroom-engine: ") || !last.starts_with("headroom-engine: ")))
            last = line;
        at = end + 1;
    }
    if (last.size() > 400) last.resize(400);
    return fmt::format("exit code {}{}", exit_code, last.empty() ? "" : ": " + last);
}

Result<RunSummary> FidelityRuns::run_plan(const Entry& e, const std::string& file_name) {
    HEADROOM_TRY(const Plan plan, read_plan(folder_.file(e.plan.name + ".plan.json")));
    const std::string trace = file_name + ".trace.json.gz", selection = file_name + ".selection.json",
                      log = file_name + ".log";
    folder_.remove(trace);
    std::vector<std::string> words{"run", "--device=" + options_.device,
                                   "--steps=" + std::to_string(e.plan.steps),
                                   "--seed=" + std::to_string(e.plan.seed)};
    if (e.plan.no_device_check) words.emplace_back("--no-device-check");
    words.insert(words.end(), options_.run_options.begin(), options_.run_options.end());
    RunSummary s;
    s.command = "headroom";
    for (const std::string& w : words) s.command += " " + w;
    s.command += " " + e.plan.name + ".plan.json";
    words.push_back("--output=" + folder_.file(trace).string());
    if (selects(plan)) words.push_back("--record-selection=" + folder_.file(selection).string());
    words.insert(words.begin(), engine_path());
    words.emplace_back("--");
    words.push_back(folder_.file(e.plan.name + ".plan.json").string());

    fidelity::EngineTold told;
    const auto start = Clock::now();
    Messages messages(folder_.file(log));
    HEADROOM_TRY(s.exit_code, run_engine(
                                  std::move(words), [&](const std::string& line) { take_line(told, line); },
                                  messages.fd()));
    s.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    HEADROOM_CHECK(check_interrupt("fidelity"));
    s.name = file_name;
    s.set = set_ ? set_->id : 0;
    s.date = utc_now();
    s.plan = write_plan(plan);
    s.plan_hash = plan_hash(plan);
    if (s.exit_code != 0) {
        s.failure = failure_of(log, s.exit_code);
    } else if (const Result<Timeline> timeline = read_timeline(folder_.file(trace)); timeline) {
        take_timeline(s, *timeline);
    } else {
        s.failure = timeline.error().text();
    }
    take_told(s, told);
    s.commit = options_.commit;
    if (!options_.keep) folder_.remove(trace);
    std::error_code ignored;
    if (fs::file_size(folder_.file(log), ignored) == 0) folder_.remove(log);
    return s;
}

Result<void> FidelityRuns::take_selection(Entry& e, const std::string& file_name, RunSummary& s) {
    const std::string plain = file_name + ".selection.json";
    if (!s.ran() || !folder_.has(plain)) return {};
    HEADROOM_TRY(const std::string text, read_file(folder_.file(plain), 2 * kGiB));
    HEADROOM_TRY(const RecordedSelection recorded, parse_selection(text, folder_.file(plain).string()));
    HEADROOM_CHECK(write_file(folder_.file(plain + ".gz"), gzip(text)));
    folder_.remove(plain);
    HEADROOM_TRY(const Plan plan, parse_plan(s.plan, e.plan.name));
    s.selection = fidelity::sample_of(recorded, plan.decisions.attention);
    HEADROOM_CHECK(predict_recorded(e, plan));
    return write_file(folder_.file(e.plan.name + ".recorded.json"), fidelity::write_prediction(*e.recorded));
}

Result<bool> FidelityRuns::run_entry(Entry& e, double reserved_seconds) {
    HEADROOM_CHECK(check_interrupt("fidelity"));
    const double expected = expected_seconds(e), left = left_seconds() - reserved_seconds;
    const double step = seconds(e.prediction->figures.step_ns);
    if (expected > left) {
        e.missing = fmt::format("left out: it would take {:.0f} s, and {:.0f} s are left", expected,
                                std::max(0.0, left));
        say(fmt::format("{}: {}", e.plan.name, e.missing));
        return false;
    }
    HEADROOM_TRY(RunSummary s, run_plan(e, e.plan.name));
    HEADROOM_CHECK(take_selection(e, e.plan.name, s));
    HEADROOM_CHECK(folder_.write(s));
    e.missing.clear();
    if (!s.ran()) {
        say(fmt::format("{}: predicted {:.4g} s; {} ({:.1f} s)", e.plan.name, step, s.failure,
                        s.wall_seconds));
    } else {
        double steps = 0;
        for (const double v : s.step_seconds) steps += v;
        beside_seconds_ += std::max(0.0, s.wall_seconds - steps - preparing_seconds(*e.prediction));
        ++observed_;
        say(fmt::format("{}: predicted {:.4g} s, measured {:.4g} s, {:+.2f} % ({:.1f} s in all)", e.plan.name,
                        step, seconds(s.figures.step_ns),
                        100 * (step / seconds(std::max<int64_t>(1, s.figures.step_ns)) - 1), s.wall_seconds));
        if (set_ && set_->machine.empty()) set_->machine = s.machine;
    }
    e.run = std::move(s);
    HEADROOM_CHECK(write_table());
    return true;
}

Result<void> FidelityRuns::read_calibration() {
    if (!options_.calibrate_exists || options_.device != "cuda") {
        set_->calibration_not_read =
            options_.device != "cuda" ? "on the CPU" : "this program has no command 'calibrate'";
        return {};
    }
    std::error_code ignored;
    const fs::path file = data_ / "models" / "hardware" / (suite_.hardware + ".toml");
    std::vector<std::string> words{fs::read_symlink("/proc/self/exe", ignored).string(), "calibrate",
                                   "--check",
                                   fs::is_regular_file(file, ignored) ? file.string() : suite_.hardware};
    Messages messages(folder_.file("calibration.log"));
    HEADROOM_TRY(const int code,
                 run_engine(
                     std::move(words), [&](const std::string& line) { set_->calibration.push_back(line); },
                     messages.fd()));
    HEADROOM_CHECK(check_interrupt("fidelity"));
    if (code != 0 && code != exit_code(Fault::outside_tolerance)) {
        set_->calibration.clear();
        set_->calibration_not_read = failure_of("calibration.log", code);
    }
    return {};
}

Result<void> FidelityRuns::begin_set() {
    set_.emplace();
    set_->id = results_.sets.empty() ? 1 : results_.sets.back().id + 1;
    set_->date = utc_now();
    set_->commit = options_.commit;
    HEADROOM_CHECK(read_calibration());
    for (Entry& e : results_.entries) {
        if (!e.plan.repeat || !e.prediction) continue;
        repeated_ = &e;
        set_->repeated = e.plan.name;
        // The first time it is the plan's own run.
        if (to_run(e)) {
            HEADROOM_TRY(const bool ran, run_entry(e, 0));
            if (ran && e.run->ran()) set_->repeat_step_ns.push_back(e.run->figures.step_ns);
        } else if (expected_seconds(e) < left_seconds()) {
            HEADROOM_TRY(const RunSummary s, run_plan(e, fmt::format("{}.set{}", e.plan.name, set_->id)));
            if (s.ran()) set_->repeat_step_ns.push_back(s.figures.step_ns);
            set_->machine = s.machine;
        }
        break;
    }
    return {};
}

Result<void> FidelityRuns::end_set() {
    if (repeated_ != nullptr && repeated_->prediction && !set_->repeat_step_ns.empty() &&
        expected_seconds(*repeated_) < left_seconds()) {
        HEADROOM_TRY(const RunSummary s,
                     run_plan(*repeated_, fmt::format("{}.set{}", set_->repeated, set_->id)));
        if (s.ran()) set_->repeat_step_ns.push_back(s.figures.step_ns);
        folder_.remove(s.name + ".selection.json");
    }
    return {};
}

Result<void> FidelityRuns::write_table() {
    results_.rankings.clear();
    for (const fidelity::Ranking& r : suite_.rankings) results_.rankings.push_back(rank(r, results_.entries));
    fidelity::Results shown = results_;
    if (set_ && !set_->machine.empty()) {
        shown.sets.push_back(*set_);
        HEADROOM_CHECK(folder_.write(*set_));
    }
    return folder_.write(shown);
}

Result<void> FidelityRuns::run() {
    const Result<void> done = run_all();
    if (!done && done.error().fault == Fault::interrupted) {
        // The table of what is done is written all the same; a second Ctrl-C stops that too.
        clear_interrupt();
        HEADROOM_CHECK(write_table());
    }
    return done;
}

Result<void> FidelityRuns::run_all() {
    const auto last = [&] { return repeated_ != nullptr ? expected_seconds(*repeated_) : 0; };
    HEADROOM_CHECK(begin_set());
    for (Entry& e : results_.entries) {
        if (!to_run(e)) continue;
        HEADROOM_CHECK(run_entry(e, last()));
    }
    for (fidelity::LadderResult& l : results_.ladders) {
        for (Entry& e : l.rungs) {
            if (options_.device == "cpu") break;
            if (to_run(e)) HEADROOM_CHECK(run_entry(e, last()));
            // Until a real allocation fails.
            if (e.run && !e.run->ran()) break;
        }
    }
    HEADROOM_CHECK(end_set());
    HEADROOM_CHECK(write_table());
    say_selection();
    results_.sets.push_back(*set_);
    return {};
}

bool FidelityRuns::any_failed() const {
    return std::any_of(results_.entries.begin(), results_.entries.end(),
                       [](const Entry& e) { return e.run && !e.run->ran(); });
}

}  // namespace headroom::cli
