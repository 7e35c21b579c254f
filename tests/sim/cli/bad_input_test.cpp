// Every way in which a person gets a file or an option wrong: one line on stderr that names the place, exit
// code 2 (5 where the system refuses), nothing on stdout, no crash.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "../base/scratch_folder.h"
#include "base/file.h"
#include "base/units.h"
#include "command_under_test.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

const std::string kGood = R"(model = "Qwen2.5-7B"
hardware = "h200-sxm-pcie5"
context = "64Ki"
)";

class BadInput : public ScratchFolder {
protected:
    void write(const std::string& name, const std::string& content) const {
        ASSERT_TRUE(write_file(at(name), content));
    }
    Outcome run(const std::vector<std::string>& arguments) const { return run_headroom(arguments, folder_); }
    // One line that holds every one of `parts`.
    static void expect_line(const Outcome& o, int code, const std::vector<std::string>& parts,
                            const std::string& of) {
        EXPECT_EQ(o.code, code) << of << "\n" << o.err;
        EXPECT_EQ(o.out, "") << of;
        EXPECT_EQ(lines_of(o.err), 1u) << of << "\n" << o.err;
        EXPECT_TRUE(o.err.starts_with("headroom: ")) << of << "\n" << o.err;
        EXPECT_LT(o.err.size(), 700u) << of << "\n" << o.err;
        for (const std::string& part : parts)
            EXPECT_NE(o.err.find(part), std::string::npos) << of << ": no '" << part << "' in\n" << o.err;
    }
    std::string plan_file() const {
        if (!fs::exists(at("plan.json"))) {
            const Outcome o =
                run({"plan", "qwen2.5-7b-8k-oomb-dense-h200", "-q", "--no-gains", "-o", "plan.json"});
            EXPECT_EQ(o.code, 0) << o.err;
        }
        const auto text = read_file(at("plan.json"), kMiB);
        return text ? *text : "";
    }
};

struct Wrong {
    std::string text;  // of the scenario file
    std::vector<std::string> parts;
};

