// tests/apps/start_ranks_test.cpp - who starts ranks: --ranks, torchrun, or a launcher of MPI before us.
#include "apps/start_ranks.h"

#include <gtest/gtest.h>

#include "tests/support/environment.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::environment;

LookUp torchrun(const std::string& rank, const std::string& size, const std::string& local_size) {
  return environment({{"RANK", rank},
                      {"WORLD_SIZE", size},
                      {"LOCAL_RANK", rank},
                      {"LOCAL_WORLD_SIZE", local_size},
                      {"MASTER_ADDR", "localhost"},
                      {"MASTER_PORT", "29500"}});
}

TEST(StartRanks, APlainStartIsTheProgram) {
  EXPECT_EQ(rank_start(0, environment({})), RankStart{});
  EXPECT_EQ(rank_start(1, environment({})), RankStart{});
  EXPECT_EQ(rank_start(0, environment({{"WORLD_SIZE", "4"}})), RankStart{}) << "not torchrun's: is refused later";
}

TEST(StartRanks, RanksAreAskedForOnce) {
  EXPECT_EQ(rank_start(4, environment({})), (RankStart{4, false}));
  EXPECT_COMPLAINT(rank_start(4, environment({{"OMPI_COMM_WORLD_SIZE", "4"}})), ErrorKind::kUsage, "leave it out");
  EXPECT_COMPLAINT(rank_start(4, torchrun("0", "2", "2")), ErrorKind::kUsage, "leave it out");
}

TEST(StartRanks, OneProcessOfTorchrunStartsThemAll) {
  EXPECT_EQ(rank_start(0, torchrun("0", "2", "2")), (RankStart{2, false}));
  EXPECT_EQ(rank_start(0, torchrun("1", "2", "2")), (RankStart{2, true}));
  EXPECT_EQ(rank_start(0, torchrun("0", "1", "1")), RankStart{});
  EXPECT_COMPLAINT(rank_start(0, torchrun("0", "4", "2")), ErrorKind::kUsage, "mpirun or srun");
}

TEST(StartRanks, ARankUnderMpirunIsTheProgram) {
  EXPECT_EQ(rank_start(0, environment({{"OMPI_COMM_WORLD_SIZE", "2"}, {"WORLD_SIZE", "2"}, {"RANK", "1"}})),
            RankStart{});
}

TEST(StartRanks, TheCommandHasTheProgramsWords) {
  const std::vector<const char*> args{"--dataset", "one"};
  EXPECT_EQ(mpirun_command(3, true, "/bin/p", args),
            (std::vector<std::string>{"mpirun", "-np", "3", "--bind-to", "none", "--oversubscribe",
                                      "--allow-run-as-root", "/bin/p", "--dataset", "one"}));
  EXPECT_EQ(mpirun_command(2, false, "p", {}).back(), "p");
}

}  // namespace
}  // namespace salient
