// The process and what becomes of it, with the system's own programs in the engine's place; the engine itself
// where a build has it.
#include "gui/model/engine_run.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "base/file.h"
#include "cli/engine_process.h"
#include "cli/sibling_program.h"
#include "gui/becomes.h"
#include "plan/plan.h"

namespace headroom::gui::test {
namespace {

using State = EngineRun::State;

struct Watched {
    EngineRun run;
    int finished = 0, cancelled = 0;
    std::optional<Error> error;
    QList<RunEvent::Kind> kinds;

    Watched() {
        QObject::connect(&run, &EngineRun::finished, [this](const QString&) { ++finished; });
        QObject::connect(&run, &EngineRun::cancelled, [this] { ++cancelled; });
        QObject::connect(&run, &EngineRun::failed, [this](const Error& e) { error = e; });
        QObject::connect(&run, &EngineRun::said, [this](const RunEvent& e) { kinds << e.kind; });
    }
    void shell(const QString& script) { run.start("/bin/sh", {"-c", script}, "out.trace.json.gz"); }
    testing::AssertionResult ends() {
        return becomes([this] { return run.state() == State::idle; });
    }
};

constexpr const char* kTwoSteps =
    R"(printf '{"event":"start","device":"CPU","ops":10,"first_step":4,"steps":2}\n{"event":"progress","step":4,"share":0.5}\n'
printf '{"event":"step","step":4,"loss":2.5,"seconds":1,"device_used_bytes":1024}\n'
printf 'a word in between\n{"event":"step","ste'; sleep 0.2; printf 'p":5,"loss":2.25,"seconds":1}\n'
printf '{"event":"end","steps":2,"loss":2.25}')";

TEST(EngineRun, LinesBecomeEventsWhereverTheyAreCut) {
    Watched w;
    w.shell(kTwoSteps);
    EXPECT_EQ(w.run.state(), State::running);
    ASSERT_TRUE(w.ends());
    EXPECT_EQ(w.finished, 1);
    EXPECT_EQ(w.cancelled, 0);
    EXPECT_FALSE(w.error);
    using Kind = RunEvent::Kind;
    EXPECT_EQ(w.kinds,
              (QList<Kind>{Kind::start, Kind::progress, Kind::step, Kind::other, Kind::step, Kind::end}));
    const RunSoFar& s = w.run.so_far();
    ASSERT_EQ(s.steps.size(), 2u);
    EXPECT_EQ(s.steps[0].loss, 2.5);
    EXPECT_EQ(s.steps[1].step, 5);
    EXPECT_EQ(s.end->loss, 2.25);
    EXPECT_EQ(s.share, 1);
    EXPECT_EQ(s.lines, QStringList{"a word in between"});
    ASSERT_EQ(s.device_memory.size(), 1u);
    EXPECT_EQ(s.device_memory[0].bytes, 1024);
}

TEST(EngineRun, TheShareCountsFromTheFirstStepOfThisRun) {
    Watched w;
    w.shell(
        R"(printf '{"event":"start","first_step":4,"steps":2}\n{"event":"progress","step":5,"share":0.5}\n'; exec sleep 60)");
    ASSERT_TRUE(becomes([&] { return w.run.so_far().share > 0; }));
    EXPECT_DOUBLE_EQ(w.run.so_far().share, 0.75);
    ASSERT_TRUE(w.run.remaining_seconds());
    EXPECT_GE(*w.run.remaining_seconds(), 0);
    EXPECT_LE(*w.run.remaining_seconds(), w.run.elapsed_seconds() / 3 + 1e-9);
    w.run.cancel();
    ASSERT_TRUE(w.ends());
}

TEST(EngineRun, MemoryIsSampledWhileItRuns) {
    Watched w;
    w.shell("exec sleep 60");
    ASSERT_TRUE(becomes([&] { return w.run.so_far().memory.size() >= 2; }));
    const auto& memory = w.run.so_far().memory;
    EXPECT_GT(memory[0].bytes, 100'000);
    EXPECT_LT(memory[0].bytes, 100'000'000);
    EXPECT_LT(memory[0].seconds, memory[1].seconds);
    w.run.cancel();
    ASSERT_TRUE(w.ends());
}

TEST(EngineRun, CancellingIsOneInterrupt) {
    Watched w;
    const QTemporaryDir folder;
    w.shell(QString("trap 'echo x >>%1; kill $!; exit 130' INT; echo ready; sleep 60 & wait")
                .arg(folder.filePath("pressed")));
    ASSERT_TRUE(becomes([&] { return !w.run.so_far().lines.isEmpty(); }));
    w.run.cancel();
    EXPECT_EQ(w.run.state(), State::cancelling);
    ASSERT_TRUE(w.ends());
    EXPECT_EQ(w.cancelled, 1);
    EXPECT_EQ(w.finished, 0);
    EXPECT_FALSE(w.error);
    EXPECT_EQ(*read_file(folder.filePath("pressed").toStdString(), kMiB), "x\n");
}

// As an app does that a script started in the background (sh: `headroom-gui &`).
TEST(EngineRun, CancellingIsHeardWhereTheAppItselfIgnoresInterrupts) {
    for (const bool blocked : {false, true}) {
        sigset_t interrupt;
        sigemptyset(&interrupt);
        sigaddset(&interrupt, SIGINT);
        const auto before = ::signal(SIGINT, blocked ? SIG_DFL : SIG_IGN);
        if (blocked) pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
        Watched w;
        w.run.set_grace_ms(1'000'000);
        w.shell("trap 'kill $!; exit 130' INT; echo ready; sleep 60 & wait");
        EXPECT_TRUE(becomes([&] { return !w.run.so_far().lines.isEmpty(); }));
        w.run.cancel();
        EXPECT_TRUE(becomes([&] { return w.run.state() == State::idle; }, 10'000)) << blocked;
        EXPECT_EQ(w.cancelled, 1);
        ::signal(SIGINT, before);
        pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
    }
}

TEST(EngineRun, WhatDoesNotListenIsEndedAfterTheGracePeriod) {
    Watched w;
    w.run.set_grace_ms(100);
    w.shell("trap '' INT; echo ready; while :; do sleep 0.1; done");
    ASSERT_TRUE(becomes([&] { return !w.run.so_far().lines.isEmpty(); }));
    w.run.cancel();
    ASSERT_TRUE(w.ends());
    EXPECT_EQ(w.cancelled, 1);
    EXPECT_FALSE(w.error);
}

TEST(EngineRun, ASecondCancelDoesNotWait) {
    Watched w;
    w.run.set_grace_ms(1'000'000);
    w.shell("trap 'trap - INT' INT; echo ready; while :; do sleep 0.05; done");
    ASSERT_TRUE(becomes([&] { return !w.run.so_far().lines.isEmpty(); }));
    w.run.cancel();
    QTest::qWait(500);
    EXPECT_EQ(w.run.state(), State::cancelling);
    w.run.cancel();
    ASSERT_TRUE(w.ends());
    EXPECT_EQ(w.cancelled, 1);
}

TEST(EngineRun, AnErrorKeepsTheWordsOfTheEngineAndTheMeaningOfItsCode) {
    Watched w;
    w.shell("echo noise >&2; echo 'headroom-engine: plan.json: 9 bytes; allowed: 8 bytes' >&2; exit 3");
    ASSERT_TRUE(w.ends());
    ASSERT_TRUE(w.error);
    EXPECT_EQ(w.finished + w.cancelled, 0);
    EXPECT_EQ(w.error->fault, Fault::does_not_fit);
    EXPECT_EQ(w.error->text(),
              "headroom-engine: the plan does not fit this machine: plan.json: 9 bytes; allowed: 8 bytes");
}

TEST(EngineRun, ProgramsThatAreMissingOrDieAreErrorsToo) {
    Watched missing;
    missing.run.start("/none/headroom-engine", {"run"}, "t.trace.json.gz");
    ASSERT_TRUE(missing.ends());
    ASSERT_TRUE(becomes([&] { return missing.error.has_value(); }));
    EXPECT_NE(missing.error->allowed.find("scripts/deps engine"), std::string::npos);
    Watched killed;
    killed.shell("kill -KILL $$");
    ASSERT_TRUE(killed.ends());
    ASSERT_TRUE(killed.error);
    EXPECT_NE(killed.error->found.find("signal 9 (Killed); the system may have run out of memory"),
              std::string::npos)
        << killed.error->found;
    Watched other;
    other.shell("echo a library speaks >&2; exit 77");
    ASSERT_TRUE(other.ends());
    EXPECT_EQ(other.error->text(), "headroom-engine: exit code 77: a library speaks");
}

TEST(EngineRun, EveryExitCodeHasAMeaning) {
    for (const auto& [code, fault] : {std::pair{2, Fault::bad_input},
                                      {3, Fault::does_not_fit},
                                      {5, Fault::run_failed},
                                      {130, Fault::interrupted},
                                      {99, Fault::run_failed}})
        EXPECT_EQ(engine_error(code, 0, "").fault, fault) << code;
    EXPECT_EQ(engine_error(5, 0, "").text(), "headroom-engine: the run failed");
    EXPECT_EQ(engine_error(2, 0, "headroom-engine: a: b\n").text(), "headroom-engine: bad input: a: b");
}

TEST(EngineRun, ANewRunForgetsTheOneBefore) {
    Watched w;
    w.shell(kTwoSteps);
    ASSERT_TRUE(w.ends());
    w.shell("true");
    EXPECT_TRUE(w.run.so_far().steps.empty());
    EXPECT_EQ(w.run.so_far().share, 0);
    ASSERT_TRUE(w.ends());
    EXPECT_EQ(w.finished, 2);
}

TEST(EngineRun, NoProcessOutlivesIt) {
    qint64 process = 0;
    {
        Watched w;
        w.run.set_grace_ms(200);
        w.shell("trap '' INT; echo ready; while :; do sleep 0.1; done");
        ASSERT_TRUE(becomes([&] { return !w.run.so_far().lines.isEmpty(); }));
        process = w.run.process_id();
        w.run.disconnect();
    }
    EXPECT_FALSE(QFile::exists(QString("/proc/%1").arg(process)));
}

TEST(EngineRun, ThePlanIsWrittenWhole) {
    EngineRun run;
    Plan plan;
    plan.name = "named";
    const Result<QString> file = run.write_plan_file(plan);
    ASSERT_TRUE(file);
    EXPECT_EQ(*read_file(file->toStdString(), kMiB), write_plan(plan));
}

}  // namespace
}  // namespace headroom::gui::test
