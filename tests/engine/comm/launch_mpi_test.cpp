// tests/engine/comm/launch_mpi_test.cpp - the cores that the ranks of a host have.
#include "engine/comm/launch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/host/machine.h"
#include "engine/comm/host_share.h"
#include "engine/comm/mpi_communicator.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

TEST(LaunchTest, RanksThatMayRunOnTheSameCoresShareThemEvenly) {
  const Launch& launch = launch_of_test();
  const auto comm = make_mpi_communicator(launch, /*timeout_seconds=*/120);
  const std::vector<int> mine = cores_of_process();
  std::string text = launch.host;
  for (const int core : mine) text.append(" ").append(std::to_string(core));
  const std::vector<std::string> all = gather_on_all(*comm, text);
  if (std::ranges::count(all, text) != launch.size) GTEST_SKIP() << "the ranks are bound, or on several hosts";
  const int share = static_cast<int>(mine.size()) / launch.ranks_on_host;
  EXPECT_TRUE(on_all_ranks(*comm, launch.cores == std::max(1, std::min(share, num_usable_cores()))));
}

}  // namespace
}  // namespace salient
