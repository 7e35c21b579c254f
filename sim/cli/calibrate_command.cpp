// Measures this machine through the engine, fits the constants of the cost model, and writes a hardware file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/text.h"
#include "cli/calibrate_options.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/engine_process.h"
#include "cli/progress.h"
#include "cli/run_options.h"
#include "hardware/calibration.h"

namespace headroom::cli {
namespace {

using Json = nlohmann::json;

struct Options {
    CalibrateOptions measure;
    std::string output, like, rows, refit, check;
    double tolerance = 0.1;
};

std::string text_of(const Json& event, const char* key) {
    const auto found = event.find(key);
    return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

template <class Row>
void append(std::vector<Row>& to, std::vector<Row>&& from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

// What the engine says of a calibration, put together.
class Listener {
public:
    void take(const std::string& line) {
        const Json e = Json::parse(line, nullptr, /*allow_exceptions=*/false);
        const std::string kind = e.is_object() ? text_of(e, "event") : "";
        if (kind == "progress") {
            const auto share = e.find("share");
            (void)progress_(text_of(e, "doing"),
                            share != e.end() && share->is_number() ? share->get<double>() : 0);
            return;
        }
        progress_.clear();
        if (kind == "measured") return measured(text_of(e, "toml"));
        if (kind == "skipped")
            fmt::print(stderr, "headroom: skipped {}: {}\n", text_of(e, "what"), text_of(e, "why"));
        if (kind == "skipped") ++skipped_;
        if (kind == "end") ended_ = true;
    }
    const Measured& rows() const { return rows_; }
    const std::optional<Error>& problem() const { return problem_; }
    int skipped() const { return skipped_; }
    bool ended() const { return ended_; }

private:
    void measured(const std::string& toml) {
        Result<Measured> part = parse_measured(toml, "what headroom-engine measured");
        if (!part) {
            if (!problem_) problem_ = part.error();
            return;
        }
        if (!part->machine.device.empty()) rows_.machine = std::move(part->machine);
        append(rows_.gemm, std::move(part->gemm));
        append(rows_.gemm_accumulate, std::move(part->gemm_accumulate));
        append(rows_.attention, std::move(part->attention));
        append(rows_.memory, std::move(part->memory));
        append(rows_.transfers, std::move(part->transfers));
        append(rows_.copies, std::move(part->copies));
        append(rows_.beside, std::move(part->beside));
        append(rows_.peer, std::move(part->peer));
        append(rows_.disk, std::move(part->disk));
    }

    ProgressLine progress_;
    Measured rows_;
    std::optional<Error> problem_;
    int skipped_ = 0;
    bool ended_ = false;
};

// Runs the engine's part; returns its exit code.
Result<int> listen(const CalibrateOptions& o, const std::string& only, Listener& heard) {
    std::vector<std::string> words{engine_path(), "calibrate", "--device", o.device};
    if (o.quick) words.emplace_back("--quick");
    if (!o.disk.empty()) words.push_back("--disk=" + o.disk);
    if (!only.empty()) words.push_back(only);
    HEADROOM_TRY(const int code,
                 run_engine(std::move(words), [&](const std::string& line) { heard.take(line); }));
    if (code == 0 && heard.problem()) return tl::unexpected<Error>(*heard.problem());
    return code;
}

// What an engine elsewhere said, from a file of its lines.
Result<void> listen_to_file(const std::string& path, Listener& heard) {
    constexpr int64_t kMost = 64 * kMiB;
    HEADROOM_TRY(const std::string text, read_file(path, kMost));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) heard.take(line);
    if (heard.problem()) return tl::unexpected<Error>(*heard.problem());
    if (heard.rows() == Measured{})
        return fail(path, "holds nothing measured", "what `headroom-engine calibrate` printed");
    return {};
}

// The shipped file of this device: the one whose accelerator's name the device's name ends in, or holds.
Result<std::string> like_of(const std::string& device, const std::filesystem::path& data) {
    std::vector<std::string> fits;
    size_t longest = 0;
    for (const std::string& name : shipped_hardware(data)) {
        HEADROOM_TRY(const Hardware h, read_hardware(name, data));
        if (device.find(h.accelerator) == device.npos || h.accelerator.size() < longest) continue;
        if (h.accelerator.size() > longest) fits.clear();
        longest = h.accelerator.size();
        fits.push_back(name);
    }
    if (fits.size() == 1) return fits.front();
    return fail("--like",
                fmt::format("is not given, and {} shipped hardware is of '{}'",
                            fits.empty() ? "no" : "more than one", device),
                "the hardware that is nearest: " + one_of(fits.empty() ? shipped_hardware(data) : fits));
}

void print_fit(const Calibration& c) {
    struct Sum {
        int fitted = 0, held = 0;
        double fitted_square = 0, held_square = 0, worst = 0;
        std::string worst_shape;
    };
    std::vector<std::pair<std::string, Sum>> kinds;
    const auto add = [&](const std::string& kind, const std::string& shape, double error, bool fitted) {
        if (kinds.empty() || kinds.back().first != kind) {
            const auto found =
                std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind; });
            if (found == kinds.end()) kinds.emplace_back(kind, Sum{});
        }
        Sum& s =
            std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind; })->second;
        ++(fitted ? s.fitted : s.held);
        (fitted ? s.fitted_square : s.held_square) += error * error;
        if (std::abs(error) > std::abs(s.worst)) {
            s.worst = error;
            s.worst_shape = shape;
        }
    };
    for (const Residual& r : c.rates) add(r.kind, r.shape, r.measured / r.predicted - 1, r.fitted);
    for (const TimeResidual& r : c.times) add(r.kind, r.shape, r.error(), r.fitted);
    fmt::print("{:<28} {:>5} {:>8} {:>9} {:>9}  worst\n", "error of predicted time", "rows", "rms",
               "held out", "rms");
    const auto rms = [](double square, int n) {
        return n == 0 ? std::string("-") : fmt::format("{:.1f} %", 100 * std::sqrt(square / n));
    };
    for (const auto& [kind, s] : kinds) {
        fmt::print("{:<28} {:>5} {:>8} {:>9} {:>9}  {:+.1f} % {}\n", kind, s.fitted,
                   rms(s.fitted_square, s.fitted), s.held, rms(s.held_square, s.held), 100 * s.worst,
                   s.worst_shape);
    }
    if (!c.kept.empty()) fmt::print("not measured, as before: {}\n", fmt::join(c.kept, ", "));
}

