// tests/workbench/engine_kernels_test.cpp - kernels of the engine that came from a run: who names whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "tests/workbench/bench_support.h"
#include "workbench/ledger/archive.h"

namespace salient::workbench::test {
namespace {

const std::filesystem::path kRoot = std::filesystem::path(SALIENT_WORKBENCH_DIR).parent_path();

bool has_word(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex("\\b" + word + "\\("));
}

TEST(EngineKernels, CasesNameFilesFunctionsAndRunsThatAreThere) {
  const std::vector<std::string> runs = RunArchive(kRoot / "workbench/results").runs();
  std::size_t count = 0;
  for (const Case& given : load_cases(cases_folder()))
    for (const EngineKernel& kernel : given.engine) {
      ++count;
      EXPECT_TRUE(has_word(read_text_file(kRoot / kernel.file), kernel.function))
          << given.name << ": " << kernel.file << " declares no " << kernel.function;
      EXPECT_TRUE(kernel.run.starts_with(given.name + "-")) << given.name << ": a run of another case";
      EXPECT_EQ(std::count(runs.begin(), runs.end(), kernel.run), 1) << given.name << ": no run " << kernel.run;
    }
  EXPECT_GE(count, 3U);
}

TEST(EngineKernels, FilesOfTheEngineNameRunsThatACaseNames) {
  std::set<std::string> named;
  for (const Case& given : load_cases(cases_folder()))
    for (const EngineKernel& kernel : given.engine) named.insert(kernel.run);
  const std::regex mention("workbench/results/([A-Za-z0-9_.-]*[A-Za-z0-9])");
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / "models")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = read_text_file(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), mention), end; at != end; ++at, ++count)
      EXPECT_TRUE(named.contains((*at)[1])) << entry.path() << " is from " << (*at)[1] << ", which no case names";
  }
  EXPECT_GE(count, 3U);
}

}  // namespace
}  // namespace salient::workbench::test
