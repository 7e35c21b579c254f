#include "base/interrupt.h"

#include <signal.h>

#include <fstream>

#include "base/file.h"
#include "scratch_folder.h"

namespace headroom {
namespace {

class InterruptTest : public ScratchFolder {
protected:
    void SetUp() override {
        ScratchFolder::SetUp();
        clear_interrupt();
        handle_interrupts();
    }
    void TearDown() override {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        clear_interrupt();
        ScratchFolder::TearDown();
    }
};

TEST_F(InterruptTest, FirstSignalSetsTheFlag) {
    for (const int number : {SIGINT, SIGTERM}) {
        EXPECT_FALSE(interrupted());
        EXPECT_TRUE(check_interrupt("work"));
        raise(number);
        EXPECT_TRUE(interrupted());
        ASSERT_FALSE(check_interrupt("work"));
        EXPECT_EQ(check_interrupt("work").error().fault, Fault::interrupted);
        clear_interrupt();
    }
}

TEST_F(InterruptTest, InterruptedWriteLeavesTheOldFile) {
    ASSERT_TRUE(write_file(at("a"), "old"));
    raise(SIGINT);
    EXPECT_EQ(write_file(at("a"), "new").error().fault, Fault::interrupted);
    EXPECT_EQ(read_file(at("a"), 10).error().fault, Fault::interrupted);
    clear_interrupt();
    EXPECT_EQ(read_file(at("a"), 10), "old");
    EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(InterruptTest, IgnoredSignalStaysIgnored) {
    signal(SIGINT, SIG_IGN);
    handle_interrupts();
    raise(SIGINT);
    EXPECT_FALSE(interrupted());
}

TEST_F(InterruptTest, TemporaryNameGoesUnlessKept) {
    {
        TemporaryName gone(at("gone").string());
        TemporaryName kept(at("kept").string());
        std::ofstream(gone.path()) << "x";
        std::ofstream(kept.path()) << "x";
        kept.keep();
    }
    EXPECT_EQ(names(), std::vector<std::string>{"kept"});
}

TEST_F(InterruptTest, SecondSignalRemovesOpenNamesAndEndsTheProcess) {
    EXPECT_EXIT(
        {
            TemporaryName open(at("open").string());
            TemporaryName kept(at("kept").string());
            std::ofstream(open.path()) << "x";
            std::ofstream(kept.path()) << "x";
            kept.keep();
            raise(SIGTERM);
            raise(SIGTERM);
            raise(SIGKILL);  // not reached
        },
        ::testing::KilledBySignal(SIGTERM), "");
    EXPECT_EQ(names(), std::vector<std::string>{"kept"});
}

TEST_F(InterruptTest, MoreNamesThanSlotsAreStillRemoved) {
    {
        std::vector<std::unique_ptr<TemporaryName>> open;
        for (int i = 0; i < 20; ++i) {
            open.push_back(std::make_unique<TemporaryName>(at(std::to_string(i)).string()));
            std::ofstream(open.back()->path()) << "x";
        }
        EXPECT_EQ(names().size(), 20U);
    }
    EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace headroom
