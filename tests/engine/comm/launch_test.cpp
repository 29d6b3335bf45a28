// tests/engine/comm/launch_test.cpp - who started us, as the environment tells it.
#include "engine/comm/launch.h"

#include <gtest/gtest.h>

#include "engine/comm/communicator.h"
#include "engine/comm/make_communicator.h"
#include "tests/support/environment.h"

namespace salient {
namespace {

using test::environment;

TEST(LaunchTest, APlainStartHasNoLauncher) {
  EXPECT_FALSE(is_started_by_launcher(environment({{"PATH", "/bin"}, {"SLURM_NTASKS", "4"}})));
}

TEST(LaunchTest, MpirunAndSrunAreRecognised) {
  EXPECT_TRUE(is_started_by_launcher(environment({{"OMPI_COMM_WORLD_SIZE", "2"}})));
  EXPECT_TRUE(is_started_by_launcher(environment({{"PMIX_RANK", "0"}})));
  EXPECT_TRUE(is_started_by_launcher(environment({{"PMI_SIZE", "2"}})));
}

TEST(LaunchTest, ALoneRankAmongManyTasksIsRefused) {
  const std::string problem = lone_rank_problem({}, environment({{"SLURM_NTASKS", "4"}}));
  EXPECT_NE(problem.find("SLURM_NTASKS is 4"), std::string::npos) << problem;
  EXPECT_NE(problem.find("srun --mpi=pmix"), std::string::npos) << problem;
  EXPECT_FALSE(lone_rank_problem({}, environment({{"WORLD_SIZE", "8"}})).empty());
  EXPECT_FALSE(lone_rank_problem({}, environment({{"OMPI_COMM_WORLD_SIZE", "2"}})).empty());
}

TEST(LaunchTest, ALauncherOfOneRankIsFineInALargerAllocation) {
  for (const char* launcher : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    for (const char* around : {"SLURM_NTASKS", "WORLD_SIZE"})
      EXPECT_EQ(lone_rank_problem({}, environment({{launcher, "1"}, {around, "4"}})), "") << launcher << ' ' << around;
  EXPECT_FALSE(lone_rank_problem({}, environment({{"SLURM_NTASKS", "1"}, {"WORLD_SIZE", "4"}})).empty());
}

TEST(LaunchTest, OneOfManyRanksIsFine) {
  EXPECT_EQ(lone_rank_problem({.rank = 1, .size = 4}, environment({{"SLURM_NTASKS", "4"}})), "");
  EXPECT_EQ(lone_rank_problem({}, environment({{"SLURM_NTASKS", "1"}, {"WORLD_SIZE", "1"}})), "");
  EXPECT_EQ(lone_rank_problem({}, environment({{"WORLD_SIZE", "many"}})), "");
}

TEST(LaunchTest, ARankBoundToOneCoreHearsOfBindToNone) {
  const Launch bound{.size = 2, .ranks_on_host = 2, .host = "node", .cores = 1, .cores_of_host = 16};
  const std::string problem = affinity_problem(bound);
  EXPECT_NE(problem.find("1 of 16 cores, where 8"), std::string::npos) << problem;
  EXPECT_NE(problem.find("--bind-to none"), std::string::npos) << problem;
}

TEST(LaunchTest, AFairShareIsFine) {
  EXPECT_EQ(affinity_problem({.size = 2, .ranks_on_host = 2, .cores = 8, .cores_of_host = 16}), "");
  EXPECT_EQ(affinity_problem({.size = 1, .ranks_on_host = 1, .cores = 1, .cores_of_host = 16}), "");
}

TEST(MakeCommunicatorTest, OneRankNeedsNoOther) { EXPECT_EQ(make_communicator({}, {})->name(), "self"); }

TEST(MakeCommunicatorTest, NcclWithoutAGpuIsAUsageError) {
  try {
    (void)make_communicator({.wanted = CommBackend::kNccl}, {});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
}

TEST(SelfCommunicatorTest, CollectivesLeaveTheirDataAsItIs) {
  const auto comm = make_self_communicator();
  float value = 3;
  comm->all_reduce_sum(std::span<float>(&value, 1), nullptr);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(comm->gather("one"), std::vector<std::string>{"one"});
  EXPECT_EQ(comm->exchange_flags(5), 0u);
  EXPECT_EQ(comm->exchange_flags(0), 5u);
  EXPECT_EQ(comm->exchange_flags(0), 0u);
}

}  // namespace
}  // namespace salient
