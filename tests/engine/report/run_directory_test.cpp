// tests/engine/report/run_directory_test.cpp - the folder that a run makes for itself.
#include "engine/report/run_directory.h"

#include <gtest/gtest.h>

#include <barrier>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

class RunDirectory : public ::testing::Test {
 protected:
  RunDirectory() { fs::current_path(scratch_.path()); }
  ~RunDirectory() override { fs::current_path(before_); }

  const fs::path before_ = fs::current_path();
  const test::Scratch scratch_;
};

TEST_F(RunDirectory, RunsThatStartTogetherHaveEachTheirOwn) {
  constexpr std::size_t kRuns = 8, kRounds = 20;
  std::vector<fs::path> made(kRuns * kRounds);
  std::barrier all_ready(kRuns);
  {
    std::vector<std::jthread> runs;
    for (std::size_t run = 0; run < kRuns; ++run)
      runs.emplace_back([&, run] {
        for (std::size_t round = 0; round < kRounds; ++round) {
          all_ready.arrive_and_wait();
          made[round * kRuns + run] = make_run_directory("", "graph-sage", /*is_resumed=*/false);
        }
      });
  }
  EXPECT_EQ(std::set<fs::path>(made.begin(), made.end()).size(), made.size());
  for (const fs::path& path : made) EXPECT_TRUE(fs::is_directory(path)) << path;
}

}  // namespace
}  // namespace salient
