// tests/workbench/attacks_test.cpp - every attack of fixtures/ is rejected, with the verdict that its second line
// expects.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/workbench/bench_support.h"
#include "workbench/promotion/sanitize.h"

namespace salient::workbench::test {
namespace {

struct Fixture {
  std::string name, source, expected, case_name;
  bool is_timed = false;     ///< a correct kernel by all checks without a clock
  bool is_promoted = false;  ///< a correct kernel by all checks outside of a sanitizer
};

std::vector<Fixture> fixtures() {
  std::vector<Fixture> list;
  for (const auto& entry : std::filesystem::directory_iterator(fixtures_folder())) {
    Fixture one{entry.path().stem(), read_text_file(entry.path()), "", ""};
    one.is_timed = one.source.find(" timed\n") != std::string::npos;
    one.is_promoted = one.source.find(" promoted\n") != std::string::npos;
    std::istringstream lines(one.source);
    std::string line, word;
    std::getline(lines, line);
    lines >> word >> word >> one.expected >> word >> one.case_name;
    list.push_back(one);
  }
  std::sort(list.begin(), list.end(), [](const Fixture& a, const Fixture& b) { return a.name < b.name; });
  return list;
}

Finding verdict_when_timed(Backend& backend, const Case& given, const std::string& source) {
  const Candidate start = start_of(given);
  return Referee(backend, given, {}).assess(parse_candidate(source), start, start).finding;
}

Finding verdict_when_promoted(HostBench& bench, const Case& given, const std::string& source) {
  std::vector<ProblemSpec> problems = problems_of(given, BackendKind::kHost, {}, 1);
  std::erase_if(problems, [](const ProblemSpec& spec) { return text_of(spec.dims) == "n=0"; });  // nothing is run
  problems.resize(6);
  const Candidate candidate = parse_candidate(source);
  const auto found = sanitize_on_host(candidate, given, problems, cases_folder() / "kernels", bench.scratch.path());
  return found ? *found : Finding{};
}

/// Like a GPU, whose copies leave the arena alone.
class DeviceLike final : public Executor {
 public:
  explicit DeviceLike(std::unique_ptr<Executor> host) : host_(std::move(host)) {}
  void run(const RunOrder& order, Arena& arena) override { host_->run(order, arena); }
  SampleTimes time(const TimingPlan& plan, std::size_t sample, Arena& arena) override {
    return host_->time(plan, sample, arena);
  }
  void fetch(Placement, Arena&) override {}
  double copy_rate(Arena&, std::size_t, std::size_t) override { return 1e15; }
  double flop_rate(const std::string& ceiling) override { return host_->flop_rate(ceiling); }

 private:
  std::unique_ptr<Executor> host_;
};

/// A host that changes the inputs of timed samples as a GPU's back end does: by copies, all sets in one sample.
class RotatingHost final : public Backend {
 public:
  explicit RotatingHost(Backend& host) : host_(host) {}
  BackendKind kind() const override { return BackendKind::kCuda; }
  Machine machine() override { return host_.machine(); }
  std::variant<Artifact, Finding> compile(const Candidate& candidate, const Case& given) override {
    return host_.compile(candidate, given);
  }
  std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t bytes) override {
    return std::make_unique<DeviceLike>(host_.make_executor(artifacts, bytes));
  }
  WorkerLimits limits() const override { return host_.limits(); }
  std::map<std::string, std::string> environment() override { return host_.environment(); }