Result<int> write(const Hardware& base, const Measured& rows, const std::string& output) {
    HEADROOM_TRY(const Calibration c, calibrated(base, rows));
    const std::string text = write_hardware(c, rows);
    // What nobody could read is not written.
    HEADROOM_TRY(const Hardware again, parse_hardware(text, output, base.name));
    (void)again;
    HEADROOM_CHECK(write_file(output, text));
    print_fit(c);
    fmt::print("wrote {}\n", output);
    return 0;
}

Result<int> refit(const Options& o) {
    HEADROOM_TRY(const std::string text, read_file(o.refit, kMiB));
    const std::filesystem::path path = o.refit;
    HEADROOM_TRY(const Hardware base, parse_hardware(text, o.refit, path.stem().string()));
    HEADROOM_TRY(const Measured rows, parse_measured(text, o.refit));
    if (rows == Measured{}) return fail(o.refit, "no table [measured]", "a file of `headroom calibrate -o`");
    return write(base, rows, o.output.empty() ? o.refit : o.output);
}

// One figure of the file beside the same one now.
class Check {
public:
    explicit Check(double tolerance) : tolerance_(tolerance) {}
    void add(const std::string& what, const char* unit, double file, double now) {
        const double difference = now / file - 1;
        fmt::print("{:<48} {:>9.4g} {:>9.4g} {} {:+7.1f} %\n", what, file, now, unit, 100 * difference);
        outside_ |= std::abs(difference) > tolerance_;
        ++count_;
    }
    int count() const { return count_; }
    int code() const { return outside_ ? exit_code(Fault::outside_tolerance) : 0; }

private:
    double tolerance_;
    bool outside_ = false;
    int count_ = 0;
};

Result<int> check(const Options& o) {
    HEADROOM_TRY(const std::string text, read_file(o.check, kMiB));
    HEADROOM_TRY(const Measured rows, parse_measured(text, o.check));
    Listener heard;
    HEADROOM_TRY(const int code, listen(o.measure, "--only-check", heard));
    if (code != 0) return code;
    fmt::print("{:<48} {:>9} {:>9}\n", "", "file", "now");
    Check table(o.tolerance);
    const Measured& now = heard.rows();
    for (const GemmRow& n : now.gemm) {
        for (const GemmRow& r : rows.gemm) {
            if (r.m != n.m || r.n != n.n || r.k != n.k || r.form != n.form) continue;
            table.add(fmt::format("GEMM {} x {} x {}", r.m, r.k, r.n), "TFLOP/s", r.tflops, n.tflops);
            break;
        }
    }
    for (const AttentionRow& n : now.attention) {
        for (const AttentionRow& r : rows.attention) {
            if (r.queries != n.queries || r.keys != n.keys || r.heads != n.heads ||
                r.kv_heads != n.kv_heads || r.head_dim != n.head_dim || r.blocks != n.blocks ||
                r.causal != n.causal || r.use == RowUse::record)
                continue;
            table.add(fmt::format("attention {} x {}, {} over {} heads of {}", r.queries, r.keys, r.heads,
                                  r.kv_heads, r.head_dim),
                      "TFLOP/s", r.forward, n.forward);
            break;
        }
    }
    for (const TransferRow& n : now.transfers) {
        for (const TransferRow& r : rows.transfers) {
            if (r.to_device != n.to_device || r.how != n.how || r.piece != n.piece || r.opposite > 0)
                continue;
            table.add(
                fmt::format("copy to the device, {} of {}", name_of(r.how), format_bytes(Bytes(r.piece))),
                "GB/s   ", r.bandwidth / 1e9, n.bandwidth / 1e9);
            break;
        }
    }
    if (table.count() == 0)
        return fail(o.check, "has none of the points that are measured again",
                    "a file that `headroom calibrate -o` wrote");
    return table.code();
}

