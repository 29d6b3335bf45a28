// tests/engine/comm/make_communicator_mpi_test.cpp - which back ends a run gets, and which choices are refused.
#include "engine/comm/make_communicator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "engine/comm/mpi_communicator.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

struct Made {
  std::string data{}, rows{};  ///< names of back ends
  std::optional<ErrorKind> refused{};

  bool operator==(const Made&) const = default;
};

Made made(CommunicatorOptions options) {
  options.timeout_seconds = 120;
  try {
    const auto comm = make_communicator(options, launch_of_test());
    return {std::string(comm->name()), std::string(comm->rows().name()), std::nullopt};
  } catch (const RankError& error) {
    EXPECT_EQ(error.known(), RankError::Known::kOnAllRanks);
    EXPECT_EQ(error.logs_here(), launch_of_test().rank == 0);
    return {.refused = error.kind()};
  }
}

class MakeCommunicator : public ::testing::Test {
 protected:
  bool is_right(const Made& found, const Made& expected) { return on_all_ranks(*control_, found == expected); }
  const std::unique_ptr<Communicator> control_ = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const bool is_alone_ = launch_of_test().size == 1;
  const Made by_mpi_{"mpi", "mpi", std::nullopt};
  const Made alone_{"self", "self", std::nullopt};
};

TEST_F(MakeCommunicator, MovesAllByMpiWhereTheDataIsInHostMemory) {
  EXPECT_TRUE(is_right(made({}), is_alone_ ? alone_ : by_mpi_));
  EXPECT_TRUE(is_right(made({.moves_rows = true}), is_alone_ ? alone_ : by_mpi_));
  EXPECT_TRUE(is_right(made({.wanted = CommBackend::kMpi, .moves_rows = true, .rows = RowBackend::kMpi}), by_mpi_));
}

TEST_F(MakeCommunicator, TakesTheRanksOfItsLaunchAndNotOfTheAllocation) {
  ASSERT_EQ(setenv("SLURM_NTASKS", "16", 1), 0);  // NOLINT(concurrency-mt-unsafe): no other thread reads it
  EXPECT_TRUE(is_right(made({}), is_alone_ ? alone_ : by_mpi_));
  ASSERT_EQ(unsetenv("SLURM_NTASKS"), 0);  // NOLINT(concurrency-mt-unsafe)
}

TEST_F(MakeCommunicator, RefusesRowsByNcclWithoutGpus) {
  const CommunicatorOptions options{.moves_rows = true, .rows = RowBackend::kNccl};
  EXPECT_TRUE(is_right(made(options), is_alone_ ? alone_ : Made{.refused = ErrorKind::kUsage}));
}

TEST_F(MakeCommunicator, RefusesRowsByNcclBesideGradientsByMpi) {
  const CommunicatorOptions options{
      .wanted = CommBackend::kMpi, .is_data_on_gpu = true, .moves_rows = true, .rows = RowBackend::kNccl};
  if (is_alone_) GTEST_SKIP() << "one rank moves no rows, and gradients of a GPU need a build for it";
  EXPECT_TRUE(is_right(made(options), {.refused = ErrorKind::kUsage}));
}

TEST_F(MakeCommunicator, RefusesNcclForDataInHostMemory) {
  EXPECT_TRUE(is_right(made({.wanted = CommBackend::kNccl}), {.refused = ErrorKind::kUsage}));
}

}  // namespace
}  // namespace salient
