// tests/engine/train/learned_tables_mpi_test.cpp - a step of several ranks moves the rows that any of them touches.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/comm/mpi_communicator.h"
#include "engine/train/flat_adam.h"
#include "tests/support/learned_rows.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

TEST(LearnedTables, OfSeveralRanksAreThoseOfOneThatHasTheSum) {
  const std::unique_ptr<Communicator> comm = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const auto of_rank = [](int rank, int step) {  // row 3 of all, one of each, and none of the last rank in step 2
    return std::vector<std::int64_t>{3, 10 + rank + step};
  };
  const std::shared_ptr<Model> mine = test::model_with_learned_rows(), alone = test::model_with_learned_rows();
  FlatAdam adam(*mine, {.lr = 0.01, .weight_decay = 0.01}), of_sums(*alone, {.lr = 0.01, .weight_decay = 0.01});
  for (int step = 1; step <= 3; ++step) {
    const bool is_idle = step == 2 && comm->rank() == comm->size() - 1;
    adam.zero_gradients();
    if (!is_idle) test::set_gradient(*mine, of_rank(comm->rank(), step), step);
    adam.sum_over_ranks(*comm, nullptr);
    adam.step();
    at::Tensor sum = at::zeros({80, 4});
    std::vector<std::int64_t> rows;
    for (int rank = 0; rank < comm->size() - (step == 2 ? 1 : 0); ++rank) {
      test::set_gradient(*alone, of_rank(rank, step), step);
      sum += alone->named_parameters()[test::kLearnedRows].grad().to_dense();
    }
    for (std::int64_t row = 0; row < 80; ++row)
      if (sum[row].abs().sum().item<float>() > 0) rows.push_back(row);
    of_sums.zero_gradients();
    test::set_gradient(*alone, rows, step);
    alone->named_parameters()[test::kLearnedRows].grad()._values().copy_(sum.index_select(0, at::tensor(rows)));
    of_sums.step();
  }
  const at::Tensor found = mine->named_parameters()[test::kLearnedRows];
  EXPECT_TRUE(found.allclose(alone->named_parameters()[test::kLearnedRows], 1e-5, 1e-6));
  std::vector<double> values;
  for (const float value : adam.parameters()) values.push_back(double{value});
  const std::vector<double> own = values;
  comm->all_reduce_sum(values);
  for (std::size_t i = 0; i < own.size(); ++i)
    ASSERT_EQ(values[i], own[i] * comm->size()) << "the same bits on all ranks, " << i;
}

}  // namespace
}  // namespace salient