Result<int> measure(const Options& o) {
    HEADROOM_CHECK(check_output(o.output, {o.rows}));
    HEADROOM_TRY(const std::filesystem::path data, data_folder());
    std::string like = o.like;
    Listener heard;
    int code = 0;
    if (!o.rows.empty()) {
        HEADROOM_CHECK(listen_to_file(o.rows, heard));
        if (like.empty()) {
            HEADROOM_TRY(like, like_of(heard.rows().machine.device, data));
        }
    }
    if (like.empty() && o.measure.device == "cpu") like = "cpu";
    if (like.empty()) {
        Listener machine;
        HEADROOM_TRY(code, listen(o.measure, "--only-machine", machine));
        if (code != 0) return code;
        HEADROOM_TRY(like, like_of(machine.rows().machine.device, data));
    }
    HEADROOM_TRY(const Hardware base, read_hardware(like, data));
    if (o.rows.empty()) {
        HEADROOM_TRY(code, listen(o.measure, "", heard));
    }
    // Rows of a run that broke off are worth more than none.
    if (code != 0 && heard.rows().gemm.empty()) return code;
    Measured rows = heard.rows();
    rows.machine.like = base.name;
    Result<int> written = write(base, rows, o.output);
    if (!written) {
        // Minutes of measuring are not lost to a fit that failed.
        const Calibration unfitted{base, {}, {}, {"every constant"}};
        HEADROOM_CHECK(write_file(o.output, write_hardware(unfitted, rows)));
        written.error().found +=
            fmt::format("; {} holds the rows beside the constants of {}", o.output, base.name);
        return written;
    }
    if (heard.skipped() > 0) fmt::print("{} points were skipped\n", heard.skipped());
    return code != 0 ? code : *written;
}

Result<int> run(const Options& o) {
    if (!o.refit.empty()) return refit(o);
    if (!o.check.empty()) return check(o);
    if (o.output.empty()) return fail("-o", "is not given", "the hardware file to write, NAME.toml");
    return measure(o);
}

}  // namespace

Command add_calibrate(CLI::App& root) {
    auto options = std::make_shared<Options>();
    CLI::App* app = root.add_subcommand(
        "calibrate", "Measures this machine and writes the hardware file that plans are priced with");
    app->footer(
        "Takes about two minutes on an H200. What cannot be measured (the datasheet's figures, the host's "
        "share) comes from the\nshipped hardware that is nearest. Rows that were measured stand in the file, "
        "so that constants can be fitted again.\n\n"
        "Examples:\n  headroom calibrate -o mine.toml\n  headroom calibrate --refit mine.toml\n"
        "  headroom calibrate --check mine.toml");
    app->add_option("-o,--output", options->output, "The hardware file to write")
        ->check(named())
        ->type_name("NAME.toml");
    add_calibrate_options(*app, options->measure);
    app->add_option("--like", options->like,
                    "The hardware that gives what cannot be measured: a shipped name or a file (default: by "
                    "the device's name)")
        ->type_name("NAME");
    CLI::Option* rows =
        app->add_option("--rows", options->rows,
                        "Measure nothing: take what `headroom-engine calibrate` printed on another machine")
            ->type_name("FILE");
    CLI::Option* refit =
        app->add_option("--refit", options->refit,
                        "Fit the rows of this file again, measuring nothing; writes it, or -o")
            ->type_name("FILE");
    app->add_option(
           "--check", options->check,
           "Measure a few points again, and show them beside those of this file; exit code 4 where one "
           "is apart")
        ->type_name("FILE")
        ->excludes(refit)
        ->excludes(rows);
    refit->excludes(rows);
    app->add_option("--tolerance", options->tolerance, "Of --check: how far apart a point may be")
        ->check(within(0, 10));
    return {app, [options] { return run(*options); }};
}

}  // namespace headroom::cli
