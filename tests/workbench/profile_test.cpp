// tests/workbench/profile_test.cpp - a profiler's figures on their way into notes, prompts and the ledger, without a
// GPU: the host back end judges, and a program called ncu says what the real one said of softsign on an H200.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/workbench/bench_support.h"
#include "workbench/backend/ncu_profile.h"
#include "workbench/ledger/ledger.h"
#include "workbench/method/driver.h"
#include "workbench/method/optimize.h"

namespace salient::workbench::test {
namespace {

const char* const kFigures =
    "ncu: n=67108864, softsign_kernel: 211.68 us, 517.4 MB of memory traffic, 0.0 % of the tensor pipe, 72.7 % of the "
    "warps that fit, 16 registers a thread, 1024 bytes of shared memory a block\n"
    "ncu: n=16777219, softsign_kernel: 51.39 us, 112.4 MB of memory traffic, 0.0 % of the tensor pipe, 72.4 % of the "
    "warps that fit, 16 registers a thread, 1024 bytes of shared memory a block\n";

/// A folder at the front of PATH, with an ncu that writes its arguments to `arguments` and prints the recorded csv.
class RecordedNcu {
 public:
  RecordedNcu() : path_(std::getenv("PATH")) {
    const std::filesystem::path ncu = scratch_ / "ncu", csv = fixtures_folder() / "../recorded/softsign_ncu.csv";
    salient::test::write_bytes(
        ncu, "#!/bin/sh\necho \"$@\" >> '" + arguments().string() + "'\ncat '" + csv.string() + "'\n");
    std::filesystem::permissions(ncu, std::filesystem::perms::owner_all);
    (void)setenv("PATH", (scratch_.path().string() + ":" + path_).c_str(), 1);
  }
  ~RecordedNcu() { (void)setenv("PATH", path_.c_str(), 1); }
  RecordedNcu(const RecordedNcu&) = delete;
  RecordedNcu& operator=(const RecordedNcu&) = delete;

  std::filesystem::path arguments() const { return scratch_ / "arguments"; }

 private:
  std::string path_;
  salient::test::Scratch scratch_{};
};

/// Copies at any rate: softsign is as fast as a copy here, and disturbed copies would make it look impossible.
class WithFastCopies final : public Executor {
 public:
  explicit WithFastCopies(std::unique_ptr<Executor> host) : host_(std::move(host)) {}
  void run(const RunOrder& order, Arena& arena) override { host_->run(order, arena); }
  SampleTimes time(const TimingPlan& plan, std::size_t sample, Arena& arena) override {
    return host_->time(plan, sample, arena);
  }
  void fetch(Placement part, Arena& arena) override { host_->fetch(part, arena); }
  double copy_rate(Arena&, std::size_t, std::size_t) override { return 1e15; }
  double flop_rate(const std::string& ceiling) override { return host_->flop_rate(ceiling); }

 private:
  std::unique_ptr<Executor> host_;
};

/// The host back end with the profiler of a GPU's.
class ProfiledHost final : public Backend {
 public:
  explicit ProfiledHost(Backend& host) : host_(host) {}

  BackendKind kind() const override { return host_.kind(); }
  Machine machine() override { return host_.machine(); }
  std::variant<Artifact, Finding> compile(const Candidate& candidate, const Case& given) override {
    return host_.compile(candidate, given);
  }
  std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t bytes) override {
    return std::make_unique<WithFastCopies>(host_.make_executor(artifacts, bytes));
  }
  WorkerLimits limits() const override { return host_.limits(); }
  std::map<std::string, std::string> environment() override { return host_.environment(); }
  std::string profile(const Candidate&, const Case&, const Artifact&) override {
    return ncu_profile({"runner", "softsign"}, {"n=67108864, softsign_kernel", "n=16777219, softsign_kernel"});
  }

