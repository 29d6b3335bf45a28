// tests/workbench/worker_test.cpp - what a worker may do and is believed, and what programs get of this one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/workbench/bench_support.h"
#include "workbench/referee/process.h"

namespace salient::workbench {
namespace {

constexpr WorkerLimits kSealed{.memory_bytes = std::size_t{256} << 20, .is_sealed = true};
constexpr double kSeconds = 60;

void do_nothing() {}

TEST(Worker, AnErrorOfASealedOneIsNoFaultOfTheMachineAndShort) {
  const auto serve = [](std::size_t) {
    fail(ErrorKind::kNoDevice, "\x1b[31mno GPU\n\xC2\x9B" + std::string(400, 'x'));
  };
  Worker sealed(do_nothing, serve, kSealed), open(do_nothing, serve, {});
  ASSERT_EQ(sealed.wait_until_ready(kSeconds).kind, Reply::Kind::kOk);
  const Reply reply = sealed.run(0, kSeconds);
  EXPECT_EQ(reply.kind, Reply::Kind::kError);
  EXPECT_EQ(reply.error, ErrorKind::kInternal);
  EXPECT_LT(reply.text.size(), 250U);
  EXPECT_TRUE(std::all_of(reply.text.begin(), reply.text.end(), [](char c) { return c >= ' ' && c < 0x7F; }));
  ASSERT_EQ(open.wait_until_ready(kSeconds).kind, Reply::Kind::kOk);
  EXPECT_EQ(open.run(0, kSeconds).error, ErrorKind::kNoDevice);
}

TEST(Worker, AnswersToWhatWasNotAskedAreNoAnswers) {
  Worker worker(do_nothing,
                [](std::size_t) {
                  const char good[512] = {};
                  for (int d = 3; d < 64; ++d)
                    if (write(d, good, sizeof good) < 0) continue;
                },
                {});
  ASSERT_EQ(worker.wait_until_ready(kSeconds).kind, Reply::Kind::kOk);
  const Reply reply = worker.run(0, kSeconds);
  EXPECT_EQ(reply.kind, Reply::Kind::kDied);
  EXPECT_NE(reply.text.find("not asked"), std::string::npos) << reply.text;
  EXPECT_EQ(worker.run(1, kSeconds).kind, Reply::Kind::kDied);
}

/// How a step of a sealed worker ends.
Reply::Kind sealed_step(const std::function<void()>& step) {
  Worker worker(
      do_nothing, [&](std::size_t) { step(); }, kSealed);
  EXPECT_EQ(worker.wait_until_ready(kSeconds).kind, Reply::Kind::kOk);
  return worker.run(0, kSeconds).kind;
}

TEST(Worker, ASealedStepTakesMemoryAndNothingElse) {
  if (!test::kHasFilters) GTEST_SKIP() << "a program with a sanitizer";
  EXPECT_EQ(sealed_step([] {
              for (int lap = 0; lap < 8; ++lap)
                std::vector<char>(std::size_t{48} << 20, 'x').swap(*new std::vector<char>());
            }),
            Reply::Kind::kDied)
      << "more than its limit";
  EXPECT_EQ(sealed_step([] {
              for (int lap = 0; lap < 50; ++lap) {
                std::vector<char> large(std::size_t{48} << 20, 'x');
                if (large[7] != 'x') _exit(1);
              }
            }),
            Reply::Kind::kOk)
      << "what is given back is there again";
  Arena shared(1 << 16);
  for (const auto& step : std::vector<std::function<void()>>{
           [&] { (void)munmap(shared.data(), 4096); }, [&] { (void)mprotect(shared.data(), 4096, PROT_READ); },
           [] { (void)mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }, [] { (void)fork(); },
           [] { (void)open("/dev/null", O_RDONLY); }, [] { (void)getppid(); }, [] { (void)!write(2, "x", 1); },
           [] { _exit(0); }})
    EXPECT_EQ(sealed_step(step), Reply::Kind::kDied);
}

TEST(Worker, ASealedOneLoadsWithoutRights) {
  if (!test::kHasFilters) GTEST_SKIP() << "a program with a sanitizer";
  const auto prepared = [](const std::function<void()>& prepare) {
    Worker worker(
        prepare, [](std::size_t) {}, kSealed);
    return worker.wait_until_ready(kSeconds).kind;
  };
  EXPECT_EQ(prepared([] {
              std::string word;
              for (std::ifstream status("/proc/self/status"); status >> word;)
                if (word == "CapEff:" && status >> word && word != "0000000000000000") _exit(1);
            }),
            Reply::Kind::kOk);
  const salient::test::Scratch scratch;
  const std::string file = scratch / "made";
  for (const auto& prepare :
       std::vector<std::function<void()>>{[&] { (void)open(file.c_str(), O_WRONLY | O_CREAT, 0600); },
                                          [] { (void)fork(); }, [] { (void)socket(AF_INET, SOCK_STREAM, 0); },
                                          [] { (void)kill(getppid(), 0); }, [&] { (void)mkdir(file.c_str(), 0700); }})
    EXPECT_EQ(prepared(prepare), Reply::Kind::kDied);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Process, ToolsGetLimitsAndNoKeys) {
  ASSERT_EQ(setenv("SALIENT_TEST_KEY", "sk-secret", 1), 0);
  const int leaked = open("/dev/null", O_RDONLY);
  const auto says = [](const char* script, const ProcessLimits& limits) {
    return run_process({"/bin/sh", "-c", script}, "", limits).output;
  };
  const char* const key = "echo key=$SALIENT_TEST_KEY";
  EXPECT_EQ(says(key, {.environment = Environment::kTools}), "key=\n");
  EXPECT_EQ(says(key, {.environment = Environment::kWhole}), "key=sk-secret\n");
  EXPECT_EQ(says("echo home=$HOME", {.environment = Environment::kNone}), "home=\n");
  EXPECT_EQ(says("echo $TMPDIR $LC_ALL", {.scratch = "/some/where"}), "/some/where C\n");
  EXPECT_EQ(says("ulimit -t; ulimit -v; ulimit -f",
                 {.cpu_seconds = 7, .memory_bytes = std::size_t{1} << 30, .file_bytes = 1 << 20}),
            "7\n1048576\n2048\n");
  EXPECT_EQ(says(("[ -e /proc/self/fd/" + std::to_string(leaked) + " ] && echo leaked").c_str(), {}), "");
  (void)close(leaked);
  (void)unsetenv("SALIENT_TEST_KEY");
}

TEST(Process, TheLimitThatWasMetIsSaid) {
  const ProcessLimits limits{.cpu_seconds = 1, .memory_bytes = std::size_t{2} << 30, .file_bytes = 4096};
  const auto met = [&](const char* script) {
    return limit_met(run_process({"/bin/sh", "-c", script}, "", limits), limits).value_or("none");
  };
  EXPECT_NE(met("while :; do :; done").find("1 seconds of processor time"), std::string::npos);
  EXPECT_NE(met("echo cc1plus: out of memory allocating 9 bytes >&2; exit 1").find("2 GiB"), std::string::npos);
  const salient::test::Scratch scratch;
  EXPECT_NE(
      met(("exec dd if=/dev/zero of=" + std::string(scratch / "f") + " bs=9000 count=1").c_str()).find("a file of"),
      std::string::npos);
}

}  // namespace
}  // namespace salient::workbench