 private:
  Backend& host_;
};

TEST(Attacks, WhereInputsAreChangedByCopiesACacheIsSeenToo) {
  HostBench bench;
  RotatingHost backend(*bench.backend);
  for (const char* name : {"matmul_f32", "gather_mean", "fused_add_rmsnorm"}) {
    const Case given = as_on_a_device(load_case(cases_folder(), name));
    const Candidate start = start_of(given);
    Finding finding;
    const Timing timing = Referee(backend, given, {.samples = 4}).time(start, start, start, 7, finding);
    EXPECT_EQ(finding.verdict, Verdict::kAccepted) << name << ": " << finding.reason;
    EXPECT_EQ(timing.shapes.size(), 2U);
    if (given.name != "matmul_f32") continue;
    const Candidate cache = parse_candidate(read_text_file(fixtures_folder() / "cache_on_the_stack.cpp"));
    (void)Referee(backend, given, {.samples = 4}).time(cache, start, start, 7, finding);
    EXPECT_EQ(finding.verdict, Verdict::kIncorrect) << finding.reason;
  }
}

/// On the first public shape, where a device keeps time. A busy machine may hide what there is to see, so up to three
/// times, until the verdict is the expected one.
Finding verdict_on_a_device(HostBench& bench, const std::string& name, const std::string& source, Verdict expected) {
  RotatingHost backend(*bench.backend);
  Case given = as_on_a_device(load_case(cases_folder(), name));
  const auto is_public = [](const ShapeSpec& shape) { return shape.set == ShapeSet::kPublic; };
  const auto first = std::find_if(given.shapes.begin(), given.shapes.end(), is_public);
  given.shapes.erase(std::remove_if(first + 1, given.shapes.end(), is_public), given.shapes.end());
  const Candidate start = start_of(given), candidate = parse_candidate(source);
  Finding found;
  for (int attempt = 0; attempt < 3; ++attempt) {
    found = Referee(backend, given, {.samples = 8}).assess(candidate, start, start).finding;
    if (found.verdict == expected) break;
  }
  return found;
}

TEST(Attacks, WhereADeviceKeepsTimeKernelsThatKnowTimedInputsAreSeenToo) {
  HostBench bench;
  int count = 0;
  for (const Fixture& fixture : fixtures()) {
    if (fixture.expected != word_of(Verdict::kInputDependent)) continue;
    ++count;
    const Finding found = verdict_on_a_device(bench, fixture.case_name, fixture.source, Verdict::kInputDependent);
    EXPECT_EQ(found.verdict, Verdict::kInputDependent) << fixture.name << ": " << found.reason;
    EXPECT_NE(found.reason.find("for far values"), std::string::npos) << fixture.name << ": " << found.reason;
  }
  EXPECT_GE(count, 4);
  const std::filesystem::path honest = std::filesystem::path(SALIENT_WORKBENCH_DIR) / "examples/matmul-host/best.cpp";
  const Finding found = verdict_on_a_device(bench, "matmul_f32", read_text_file(honest), Verdict::kAccepted);
  EXPECT_EQ(found.verdict, Verdict::kAccepted) << found.reason;
}

TEST(Attacks, EveryOneIsRejectedWithItsVerdict) {
  HostBench bench;
  const std::vector<Fixture> all = fixtures();
  EXPECT_GE(all.size(), 24U);
  for (const Fixture& fixture : all) {
    const bool needs_filters = fixture.source.find("A constant whose bytes are") != std::string::npos;
    if (needs_filters && !kHasFilters) continue;
    if (fixture.expected == word_of(Verdict::kInputDependent)) continue;  // see above: of devices alone
    const Case given = load_case(cases_folder(), fixture.case_name);
    const Finding found = fixture.is_promoted ? verdict_when_promoted(bench, given, fixture.source)
                          : fixture.is_timed
                              ? verdict_when_timed(*bench.backend, given, fixture.source)
                              : verdict_of_source(*bench.backend, given, fixture.source, {.run_seconds = 10});
    EXPECT_NE(found.verdict, Verdict::kAccepted) << fixture.name;
    std::istringstream allowed(fixture.expected);
    bool fits = false;
    for (std::string word; std::getline(allowed, word, '|');) fits = fits || word == word_of(found.verdict);
    EXPECT_TRUE(fits) << fixture.name << ": " << word_of(found.verdict) << " " << found.reason << "\n" << found.log;
    EXPECT_EQ(found.reason.find('\n'), std::string::npos) << fixture.name;
  }
}

TEST(Attacks, ParamsAndMacrosReachNoHeaderAndNoWrapper) {
  HostBench bench;
  std::string source =
      "// param T=4096\n// param type=1\n#define data 7\n" + read_text_file(cases_folder() / "kernels/softsign.cpp");
  source.replace(source.find("block.x * 4096"), 14, "block.x * T");
  source.insert(source.find("#include <cmath>"), "#include <algorithm>\n#include <type_traits>\n");
  const Finding found = verdict_of_source(*bench.backend, load_case(cases_folder(), "softsign"), source);
  EXPECT_EQ(found.verdict, Verdict::kAccepted) << found.reason << found.log;
}

}  // namespace
}  // namespace salient::workbench::test
