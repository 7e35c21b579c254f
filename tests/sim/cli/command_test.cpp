// What golden transcripts cannot say: that outputs are well formed and the same every time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "../base/scratch_folder.h"
#include "base/file.h"
#include "base/units.h"
#include "command_under_test.h"

namespace headroom::test {
namespace {

const std::string kSmall = "qwen2.5-7b-8k-oomb-dense-h200";

class Command : public ScratchFolder {
protected:
    Outcome run(const std::vector<std::string>& arguments) const { return run_headroom(arguments, folder_); }
    std::string text(const std::string& name) const {
        const auto content = read_file(at(name), 64 * kMiB);
        EXPECT_TRUE(content) << (content ? "" : content.error().text());
        return content ? *content : "";
    }
};

// Tags closed in order, attributes quoted, no stray '&': enough for any XML reader.
std::string xml_fault(const std::string& xml) {
    std::vector<std::string> open;
    for (size_t i = 0; i < xml.size(); ++i) {
        if (xml[i] == '&') {
            const std::string rest = xml.substr(i, 6);
            if (!rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;"))
                return "stray &";
        }
        if (xml[i] != '<') continue;
        const size_t end = xml.find('>', i);
        if (end == xml.npos) return "unclosed tag";
        const std::string tag = xml.substr(i + 1, end - i - 1);
        if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "unclosed quote in <" + tag;
        if (tag.find("nan") != tag.npos || tag.find("inf") != tag.npos) return "no number in <" + tag;
        const std::string name = tag.substr(0, tag.find_first_of(" /"));
        if (tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1)) return "closes what is not open: " + tag;
            open.pop_back();
        } else if (tag.back() != '/') {
            open.push_back(name);
        }
        i = end;
    }
    return open.empty() ? "" : "never closed: " + open.back();
}

TEST_F(Command, RunTellsBadInputBeforeItLooksForTheEngine) {
    const Outcome missing = run({"run", "none.json"});
    EXPECT_EQ(missing.code, 2);
    EXPECT_EQ(missing.err.find("headroom: none.json: does not exist"), 0u) << missing.err;
    ASSERT_EQ(run({"plan", "qwen2.5-7b-64k-exact-h200", "-q", "--no-gains", "-o", "plan.json"}).code, 0);
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{"--device", "tpu"}, {"--steps", "0"}, {"--seed", "-1"}}) {
        std::vector<std::string> words{"run", "plan.json"};
        words.insert(words.end(), wrong.begin(), wrong.end());
        const Outcome o = run(words);
        EXPECT_EQ(o.code, 2);
        EXPECT_NE(o.err.find(wrong[0]), std::string::npos) << o.err;
        EXPECT_EQ(o.out, "");
    }
}

// The command away from its build, with or without a program beside it that the app's name stands for.
class View : public Command {
protected:
    void SetUp() override {
        Command::SetUp();
        std::filesystem::copy_file(HEADROOM_COMMAND, at("headroom"));
    }
    Outcome view(const std::string& environment, const std::string& file) const {
        const std::string line = "env -u DISPLAY -u WAYLAND_DISPLAY -u QT_QPA_PLATFORM PATH=/nowhere " +
                                 environment + " ./headroom view " + file + " >out 2>err";
        const std::string command =
            "cd '" + folder_.string() + "' && HEADROOM_DATA='" HEADROOM_SOURCE_DIR "' " + line;
        const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe)
        return {WEXITSTATUS(status), text("out"), text("err")};
    }
};

TEST_F(View, SaysHowToGetTheAppWhereThereIsNone) {
    const Outcome o = view("DISPLAY=:1", "tiny-cpu");
    EXPECT_EQ(o.code, 5);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err.find("headroom: headroom-gui: No such file or directory; allowed: the app beside"), 0u)
        << o.err;
    EXPECT_NE(o.err.find("scripts/headroom view"), std::string::npos) << o.err;
}

TEST_F(View, BecomesTheAppBesideItWithTheFile) {
    std::filesystem::copy_file("/bin/echo", at("headroom-gui"));
    EXPECT_EQ(view("DISPLAY=:1", "tiny-cpu").out, "tiny-cpu\n");
    EXPECT_EQ(view("QT_QPA_PLATFORM=offscreen", "").out, "\n");
    EXPECT_EQ(view("WAYLAND_DISPLAY=wayland-0", "headroom").out, "headroom\n");
}

