// tests/support/mpi_main.cpp - main() of tests that run as several ranks: a failure on any rank fails them all.
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/comm/mpi_communicator.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

Launch launch;

}  // namespace

const Launch& launch_of_test() { return launch; }

}  // namespace salient

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return salient::run_ranks({.name = "test"}, [&](const salient::Launch& started) {
    salient::launch = started;
    if (started.rank > 0)  // one rank's list of tests is enough; failures of the others go to standard error
      delete ::testing::UnitTest::GetInstance()->listeners().Release(
          ::testing::UnitTest::GetInstance()->listeners().default_result_printer());
    const int mine = RUN_ALL_TESTS();
    const auto& all = *::testing::UnitTest::GetInstance();
    const bool is_skipped =
        all.skipped_test_count() == all.test_to_run_count();  // for want of GPUs: alike on all ranks
    const auto comm = salient::make_mpi_communicator(started, /*timeout_seconds=*/120);
    const bool passed = salient::on_all_ranks(*comm, mine == 0);
    if (mine != 0) std::fprintf(stderr, "rank %d: tests failed\n", started.rank);
    return !passed ? EXIT_FAILURE : is_skipped ? 77 : EXIT_SUCCESS;  // 77: SKIP_RETURN_CODE in cmake/targets.cmake
  });
}
