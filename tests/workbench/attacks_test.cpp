// tests/workbench/attacks_test.cpp - every attack of fixtures/ is rejected, with the verdict that its second line
// expects.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/workbench/bench_support.h"

namespace salient::workbench::test {
namespace {

struct Fixture {
  std::string name, source, expected, case_name;
};

std::vector<Fixture> fixtures() {
  std::vector<Fixture> list;
  for (const auto& entry : std::filesystem::directory_iterator(fixtures_folder())) {
    Fixture one{entry.path().stem(), read_text_file(entry.path()), "", ""};
    std::istringstream lines(one.source);
    std::string line, word;
    std::getline(lines, line);
    lines >> word >> word >> one.expected >> word >> one.case_name;
    list.push_back(one);
  }
  std::sort(list.begin(), list.end(), [](const Fixture& a, const Fixture& b) { return a.name < b.name; });
  return list;
}

TEST(Attacks, EveryOneIsRejectedWithItsVerdict) {
  HostBench bench;
  const std::vector<Fixture> all = fixtures();
  EXPECT_GE(all.size(), 24U);
  for (const Fixture& fixture : all) {
    const Case given = load_case(cases_folder(), fixture.case_name);
    const Finding found = verdict_of_source(*bench.backend, given, fixture.source, {.run_seconds = 2});
    EXPECT_NE(found.verdict, Verdict::kAccepted) << fixture.name;
    std::istringstream allowed(fixture.expected);
    bool fits = false;
    for (std::string word; std::getline(allowed, word, '|');) fits = fits || word == word_of(found.verdict);
    EXPECT_TRUE(fits) << fixture.name << ": " << word_of(found.verdict) << " " << found.reason << "\n" << found.log;
    EXPECT_EQ(found.reason.find('\n'), std::string::npos) << fixture.name;
  }
}

}  // namespace
}  // namespace salient::workbench::test