TEST_F(View, SaysThatThereIsNoScreen) {
    std::filesystem::copy_file("/bin/echo", at("headroom-gui"));
    const Outcome o = view("", "tiny-cpu");
    EXPECT_EQ(o.code, 5);
    EXPECT_NE(o.err.find("no screen: neither DISPLAY nor WAYLAND_DISPLAY"), std::string::npos) << o.err;
}

TEST_F(View, AFileThatIsNotThereIsBadInputWithTheNearestName) {
    std::filesystem::copy_file("/bin/echo", at("headroom-gui"));
    const Outcome o = view("DISPLAY=:1", "tiny-gpu");
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.out, "");
    EXPECT_NE(o.err.find("did you mean 'tiny-cpu'?"), std::string::npos) << o.err;
    EXPECT_EQ(view("DISPLAY=:1", "none/at/all.json").code, 2);
}

TEST_F(Command, HelpNamesEveryCommandAndExitCode) {
    const Outcome o = run({"--help"});
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.err, "");
    for (const std::string name :
         {"plan", "max-context", "sweep", "simulate", "compare", "excerpt", "view", "completion"})
        EXPECT_NE(o.out.find("\n  " + name + " "), std::string::npos) << name;
    for (const std::string code :
         {"0 done", "2 bad input", "3 does", "4 outside", "5 a run", "130 interrupted"})
        EXPECT_NE(o.out.find(code), std::string::npos) << code;
}

TEST_F(Command, HelpOfEveryCommandShowsAnExampleThatNamesIt) {
    for (const std::string name :
         {"plan", "max-context", "sweep", "simulate", "compare", "excerpt", "view", "completion"}) {
        const Outcome o = run({name, "--help"});
        EXPECT_EQ(o.code, 0);
        EXPECT_EQ(o.err, "");
        EXPECT_NE(o.out.find("headroom " + name + " "), std::string::npos) << o.out;
        std::istringstream lines(o.out);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 130u) << line;
    }
}

TEST_F(Command, PlanAsJsonSaysWhatTheTextSays) {
    const Outcome o = run({"plan", kSmall, "--json", "--no-gains"});
    ASSERT_EQ(o.code, 0) << o.err;
    const nlohmann::json j = nlohmann::json::parse(o.out);
    EXPECT_EQ(j["verdict"], "fits");
    const auto& device = j["tiers"]["device"];
    EXPECT_EQ(device["budget_bytes"].get<int64_t>() - device["need_bytes"].get<int64_t>(),
              device["headroom_bytes"].get<int64_t>());
    int64_t sum = 0;
    for (const auto& [name, bytes] : device["by_category_bytes"].items()) sum += bytes.get<int64_t>();
    EXPECT_EQ(sum, device["need_bytes"].get<int64_t>()) << "every byte has an owner";
}

// A limit of waiting pages is part of the plan; where pages of K and V are the smaller ones it saves host
// memory.
TEST_F(Command, PlanSaysHowManyGradientPagesMayWait) {
    const auto plan = [&](const std::string& more) {
        return std::vector<std::string>{"plan",
                                        "qwen2.5-7b-1m-h200",
                                        "--no-gains",
                                        "--set",
                                        "plan.kv=host",
                                        "--set",
                                        "plan.kv_gradients=host",
                                        "--set",
                                        "plan.kv_dtype=fp8",
                                        "--set",
                                        "plan.attention={ budget = 64, block = 4096" + more + " }"};
    };
    const auto host = [&](const std::string& more) {
        std::vector<std::string> words = plan(more);
        words.push_back("--json");
        const Outcome o = run(words);
        EXPECT_EQ(o.code, 0) << o.err;
        return nlohmann::json::parse(o.out)["tiers"]["host"]["need_bytes"].get<int64_t>();
    };
    EXPECT_LT(host(", waiting = 500"), host("") - (int64_t{2} << 30));
    const std::string said = "so that the gradients of at most 500 of a layer wait at once";
    const std::string limited = run(plan(", waiting = 500")).out;
    EXPECT_NE(limited.find(said), std::string::npos) << limited;
    EXPECT_NE(limited.find("room for all the gradient pages that may wait"), std::string::npos) << limited;
    EXPECT_EQ(run(plan("")).out.find("wait at once"), std::string::npos);
}

TEST_F(Command, TheSameQuestionGivesTheSameBytes) {
    for (const std::string i : {"1", "2"}) {
        ASSERT_EQ(run({"plan", kSmall, "-q", "--no-gains", "-o", i + ".json"}).code, 0);
        ASSERT_EQ(run({"simulate", i + ".json", "-q", "-o", i + ".trace.json.gz"}).code, 0);
    }
    EXPECT_EQ(text("1.json"), text("2.json"));
    EXPECT_EQ(text("1.trace.json.gz"), text("2.trace.json.gz"));
}