TEST_F(BadInput, ScenarioFiles) {
    const std::string plan = kGood + "[plan]\n";  // its keys stand on line 5
    const std::vector<Wrong> table = {
        {"", {"model"}},
        {"model = \"Qwen2.5-7B\"\ncontext = 4096\n", {"hardware"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\n", {"context"}},
        {kGood + "contxt = 1\n", {":4", "contxt", "did you mean 'context'"}},
        {plan + "chunks = 4096\n", {":5", "chunks", "did you mean 'chunk'"}},
        {kGood + "[training]\noptimiser = \"adamw\"\n", {":5", "did you mean 'optimizer'"}},
        {kGood + "[trainng]\n", {":4", "did you mean 'training'"}},
        {kGood + "context = 1\n", {":4"}},  // twice
        {kGood + "[plan\n", {":4"}},        // not TOML
        {"model = 'Qwen", {":1"}},
        {"context = 64Ki\n", {":1"}},  // quotes forgotten
        {std::string("model = \"a\0b\"\n", 14), {":1"}},
        {"\xff\xfe\x00model", {":1"}},
        {"model = 7\nhardware = \"h200-sxm-pcie5\"\ncontext = 1\n", {":1", "model"}},
        {"model = \"Qwen2.5-8B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = 1\n", {":1", "Qwen2.5-8B"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h201\"\ncontext = 1\n", {":2", "h201"}},
        {"model = \"../../etc\"\nhardware = \"h200-sxm-pcie5\"\ncontext = 1\n", {":1"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = \"64Kib\"\n", {":3", "64Kib"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = \"64GB\"\n", {":3", "64GB"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = 0\n", {":3", "key 'context': 0"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = -4096\n", {":3", "-4096"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = 4096.5\n", {":3", "context"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = nan\n",
         {":3, key 'context'", "nan"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = inf\n", {":3", "inf"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = 99999999999999999999\n", {":3"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = \"9000000Ti\"\n", {":3"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = \"2Gi\"\n", {":3", "2147483648"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = \"\"\n", {":3"}},
        {"model = \"Qwen2.5-7B\"\nhardware = \"h200-sxm-pcie5\"\ncontext = 2026-11-29\n",
         {":3, key 'context'", "date"}},
        {kGood + "gpus = 0\n", {":4", "gpus"}},
        {kGood + "gpus = 1000\n", {":4", "gpus", "8"}},
        {kGood + "budget = 5\n", {":4", "budget"}},
        {kGood + "[budget]\ndevice = \"200GiB\"\n", {":5", "device"}},
        {kGood + "[budget]\ndevice = \"80G\"\n", {":5", "80G"}},
        {kGood + "[budget]\nhost = -1\n", {":5", "host"}},
        {kGood + "[budget]\nhost = \"1e400GiB\"\n", {":5", "host"}},
        {kGood + "[budget]\ndisk = \"99999999999TiB\"\n", {":5", "disk"}},
        {plan + "chunk = 100\n", {":5", "chunk", "128"}},  // no multiple of the page
        {plan + "chunk = 0\n", {":5", "chunk"}},
        {plan + "chunk = -4096\n", {":5", "chunk"}},
        {plan + "page = 0\n", {":5", "page"}},
        {plan + "page = 100\n", {":5", "page"}},
        {plan + "tensor_ranks = 3\n", {":5", "tensor_ranks"}},  // does not divide 4 KV heads
        {plan + "tensor_ranks = 8\n", {":5", "tensor_ranks"}},
        {plan + "ring_ranks = 2\n", {":5", "ring_ranks"}},  // one GPU
        {plan + "strategy = \"chuncked\"\n", {":5, key 'plan.strategy'", "did you mean 'chunked'"}},
        {plan + "strategy = \"ring\"\n", {":5, key 'plan.strategy'", "'ring' with 1 GPU", "2 or more"}},
        // What a strategy cannot run, at the line of the key that stands against it.
        {plan + "strategy = \"chunked\"\nwavefront = 2\nfill_head = true\n", {":6, key 'plan.wavefront'"}},
        {plan + "strategy = \"chunked\"\n\nstates_home = \"ranks\"\n", {":7, key 'plan.states_home'"}},
        {plan + "strategy = \"whole-sequence\"\nchunk = 4096\n", {":6, key 'plan.chunk'", "65,536"}},
        {plan + "chunk = 4096\nstrategy = \"layer-major\"\nkv = \"host\"\n", {":7, key 'plan.kv'"}},
        {plan + "attention = \"sparce\"\n", {":5", "did you mean 'sparse'"}},
        {plan + "attention = { kind = \"sparse\", budget = 4, sink = 3, local = 8 }\n", {":5", "attention"}},
        {plan + "attention = { kind = \"sparse\", budget = 0 }\n", {":5", "budget"}},
        {plan + "attention = { kind = \"sparse\", block = 100 }\nchunk = 4096\n", {"block"}},
        {plan + "attention = { kind = \"sparse\", bugdet = 64 }\n", {":5", "did you mean 'budget'"}},
        {plan + "kv = { device_layers = 29 }\n", {":5", "device_layers", "28"}},
        {plan + "kv = { device_layers = 1.5 }\n", {":5", "device_layers"}},
        {plan + "kv_dtype = \"int4\"\n", {":5", "int4", "fp8"}},
        {plan + "deterministic = \"yes\"\n", {":5", "deterministic"}},
        {plan + "staging_slots = 0\n", {":5", "staging_slots"}},
        {plan + "prefetch = 9\nstaging_slots = 2\n", {"prefetch"}},
        {plan + "staging_slot = 1\n", {":5", "staging_slot"}},
        {plan + "wavefront = 3\n", {":5", "wavefront"}},
        {plan + "loss_tile = -1\n", {":5", "loss_tile"}},
        {kGood + "[training]\ntrainable = { lora = 0 }\n", {":5", "lora"}},
        {kGood + "[training]\ntrainable = { lora = 16, targets = [\"kv\"] }\n", {":5", "kv"}},
        {kGood + "[training]\nbatch = 0\n", {":5", "batch"}},
        {kGood + "[training]\noptimizer = \"adam\"\n", {":5", "did you mean 'adamw'"}},
        {kGood + "[search]\nmay_change = [\"chonk\"]\n", {":5", "chonk"}},
        {plan + "kv_dtype = \"fp8\"\n[search]\nmay_change = [\"kv_dtype\"]\n", {":7", "kv_dtype"}},
        {kGood + "[selection]\nfile = \"missing.json\"\n", {":5", "missing.json"}},
        {kGood + "[selection]\nblock_reuse = 1.5\n", {":5", "block_reuse"}},
        {kGood + "[selection]\nblock_reuse = nan\n", {":5", "nan"}},
        {kGood + "[selection]\npopularity = 2.5\n", {":5", "popularity", "0 to 2"}},
        {kGood + "[selection]\nspread = 5\n", {":5", "spread", "0 to 4"}},
        {kGood + "[selection]\nrecency = -1.5\n", {":5", "recency", "-1 to 4"}},
    };
    for (const Wrong& w : table) {
        write("s.toml", w.text);
        std::vector<std::string> parts = w.parts;
        parts.emplace_back("s.toml");
        expect_line(run({"plan", "s.toml", "-q"}), 2, parts, w.text);
    }
}

TEST_F(BadInput, FilesThatAreNoFiles) {
    fs::create_directory(at("folder.toml"));
    expect_line(run({"plan", "folder.toml"}), 2, {"folder.toml", "folder"}, "a folder");
    expect_line(run({"plan", "missing.toml"}), 2, {"missing.toml", "does not exist"}, "missing");
    expect_line(run({"plan", "qwen2.5-7b-1m-h20"}), 2, {"did you mean 'qwen2.5-7b-1m-h200'?"}, "misspelt");
    expect_line(run({"plan", ""}), 2, {"SCENARIO", "an empty name"}, "empty name");
    expect_line(run({"plan", std::string(300, 'a')}), 2, {}, "long name");
    expect_line(run({"plan", "/dev/null"}), 2, {"/dev/null", "model"}, "empty device");
    expect_line(run({"plan", "/dev/zero"}), 2, {"/dev/zero"}, "endless device");
    ASSERT_EQ(::truncate((write("huge.toml", ""), at("huge.toml").c_str()), int64_t{1} << 30), 0);
    expect_line(run({"plan", "huge.toml"}), 2, {"huge.toml", "1073741824"}, "1 GiB of nothing");
    write("secret.toml", kGood);
    ASSERT_EQ(::chmod(at("secret.toml").c_str(), 0), 0);
    if (::geteuid() != 0)
        expect_line(run({"plan", "secret.toml"}), 2, {"secret.toml"}, "unreadable");  // root reads all
    fs::create_symlink(at("loop.toml"), at("loop.toml"));
    expect_line(run({"plan", "loop.toml"}), 2, {"loop.toml"}, "link to itself");
}

TEST_F(BadInput, ModelFiles) {
    fs::create_directory(at("m"));
    const std::string scenario = "model = \"m/config.json\"\nhardware = \"h200-sxm-pcie5\"\ncontext = 4096\n";
    write("s.toml", scenario);
    for (const auto& [config, part] : std::vector<std::pair<std::string, std::string>>{
             {"", "config.json"},
             {"{", "config.json"},
             {"[]", "config.json"},
             {R"({"model_type": "mamba"})", "mamba"},
             {R"({"hidden_size": 64})", "model_type"},
             {R"({"model_type": "qwen2", "hidden_size": 1e99})", "hidden_size"},
             {R"({"model_type": "qwen2", "hidden_size": "wide"})", "hidden_size"},
             {std::string(100000, '['), "config.json"}}) {
        write("m/config.json", config);
        expect_line(run({"plan", "s.toml", "-q"}), 2, {part}, config.substr(0, 80));
    }
}

TEST_F(BadInput, Options) {
    const std::string good = "qwen2.5-7b-8k-oomb-dense-h200";
    const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> table = {
        {{"paln", good}, {"paln", "did you mean 'plan'"}},
        {{"plan"}, {"scenario", "headroom plan --help"}},
        {{"plan", good, "extra"}, {"extra"}},
        {{"plan", good, "--jsn"}, {"--jsn"}},
        {{"plan", good, "-o"}, {"--output"}},
        {{"--jsn"}, {"--jsn"}},
        {{"plan", good, "--set"}, {"--set"}},
        {{"plan", good, "--set", "context"}, {"--set", "="}},
        {{"plan", good, "--set", "=5"}, {"--set"}},
        {{"plan", good, "--set", "context=lots"}, {"--set", "lots"}},
        {{"plan", good, "--set", "context="}, {"--set", "context"}},
        {{"plan", good, "--set", "contxt=1"}, {"--set", "did you mean 'context'"}},
        {{"plan", good, "--set", "plan.chnk=4096"}, {"--set", "did you mean 'chunk'"}},
        {{"plan", good, "--set", "plan.=4096"}, {"--set"}},
        {{"plan", good, "--set", "plan.chunk.x=4096"}, {"--set"}},
        {{"plan", good, "--set", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r=1"}, {"--set"}},
        {{"plan", good, "--set", "context=[[[["}, {"--set"}},
        {{"plan", good, "--set", "plan.chunk=4Ki\nevil=1"}, {"--set"}},
        {{"sweep", good}, {"--context"}},
        {{"sweep", good, "--context", "lots"}, {"--context", "lots"}},
        {{"sweep", good, "--context", "64Ki:"}, {"--context"}},
        {{"sweep", good, "--context", ":"}, {"--context"}},
        {{"sweep", good, "--context", ""}, {"--context"}},
        {{"sweep", good, "--context", "1Mi:64Ki"}, {"--context"}},
        {{"sweep", good, "--context", "0:64Ki"}, {"--context"}},
        {{"sweep", good, "--context", "64Ki,,1Mi"}, {"--context"}},
        {{"sweep", good, "--context", "1:99Ti"}, {"--context"}},
        {{"sweep", good, "--context", "64Ki", "--strategies", "chunkd"}, {"chunkd"}},
        {{"sweep", good, "--context", "64Ki", "--strategies", ""}, {"strateg"}},
        {{"simulate", "plan.json"}, {"--output"}},
        {{"simulate", "missing.json", "-o", "x.trace.json.gz"}, {"missing.json"}},
        {{"compare", "a.trace.json.gz"}, {"measured"}},
        {{"excerpt", "a.trace.json.gz", "-o", "b"}, {"--chunks"}},
        {{"excerpt", "a.trace.json.gz", "--chunks", "0,one", "-o", "b"}, {"--chunks", "one"}},
        {{"excerpt", "a.trace.json.gz", "--chunks", "0,-1", "-o", "b"}, {"--chunks", "-1"}},
        {{"excerpt", "a.trace.json.gz", "--chunks", "0", "-o", "b"}, {"a.trace.json.gz"}},
        {{"excerpt", "a.trace.json.gz", "--chunks", "0", "--instants", "0", "-o", "b"}, {"--instants"}},
        {{"compare", "a.trace.json.gz", "b.trace.json.gz"}, {"a.trace.json.gz"}},
        {{"compare", "a", "b", "--tolerance", "five"}, {"--tolerance", "five"}},
        {{"compare", "a", "b", "--tolerance", "-1%"}, {"--tolerance"}},
        {{"compare", "a", "b", "--tolerance", "nan"}, {"--tolerance"}},
        {{"completion"}, {"shell"}},
        {{"completion", "tcsh"}, {"tcsh", "bash"}},
    };
    for (const auto& [arguments, parts] : table)
        expect_line(run(arguments), 2, parts, fmt::format("{}", fmt::join(arguments, " ")));
}

TEST_F(BadInput, PlanFiles) {
    const std::string plan = plan_file();
    ASSERT_GT(plan.size(), 1000u);
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = plan;
        const size_t at = text.find(from);
        EXPECT_NE(at, text.npos) << from;
        if (at != text.npos) text.replace(at, from.size(), to);
        return text;
    };
    const std::vector<std::pair<std::string, std::string>> table = {
        {"", "p.json"},
        {plan.substr(0, plan.size() / 2), "p.json"},
        {"[]", "p.json"},
        {"{}", "p.json"},
        {kGood, "p.json"},  // a scenario
        {changed("\"schema_version\": 2", "\"schema_version\": 99"), "schema_version"},
        {changed("\"strategy\": \"chunked\"", "\"strategy\": \"chanked\""), "chanked"},
        {changed("\"strategy\"", "\"stratgy\""), "strat"},
    };
    for (const auto& [text, part] : table) {
        write("p.json", text);
        expect_line(run({"simulate", "p.json", "-o", "x.trace.json.gz", "-q"}), 2, {part},
                    text.substr(0, 60));
    }
    EXPECT_FALSE(fs::exists(at("x.trace.json.gz")));
}

TEST_F(BadInput, TimelineFiles) {
    plan_file();
    ASSERT_EQ(run({"simulate", "plan.json", "-o", "t.trace.json.gz", "-q"}).code, 0);
    const auto whole = read_file(at("t.trace.json.gz"), 64 * kMiB);
    ASSERT_TRUE(whole);
    write("cut.trace.json.gz", whole->substr(0, whole->size() / 2));
    write("plain.trace.json.gz", "{}");
    write("empty.trace.json.gz", "");
    std::string flipped = *whole;
    flipped[flipped.size() - 6] = static_cast<char>(flipped[flipped.size() - 6] ^ 0x55);
    write("flipped.trace.json.gz", flipped);
    for (const std::string name : {"cut", "plain", "empty", "flipped"}) {
        const std::string file = name + ".trace.json.gz";
        expect_line(run({"compare", "t.trace.json.gz", file}), 2, {file}, name);
    }
    expect_line(run({"compare", "plan.json", "t.trace.json.gz"}), 2, {"plan.json"}, "a plan");
}

TEST_F(BadInput, OutputsThatCannotBeWritten) {
    const std::vector<std::string> plan = {"plan", "qwen2.5-7b-8k-oomb-dense-h200", "-q", "--no-gains", "-o"};
    const auto with = [&](const std::string& output) {
        std::vector<std::string> all = plan;
        all.push_back(output);
        return run(all);
    };
    expect_line(with("missing/plan.json"), 2, {"missing/plan.json", "folder is not there"}, "missing folder");
    expect_line(with("."), 2, {"is a folder"}, "a folder");
    expect_line(with(""), 2, {"--output", "empty name"}, "an empty name");
    expect_line(with("/dev/full"), 5, {"/dev/full", "No space left"}, "full disk");
    expect_line(
        run({"sweep", "qwen2.5-7b-8k-oomb-dense-h200", "--context", "8Ki", "-q", "--csv", "no/x.csv"}), 2,
        {"no/x.csv"}, "csv");
    expect_line(
        run({"sweep", "qwen2.5-7b-8k-oomb-dense-h200", "--context", "8Ki", "-q", "--plot", "no/x.svg"}), 2,
        {"no/x.svg"}, "svg");
    EXPECT_EQ(names(), std::vector<std::string>{}) << "nothing is left behind";
}

// What is read is not written over: the user's scenario, plan or timeline would be gone.
TEST_F(BadInput, AnOutputThatIsAnInputIsRefused) {
    const std::string scenario = "model = \"tiny-qwen2\"\nhardware = \"cpu\"\ncontext = \"2Ki\"\n";
    ASSERT_TRUE(write_file(folder_ / "s.toml", scenario));
    expect_line(run({"plan", "s.toml", "-q", "-o", "./s.toml"}), 2, {"s.toml", "another file"}, "plan");
    expect_line(run({"max-context", "s.toml", "-q", "-o", "s.toml"}), 2, {"another file"}, "max-context");
    expect_line(run({"sweep", "s.toml", "--context", "2Ki", "-q", "--csv", "s.toml"}), 2, {"another file"},
                "csv");
    expect_line(run({"sweep", "s.toml", "--context", "2Ki", "-q", "--csv", "x", "--plot", "x"}), 2,
                {"--plot", "another file"}, "two in one");
    EXPECT_EQ(*read_file(folder_ / "s.toml", kMiB), scenario);
    ASSERT_EQ(run({"plan", "s.toml", "-q", "--no-gains", "-o", "p.json"}).code, 0);
    const std::string plan = *read_file(folder_ / "p.json", kMiB);
    expect_line(run({"simulate", "p.json", "-q", "-o", "p.json"}), 2, {"another file"}, "simulate");
    EXPECT_EQ(*read_file(folder_ / "p.json", kMiB), plan);
    ASSERT_EQ(run({"simulate", "p.json", "-q", "-o", "t.trace.json.gz"}).code, 0);
    const std::string timeline = *read_file(folder_ / "t.trace.json.gz", kMiB);
    expect_line(run({"excerpt", "t.trace.json.gz", "--chunks", "0", "-o", "t.trace.json.gz"}), 2,
                {"another file"}, "excerpt");
    EXPECT_EQ(*read_file(folder_ / "t.trace.json.gz", kMiB), timeline);
}

// Shards need the ranks of a ring; on one GPU there was a division by none.
TEST_F(BadInput, ShardsOnOneGpuAreRefused) {
    for (const char* home : {"weights_home", "gradients_home", "states_home"}) {
        for (const char* strategy : {"chunked", "whole-sequence", "layer-major"}) {
            expect_line(run({"plan", "llama-3.1-8b-16k-full-rtx4090", "-q", "--set",
                             std::string("plan.") + home + "=ranks", "--set",
                             std::string("plan.strategy=") + strategy}),
                        2, {home, "'device' or 'host'"}, strategy);
        }
    }
}

TEST_F(BadInput, NumbersThatAreNoneAreRefused) {
    for (const char* option : {"--learning-rate", "--epsilon", "--clip-norm", "--weight-decay"})
        expect_line(run({"run", "p.json", option, "nan"}), 2, {option, "'nan'"}, option);
    expect_line(run({"run", "p.json", "--seed", "-1"}), 2, {"--seed", "-1"}, "seed");
    expect_line(run({"fidelity", "cpu", "-o", "x", "--budget-seconds", "nan"}), 2, {"--budget-seconds"},
                "budget");
    expect_line(run({"excerpt", "--chunks", "abc", "t.json", "-o", "x"}), 2, {"--chunks", "'abc'"}, "chunks");
    expect_line(run({"fidelity", "cpu", "-o", "x", "--replay"}), 2, {"x", "no run"}, "replay");
}

TEST_F(BadInput, AFullDiskUnderStdout) {
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"--help"},
             {"completion", "bash"},
             {"plan", "qwen2.5-7b-8k-oomb-dense-h200", "-q", "--no-gains"}}) {
        const Outcome o = run_headroom(arguments, folder_, "/dev/full");
        expect_line(o, 5, {"No space left"}, arguments[0]);
    }
}

}  // namespace
}  // namespace headroom::test
