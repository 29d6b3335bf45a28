// tests/apps/start_ranks_test.cpp - who starts ranks: --ranks, torchrun, or a launcher of MPI before us.
#include "apps/start_ranks.h"

#include <gtest/gtest.h>

#include "tests/support/environment.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::environment;
using Part = RankStart::Part;

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
  EXPECT_EQ(rank_start(4, environment({})), (RankStart{Part::kStart, 4, 4}));
  EXPECT_COMPLAINT(rank_start(4, environment({{"OMPI_COMM_WORLD_SIZE", "4"}})), ErrorKind::kUsage, "leave it out");
  EXPECT_COMPLAINT(rank_start(4, torchrun("0", "2", "2")), ErrorKind::kUsage, "leave it out");
}

TEST(StartRanks, OneProcessOfTorchrunStartsThemAll) {
  EXPECT_EQ(rank_start(0, torchrun("0", "2", "2")), (RankStart{Part::kStart, 2, 2}));
  EXPECT_EQ(rank_start(0, torchrun("1", "2", "2")), (RankStart{Part::kEnd, 2, 2}));
  EXPECT_EQ(rank_start(0, torchrun("0", "1", "1")), RankStart{});
}

TEST(StartRanks, TheFirstProcessOfEachOtherHostJoins) {
  const auto on_host = [](const char* rank, const char* local_rank) {
    return environment({{"RANK", rank},
                        {"WORLD_SIZE", "4"},
                        {"MASTER_ADDR", "a"},
                        {"LOCAL_RANK", local_rank},
                        {"LOCAL_WORLD_SIZE", "2"}});
  };
  EXPECT_EQ(rank_start(0, on_host("0", "0")), (RankStart{Part::kStart, 4, 2}));
  EXPECT_EQ(rank_start(0, on_host("1", "1")), (RankStart{Part::kEnd, 4, 2}));
  EXPECT_EQ(rank_start(0, on_host("2", "0")), (RankStart{Part::kJoin, 4, 2}));
  EXPECT_EQ(rank_start(0, on_host("3", "1")), (RankStart{Part::kEnd, 4, 2}));
  EXPECT_COMPLAINT(rank_start(0, on_host("3", "0")), ErrorKind::kUsage, "do not fit each other");
  EXPECT_COMPLAINT(rank_start(0, on_host("0", "1")), ErrorKind::kUsage, "do not fit each other");
  EXPECT_COMPLAINT(rank_start(0, on_host("3", "2")), ErrorKind::kUsage, "LOCAL_RANK is 2 of LOCAL_WORLD_SIZE");
}

TEST(StartRanks, AHostThatSaysNoLocalRankHasOneRank) {
  const LookUp second = environment({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "job-0"}});
  EXPECT_EQ(rank_start(0, second), (RankStart{Part::kJoin, 2, 1}));
  const Meeting meeting = meeting_of(second);
  EXPECT_EQ(meeting.address, "job-0");
  EXPECT_EQ(meeting.port, 29500);
  EXPECT_EQ(meeting.num_ranks, 2);
}

TEST(StartRanks, HostsMeetBesideTorchrunsOwnPort) {
  const auto port_of = [](const char* port, const char* agent_listens) {
    return meeting_of(environment({{"MASTER_PORT", port}, {"TORCHELASTIC_USE_AGENT_STORE", agent_listens}})).port;
  };
  EXPECT_EQ(port_of("4000", "True"), 4001);
  EXPECT_EQ(port_of("4000", "False"), 4000);
  for (const char* wrong : {"65535", "0", "-1", "many"})
    EXPECT_COMPLAINT(port_of(wrong, "True"), ErrorKind::kUsage, "MASTER_PORT is no port");
}

TEST(StartRanks, ARankUnderMpirunIsTheProgram) {
  EXPECT_EQ(rank_start(0, environment({{"OMPI_COMM_WORLD_SIZE", "2"}, {"WORLD_SIZE", "2"}, {"RANK", "1"}})),
            RankStart{});
}

TEST(StartRanks, TheCommandHasTheProgramsWords) {
  const std::vector<const char*> args{"--dataset", "one"};
  EXPECT_EQ(mpirun_command(3, "", true, "/bin/p", args),
            (std::vector<std::string>{"mpirun", "-np", "3", "--bind-to", "none", "--oversubscribe",
                                      "--allow-run-as-root", "/bin/p", "--dataset", "one"}));
  EXPECT_EQ(mpirun_command(2, "a:1,b:1", false, "p", {}),
            (std::vector<std::string>{"mpirun", "-np", "2", "--bind-to", "none", "--oversubscribe", "--host", "a:1,b:1",
                                      "p"}));
}

}  // namespace
}  // namespace salient
