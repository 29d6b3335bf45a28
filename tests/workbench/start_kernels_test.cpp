// tests/workbench/start_kernels_test.cpp - every case's start kernel is right by its own reference; timing works on
// one.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workbench/bench_support.h"
#include "workbench/promotion/launch_header.h"
#include "workbench/promotion/sanitize.h"

namespace salient::workbench::test {
namespace {

TEST(StartKernels, EveryHostKernelIsCorrect) {
  HostBench bench;
  for (const Case& given : load_cases(cases_folder())) {
    ASSERT_FALSE(given.host_start.empty()) << given.name;
    const Finding found = verdict_of_source(*bench.backend, given, read_text_file(given.host_start));
    EXPECT_EQ(found.verdict, Verdict::kAccepted) << given.name << ": " << found.reason << "\n" << found.log;
  }
}

TEST(Tests, ShapesAndSeedsAreAddedAndNothingIsTakenAway) {
  HostBench bench;
  const Case given = in_small_shapes(load_case(cases_folder(), "softsign"));
  Referee referee(*bench.backend, given, {.seed = 1});
  const auto words_of = [&] {
    std::vector<std::string> words;
    for (const ProblemSpec& spec : referee.problems(1)) words.push_back(text_of(spec));
    return words;
  };
  const std::vector<std::string> before = words_of();
  referee.add_seed(1234);
  const std::vector<std::string> seeded = words_of();
  ASSERT_GT(seeded.size(), before.size());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), seeded.begin())) << "the fresh seed's problems stay";
  for (std::size_t i = before.size(); i < seeded.size(); ++i) {
    EXPECT_EQ(seeded[i].find("public"), std::string::npos) << "large shapes are run once";
    EXPECT_EQ(std::count(before.begin(), before.end(), seeded[i]), 0) << "other inputs: " << seeded[i];
  }
  referee.add_shape({{"n", 4095}});
  EXPECT_EQ(referee.problems(1).size(), seeded.size() + 4) << "two patterns for each of two seeds";
  const std::size_t swept = swept_problems(given, BackendKind::kHost, 1).size();
  EXPECT_EQ(referee.check(start_of(given)).problems, seeded.size() + 4 + swept);
  EXPECT_COMPLAINT(referee.add_shape({{"n", -1}}), ErrorKind::kBadData, "shape");
  for (std::uint64_t seed = 0; seed < 7; ++seed) referee.add_seed(seed);
  EXPECT_COMPLAINT(referee.add_seed(9), ErrorKind::kBadData, "8 seeds");
}

TEST(Tests, AShapeOnWhichTheStartKernelFailsIsNotAdded) {
  HostBench bench;
  const Case given = in_small_shapes(load_case(cases_folder(), "softsign"));
  Referee referee(*bench.backend, given, {.seed = 1});  // of which no shape has n = 4095
  const Candidate sound = start_of(given);
  std::string source = sound.source;
  const std::string loop = "const float x = values[i];";
  source.replace(source.find(loop), loop.size(), "const float x = n == 4095 ? 0.0f : values[i];");
  const Candidate broken = parse_candidate(source);
  const std::size_t before = referee.problems(1).size();
  EXPECT_COMPLAINT(referee.add_shape({{"n", 4095}}, broken), ErrorKind::kBadData, "start kernel itself is rejected");
  EXPECT_EQ(referee.problems(1).size(), before);
  const Finding found = referee.check(broken).finding;
  EXPECT_EQ(found.verdict, Verdict::kAccepted) << "no candidate is blamed for it: " << found.reason;
  referee.add_shape({{"n", 4094}}, broken);
  referee.add_shape({{"n", 4095}}, sound);
  EXPECT_EQ(referee.problems(1).size(), before + 4);
}

TEST(Promotion, AReadBeyondABufferIsFoundBySanitizersAndASoundKernelIsNot) {
  HostBench bench;
  const Case given = load_case(cases_folder(), "softsign");
  const Referee referee(*bench.backend, given, {});
  std::vector<ProblemSpec> problems = referee.problems(1);
  std::erase_if(problems, [](const ProblemSpec& spec) { return spec.dims.at("n") == 0; });  // of which nothing is read
  problems.resize(6);
  const auto sanitized = [&](const std::string& source) {
    return sanitize_on_host(parse_candidate(source), given, problems, cases_folder() / "kernels", bench.scratch.path());
  };
  const std::string sound = start_of(given).source;
  EXPECT_FALSE(sanitized(sound));
  std::string reads_beyond = sound;
  const std::string loop = "const float x = values[i];";
  reads_beyond.replace(reads_beyond.find(loop), loop.size(),
                       "const float x = values[i + 1] == 0.25f ? values[i] : values[i] + 0.0f;");
  EXPECT_EQ(verdict_of_source(*bench.backend, given, reads_beyond).verdict, Verdict::kOutOfBounds)
      << "the result is right, but a page behind a buffer is touched";
  const auto found = sanitized(reads_beyond);
  ASSERT_TRUE(found);
  EXPECT_NE(found->reason.find("heap-buffer-overflow"), std::string::npos) << found->reason;
}

TEST(Promotion, TheHeaderHasTheLaunchesOfTheCandidate) {
  const Case given = load_case(cases_folder(), "softsign");
  const Candidate made = parse_candidate("// param TILE=64\n// launch k block=TILE grid=min(sm*8, ceil(n, TILE))\n");
  const std::string header = launch_header(made, given, {{"n", 4096}});
  EXPECT_NE(header.find("constexpr std::int64_t TILE = 64;"), std::string::npos);
  EXPECT_NE(header.find("largest_n = 4096;"), std::string::npos) << header;
  EXPECT_NE(header.find("if (n > largest_n) throw std::out_of_range("), std::string::npos) << header;
  EXPECT_NE(header.find("{\"k\", {min(sm*8,ceil(n, TILE)), 1, 1}, {TILE, 1}, 0}") != std::string::npos ||
                header.find("{\"k\", {min(sm*8, ceil(n, TILE)), 1, 1}, {TILE, 1}, 0}") != std::string::npos,
            false)
      << header;
}

TEST(Timing, AKernelThatWorksTwiceAsLongIsSlowerAndTheSameKernelIsNoBetter) {
  HostBench bench;
  const Case given = load_case(cases_folder(), "matmul_f32");
  const Candidate start = start_of(given);
  std::string twice = start.source;
  const std::string sum = "c[i * n + j] = sum;";
  twice.insert(
      twice.find(sum),
      "float again = 0;\n    for (long long t = 0; t < 3 * k; ++t) again += a[i * k + t % k] * b[t % k * n + j];\n"
      "    if (again == 1e30f) sum = 0;\n    ");
  Referee referee(*bench.backend, given, {});
  const Assessment slow = referee.assess(parse_candidate(twice), start, start);
  EXPECT_EQ(slow.finding.verdict, Verdict::kSlower) << slow.finding.reason;
  EXPECT_LT(slow.decision.gain, 0.7);
  const Assessment same = referee.assess(parse_candidate(start.source + "// again\n"), start, start);
  EXPECT_NE(same.finding.verdict, Verdict::kAccepted) << same.finding.reason;
  EXPECT_EQ(same.timing.shapes.size(), 2U);
  EXPECT_EQ(same.timing.shapes[0].candidate.size(), 20U);
}

}  // namespace
}  // namespace salient::workbench::test