 private:
  Backend& host_;
};

/// Answers with a wrong kernel first, then with a right one, and keeps what it was asked.
class TwoAnswers final : public Generator {
 public:
  explicit TwoAnswers(std::string right) : right_(std::move(right)) {}
  Answer ask(const Request& request) override {
    prompts.push_back(request.prompt);
    std::string source = right_ + "// answer " + std::to_string(prompts.size()) + "\n";
    if (prompts.size() == 1) source.replace(source.find("x /"), 3, "2 * x /");
    return {true, "```\n" + source + "```\n", {}};
  }

  std::vector<std::string> prompts{};

 private:
  std::string right_;
};

struct Played {
  std::vector<std::string> prompts{};
  std::vector<Json> assessments{};  ///< of the ledger
};

Played play(HostBench& bench, const std::filesystem::path& folder, bool profiles) {
  ProfiledHost backend(*bench.backend);
  const Case given = load_case(cases_folder(), "softsign");
  TwoAnswers generator(start_of(given).source);
  const OptimizeOptions how{.method = {.method = "single", .rounds = 3, .language = "host"},
                            .referee = {.samples = 4, .profiles = profiles}};
  (void)optimize(given, backend, generator, how, SALIENT_WORKBENCH_DIR, folder);
  Played played{std::move(generator.prompts)};
  for (const Json& record : load_ledger(folder))
    if (record["kind"] == "assessment") played.assessments.push_back(record);
  return played;
}

TEST(Profile, ItsFiguresAreInTheNotesOfWhatIsCorrectAndInThePromptsThatFollow) {
  HostBench bench;
  const RecordedNcu ncu;
  const Played played = play(bench, bench.scratch / "run", true);
  ASSERT_EQ(played.assessments.size(), 4U) << "the start kernel, a wrong one, two right ones";
  for (std::size_t number = 0; number < 4; ++number) {
    const std::string notes = played.assessments[number]["notes"].get<std::string>();
    EXPECT_EQ(notes.starts_with(kFigures), number != 1) << number << ": " << notes;
  }
  ASSERT_EQ(played.prompts.size(), 3U);
  EXPECT_NE(played.prompts[0].find(kFigures), std::string::npos) << "of the start kernel";
  EXPECT_EQ(
      salient::test::read_bytes(ncu.arguments()).find("--csv --print-units base --clock-control none --metrics gpu__"),
      0U);
  EXPECT_NO_THROW((void)replay_run(bench.scratch / "run", SALIENT_WORKBENCH_DIR));
}

/// Answers in a language that the run was not asked for.
class InTilelang final : public Generator {
 public:
  Answer ask(const Request&) override {
    return {true, "```\n# language tilelang\n# launch softsign grid=1 block=32\n```\n", {}};
  }
};

TEST(Optimize, AnAnswerInAnotherLanguageIsRejectedAndTheRunGoesOn) {
  HostBench bench;
  InTilelang generator;
  const RunSummary made =
      optimize(load_case(cases_folder(), "softsign"), *bench.backend, generator,
               {.method = {.method = "single", .rounds = 2, .language = "host"}, .referee = {.samples = 4}},
               SALIENT_WORKBENCH_DIR, bench.scratch / "run");
  EXPECT_EQ(made.judged, 2U);
  std::size_t rejected = 0;
  for (const Json& record : load_ledger(bench.scratch / "run"))
    if (record["kind"] == "assessment" && record["verdict"] == "STATIC_REJECT") {
      ++rejected;
      EXPECT_EQ(record["reason"], "it is in tilelang, the run is in cpp");
    }
  EXPECT_EQ(rejected, 2U);
}

TEST(Profile, WithoutItNoProfilerIsRun) {
  HostBench bench;
  const RecordedNcu ncu;
  const Played played = play(bench, bench.scratch / "run", false);
  for (const std::string& prompt : played.prompts) EXPECT_EQ(prompt.find("ncu: "), std::string::npos);
  for (const Json& made : played.assessments)
    EXPECT_EQ(made["notes"].get<std::string>().find("ncu: "), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(ncu.arguments()));
}

}  // namespace
}  // namespace salient::workbench::test
