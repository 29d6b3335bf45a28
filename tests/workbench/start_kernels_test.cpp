// tests/workbench/start_kernels_test.cpp - every case's start kernel is right by its own reference; timing works on
// one.
#include <gtest/gtest.h>

#include "tests/workbench/bench_support.h"

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