TEST_F(Command, APlanFileGivesTheAnswerItCameWith) {
    const Outcome planned = run({"plan", kSmall, "--json", "--no-gains", "-o", "plan.json"});
    const Outcome simulated = run({"simulate", "plan.json", "-o", "step.trace.json.gz", "--json"});
    ASSERT_EQ(simulated.code, 0) << simulated.err;
    const auto a = nlohmann::json::parse(planned.out), b = nlohmann::json::parse(simulated.out);
    EXPECT_EQ(a["step_ns"], b["step_ns"]);
    EXPECT_EQ(a["tiers"], b["tiers"]);
    EXPECT_EQ(a["plan"], b["plan"]);
}

TEST_F(Command, AnExcerptIsSmallerAndHasThePeaksOfTheWhole) {
    ASSERT_EQ(run({"plan", kSmall, "-q", "--no-gains", "-o", "plan.json"}).code, 0);
    ASSERT_EQ(run({"simulate", "plan.json", "-q", "-o", "step.trace.json.gz"}).code, 0);
    const Outcome o = run(
        {"excerpt", "step.trace.json.gz", "--chunks", "1,0,1", "--instants", "20", "-o", "a.trace.json.gz"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("those of chunks 0, 1; "), std::string::npos) << o.out;
    EXPECT_LT(text("a.trace.json.gz").size(), text("step.trace.json.gz").size());
    // The whole is cut like it: ops and the peaks of tiers are the same.
    for (const auto& [p, m] : {std::pair{"step.trace.json.gz", "a.trace.json.gz"},
                               {"a.trace.json.gz", "step.trace.json.gz"},
                               {"a.trace.json.gz", "a.trace.json.gz"}}) {
        const Outcome beside = run({"compare", p, m, "--json"});
        const nlohmann::json j = nlohmann::json::parse(beside.out);
        EXPECT_NE(j["excerpt"].get<std::string>().find("those of chunks 0, 1"), std::string::npos);
        int rows = 0;
        for (const auto& d : j["differences"]) {
            if (d["group"] == "category") continue;  // each at its own instant
            EXPECT_EQ(d["predicted"], d["measured"]) << d.dump();
            ++rows;
        }
        EXPECT_GT(rows, 10) << beside.out;
        EXPECT_NE(run({"compare", p, m}).out.find("note: an excerpt, "), std::string::npos);
    }
}

TEST_F(Command, SweepWritesCsvAndSvg) {
    const Outcome o =
        run({"sweep", "qwen2.5-7b-64k-exact-h200", "--context", "8Ki:32Ki", "--csv", "s.csv", "--plot",
             "s.svg", "--strategies", "chunked,whole-sequence,ring", "-q", "--set", "title=A <B> & \"C\""});
    ASSERT_EQ(o.code, 0) << o.err;
    std::istringstream csv(text("s.csv"));
    std::string line;
    ASSERT_TRUE(std::getline(csv, line));
    const auto columns = std::count(line.begin(), line.end(), ',');
    int rows = 0;
    for (; std::getline(csv, line); ++rows) {
        const std::string unquoted = line.substr(0, line.find('"'));
        EXPECT_EQ(std::count(unquoted.begin(), unquoted.end(), ','), columns) << line;
        EXPECT_EQ(std::count(line.begin(), line.end(), '"'), 2) << line;
    }
    EXPECT_EQ(rows, 9);  // three contexts, three strategies; ring cannot run on one GPU and says so
    const std::string svg = text("s.svg");
    EXPECT_EQ(xml_fault(svg), "");
    EXPECT_NE(svg.find("<svg xmlns="), svg.npos);
}

TEST_F(Command, SweepOfWhatNeverRunsStillPlots) {
    const Outcome o = run({"sweep", "qwen2.5-7b-64k-exact-h200", "--context", "8Ki", "--plot", "s.svg",
                           "--strategies", "ring", "-q"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(xml_fault(text("s.svg")), "");
}

TEST_F(Command, ExitCodesAreThoseOfTheManual) {
    EXPECT_EQ(run({"plan", kSmall, "-q", "--no-gains"}).code, 0);
    EXPECT_EQ(run({"plan", "no-such-scenario"}).code, 2);
    EXPECT_EQ(run({"plan", "qwen2.5-7b-128k-whole-h200", "-q", "--no-remedies"}).code, 3);
    EXPECT_EQ(run({"plan", kSmall, "-q", "--no-gains", "-o", "/dev/full"}).code, 5);
}

}  // namespace
}  // namespace headroom::test
