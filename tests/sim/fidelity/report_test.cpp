#include "fidelity/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results_maker.h"

namespace headroom::fidelity {
namespace {

using test::entry;
using test::failed;

Results results() {
    Results r;
    r.suite = "s", r.title = "T | U", r.hardware = "h";
    r.entries = {entry("good", 1010, 1000), entry("off", 1200, 1000, Half::fit),
                 failed(entry("broke", 1, 1), "exit code 5: no | memory\nat all"), entry("late", 5, 5)};
    r.entries[3].run.reset();
    r.entries[3].missing = "left out: it would take 9 s, and 3 s are left";
    r.entries[0].recorded = r.entries[0].prediction;
    r.entries[0].recorded->figures.step_ns = 1005;
    r.entries[0].run->selection = SelectionSample{{0, 4}, {0, 1}, 0.9, 0.25};
    RunSet set;
    set.machine = "GPU", set.repeated = "good", set.repeat_step_ns = {1000, 1010};
    set.calibration_not_read = "no command";
    r.sets = {set};
    LadderResult l;
    l.ladder.name = "ladder", l.limit = Tokens(100), l.page = Tokens(1);
    l.contexts = {Tokens(100), Tokens(101)};
    l.rungs = {entry("ladder@100", 1, 1), failed(entry("ladder@101", 1, 1), "cudaMalloc")};
    r.ladders = {l};
    Ranking k;
    k.name = "ranking";
    k.plans = {"good", "off"};
    r.rankings = {rank(k, r.entries)};
    return r;
}

// Every row of a table has as many cells as its head.
TEST(Report, TablesAreWellFormed) {
    std::istringstream lines(results_markdown(results()));
    std::ptrdiff_t cells = 0, rows = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("|")) {
            cells = 0;
            continue;
        }
        const std::ptrdiff_t n = std::count(line.begin(), line.end(), '|');
        EXPECT_TRUE(cells == 0 || n == cells) << line;
        cells = n;
        ++rows;
    }
    EXPECT_GT(rows, 30);
}

TEST(Report, ShowsWhatIsOffAndWhatIsMissing) {
    const std::string text = results_markdown(results());
    for (const char* expected : {"| off | fit | 1 | 1.2e-06 | 1e-06 | **+20.00 %** |",
                                 "| good | unseen | 1 | 1.01e-06 | 1e-06 | +1.00 % | +0.50 % |",
                                 "failed: exit code 5: no   memory at all", "left out: it would take 9 s",
                                 "The verdict is right.", "not read (no command)", "1.0 %", "12.500, 10.250",
                                 "The plan ranked first takes 0.0 % longer than the fastest."})
        EXPECT_NE(text.find(expected), text.npos) << expected << "\n" << text;
}

TEST(Report, JsonHoldsEveryFinding) {
    const nlohmann::ordered_json j = results_json(results());
    ASSERT_EQ(j["plans"].size(), 4u);
    EXPECT_EQ(j["plans"][0]["predicted_step_ns"], 1010);
    EXPECT_EQ(j["plans"][0]["findings"].size(),
              judge(*results().entries[0].prediction, *results().entries[0].run).size());
    EXPECT_EQ(j["plans"][2]["measured"], false);
    EXPECT_EQ(j["ladders"][0]["right"], true);
    EXPECT_EQ(j["rankings"][0]["predicted_order"], (nlohmann::ordered_json{"good", "off"}));
    const auto& verdicts = j["verdicts"];
    EXPECT_TRUE(
        std::any_of(verdicts.begin(), verdicts.end(), [](const auto& v) { return v["within"] == false; }));
    EXPECT_EQ(j.dump(), results_json(results()).dump());
}

// A point a plan, inside the picture; without plans a picture all the same.
TEST(Report, PicturesHaveAPointAPlan) {
    const auto count = [](const std::string& text, const std::string& what) {
        int64_t n = 0;
        for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
        return n;
    };
    const std::string steps = step_svg(results()), errors = error_svg(results());
    EXPECT_EQ(count(steps, "<title>"), 2);
    EXPECT_EQ(count(errors, "height=\"10\""), 2);
    for (const std::string& svg : {steps, errors, step_svg({}), error_svg({})}) {
        EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        EXPECT_EQ(count(svg, "nan") + count(svg, "inf"), 0);
        EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
    }
}

}  // namespace
}  // namespace headroom::fidelity
