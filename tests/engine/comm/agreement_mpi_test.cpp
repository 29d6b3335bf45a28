// tests/engine/comm/agreement_mpi_test.cpp - ranks agree on inputs and outcomes, and all learn of the first one that
// differs.
#include "engine/comm/agreement.h"

#include <gtest/gtest.h>

#include <new>

#include "engine/comm/make_communicator.h"
#include "engine/comm/mpi_communicator.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

class AgreementTest : public ::testing::Test {
 protected:
  AgreementTest() : comm(make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120)), last(comm->size() - 1) {}

  /// What `work` threw on this rank; kind 0 if nothing.
  template <class Work>
  std::pair<int, std::string> caught(Work&& work) {
    try {
      work();
    } catch (const Error& error) {
      return {static_cast<int>(error.kind()), error.what()};
    }
    return {0, ""};
  }

  std::unique_ptr<Communicator> comm;
  const int last;
};

TEST_F(AgreementTest, WorkThatSucceedsEverywhereGoesOn) {
  bool is_done = false;
  together(*comm, [&] { is_done = true; });
  EXPECT_TRUE(on_all_ranks(*comm, is_done));
}

TEST_F(AgreementTest, AFailureOfOneRankEndsTheWorkOnAll) {
  const auto [kind, what] = caught([&] {
    together(*comm, [&] {
      if (comm->rank() == last) fail(ErrorKind::kIo, "checkpoint: disk full");
    });
  });
  const bool names_rank = comm->size() == 1 || what.find("rank " + std::to_string(last) + " on ") == 0;
  EXPECT_TRUE(on_all_ranks(*comm, kind == 74 && names_rank && what.find("checkpoint: disk full") != std::string::npos))
      << what;
}

TEST_F(AgreementTest, TheLowestOfSeveralFailingRanksIsTold) {
  const auto [kind, what] =
      caught([&] { together(*comm, [&] { fail(ErrorKind::kBadData, "bad on " + std::to_string(comm->rank())); }); });
  EXPECT_TRUE(on_all_ranks(*comm, kind == 65 && what.find("bad on 0") != std::string::npos)) << what;
}

TEST_F(AgreementTest, RunningOutOfMemoryKeepsItsExitCode) {
  if (comm->size() == 1) GTEST_SKIP() << "one rank rethrows what it caught";
  const auto [kind, what] = caught([&] {
    together(*comm, [&] {
      if (comm->rank() == last) throw std::bad_alloc();
    });
  });
  EXPECT_TRUE(on_all_ranks(*comm, kind == 71)) << what;
}

TEST_F(AgreementTest, EqualTextsPass) {
  const auto [kind, what] = caught([&] { require_equal_on_all_ranks(*comm, "the version", "0.1.0"); });
  EXPECT_TRUE(on_all_ranks(*comm, kind == 0)) << what;
}

TEST_F(AgreementTest, ADifferentTextIsNamedWithTheLineThatDiffers) {
  if (comm->size() == 1) GTEST_SKIP() << "one rank has no other to differ from";
  const auto [kind, what] = caught([&] {
    require_equal_on_all_ranks(*comm, "the configuration",
                               comm->rank() == last ? "layers = 3\nlr = 0.1\n" : "layers = 3\nlr = 0.003\n");
  });
  EXPECT_TRUE(on_all_ranks(*comm, kind == 2 && what.find("rank " + std::to_string(last)) == 0 &&
                                      what.find("'lr = 0.1', not 'lr = 0.003'") != std::string::npos))
      << what;
  const auto again = caught([&] { require_equal_on_all_ranks(*comm, "the configuration", "same"); });
  EXPECT_TRUE(on_all_ranks(*comm, again.first == 0));  // nothing is left behind
}

TEST_F(AgreementTest, SelfIsRefusedForSeveralRanks) {
  const auto [kind, what] = caught([&] { (void)make_communicator({.wanted = CommBackend::kSelf}, launch_of_test()); });
  EXPECT_TRUE(on_all_ranks(*comm, kind == (comm->size() > 1 ? 2 : 0))) << what;
}

TEST_F(AgreementTest, AutoTakesMpiForHostMemory) {
  const auto chosen = make_communicator({}, launch_of_test());
  EXPECT_TRUE(on_all_ranks(*comm, chosen->name() == (comm->size() > 1 ? "mpi" : "self")));
}

TEST_F(AgreementTest, UnboundRanksShareTheHostsCores) {
  const Launch& launch = launch_of_test();
  EXPECT_TRUE(on_all_ranks(*comm, launch.ranks_on_host == launch.size && launch.num_hosts == 1));
  EXPECT_TRUE(on_all_ranks(*comm, launch.local_rank == launch.rank && launch.cores >= 1));
  EXPECT_TRUE(on_all_ranks(*comm, affinity_problem(launch).empty())) << affinity_problem(launch);
}

}  // namespace
}  // namespace salient
