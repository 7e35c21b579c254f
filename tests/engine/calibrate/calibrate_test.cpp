// `headroom calibrate` as its users run it, on the CPU.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "hardware/calibration.h"
#include "sim/base/scratch_folder.h"
#include "sim/cli/command_under_test.h"

namespace headroom::engine {
namespace {

using headroom::test::lines_of;
using headroom::test::Outcome;
using headroom::test::run_headroom;

class Calibrate : public ScratchFolder {
protected:
    Outcome run(std::vector<std::string> words) const {
        words.insert(words.begin(), "calibrate");
        return run_headroom(words, folder_);
    }
    std::string bytes(const std::string& name) const {
        const auto text = read_file(folder_ / name, kMiB);
        EXPECT_TRUE(text) << (text ? "" : text.error().text());
        return text.value_or("");
    }
    size_t files() const {
        return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
    }
};

TEST_F(Calibrate, WritesAFileThatPlansReadFitsAgainAndIsCheckedBy) {
    const Outcome made = run({"-o", "x.toml", "--device", "cpu", "--quick", "--disk", "."});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_NE(made.out.find("wrote x.toml"), std::string::npos) << made.out;
    EXPECT_EQ(made.out.find("skipped"), std::string::npos) << made.out << made.err;
    EXPECT_EQ(files(), 1);

    const std::string text = bytes("x.toml");
    const auto hardware = parse_hardware(text, "x.toml", "x");
    ASSERT_TRUE(hardware) << hardware.error().text();
    EXPECT_TRUE(hardware->calibrated);
    EXPECT_NE(hardware->provenance.find("threads"), std::string::npos) << hardware->provenance;
    const auto rows = parse_measured(text, "x.toml");
    ASSERT_TRUE(rows) << rows.error().text();
    EXPECT_GT(rows->gemm.size(), 10);
    EXPECT_GT(rows->gemm_accumulate.size(), 5);
    EXPECT_GT(rows->attention.size(), 3);
    EXPECT_GT(rows->memory.size(), 40);
    EXPECT_EQ(rows->transfers.size(), 12);
    EXPECT_EQ(rows->disk.size(), 2);
    EXPECT_EQ(rows->machine.like, "cpu");
    EXPECT_GT(rows->machine.launch_us, 0);

    // The same constants from the same rows.
    const Outcome again = run({"--refit", "x.toml", "-o", "y.toml"});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(bytes("y.toml"), text);
    EXPECT_EQ(run({"--refit", "y.toml"}).code, 0);
    EXPECT_EQ(bytes("y.toml"), text);

    const Outcome checked = run({"--check", "x.toml", "--device", "cpu", "--tolerance", "10"});
    EXPECT_EQ(checked.code, 0) << checked.err << checked.out;
    EXPECT_EQ(lines_of(checked.out), 4) << checked.out;
    for (const char* part :
         {"GEMM 256 x 256 x 1536", "attention 256 x 256, 4 over 2 heads of 64", "batch of 1 MiB"})
        EXPECT_NE(checked.out.find(part), std::string::npos) << part << '\n' << checked.out;
    EXPECT_EQ(run({"--check", "x.toml", "--device", "cpu", "--tolerance", "0"}).code, 4);

    const Outcome plan = run_headroom({"plan", "tiny-cpu", "-q", "--set", "hardware=x.toml"}, folder_);
    EXPECT_EQ(plan.code, 0) << plan.err;
}

TEST_F(Calibrate, BadOptionsAreToldBeforeAnythingIsMeasured) {
    const auto refused = [&](std::vector<std::string> words, const char* part) {
        const Outcome o = run(std::move(words));
        EXPECT_EQ(o.code, 2) << o.err;
        EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
        EXPECT_EQ(o.out, "");
    };
    refused({"--device", "cpu"}, "-o");
    refused({"-o", "x.toml", "--device", "tpu"}, "tpu");
    refused({"-o", "x.toml", "--device", "cpu", "--like", "h20"}, "h20");
    refused({"-o", "x.toml", "--device", "cpu", "--disk", "nowhere"}, "nowhere");
    refused({"--refit", "none.toml"}, "does not exist");
    refused({"--refit", "a", "--check", "b"}, "--refit");
    ASSERT_TRUE(write_file(folder_ / "cpu.toml", [] {
        const auto text = read_file(HEADROOM_SOURCE_DIR "/models/hardware/cpu.toml", kMiB);
        return text.value_or("");
    }()));
    refused({"--refit", "cpu.toml"}, "[measured]");
    std::filesystem::remove(folder_ / "cpu.toml");
    EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace headroom::engine
