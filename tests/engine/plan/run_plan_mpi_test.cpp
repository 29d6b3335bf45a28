// tests/engine/plan/run_plan_mpi_test.cpp - ranks whose data is in different places have one precision.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "engine/comm/agreement.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/plan/run_plan.h"
#include "tests/support/datasets.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

TEST(ResolveOnRanks, IsBf16OnAllOrOnNone) {
  const auto comm = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const Dataset dataset = test::generated_dataset(100, 5, 7);
  const ResidentSpec spec{.rule = {{15, 10, 5}}, .max_seeds = 1024};
  const auto precision = [&](const DataResidency& data, std::optional<Precision> asked = {}) {
    return resolve({.precision = asked, .training = spec, .evaluation = spec}, dataset, {.residency = data}, *comm)
        .precision();
  };
  const auto is_on_all = [&](Precision found, Precision wanted) { return on_all_ranks(*comm, found == wanted); };
  const bool is_last = comm->rank() == comm->size() - 1;
  EXPECT_TRUE(is_on_all(precision(kAllOnDevice), SALIENT_HAS_CUDA ? Precision::kBf16 : Precision::kFp32));
  EXPECT_TRUE(is_on_all(precision(is_last ? DataResidency{} : kAllOnDevice), Precision::kFp32));
  EXPECT_TRUE(is_on_all(precision(is_last ? DataResidency{} : kAllOnDevice, Precision::kBf16), Precision::kBf16));
}

}  // namespace
}  // namespace salient
