// tests/engine/train/rank_state_test.cpp - a single rank keeps what it has.
#include "engine/train/rank_state.h"

#include <gtest/gtest.h>

#include "tests/support/inference.h"

namespace salient {
namespace {

TEST(RankStateOfOneRank, StaysAsItIs) {
  const auto comm = make_self_communicator();
  const Dataset dataset = test::dataset_with_small_features(300, 5, 7, FeatureType::kF32);
  const auto model = test::model_with_history("sage", dataset);
  FlatAdam adam(*model, {});
  const std::uint64_t checksum = adam.checksum();
  TrainProgress progress{.epoch = 3, .global_step = 40, .best_valid = 0.75};
  take_state_of_rank_0(*comm, test::on_the_cpu(), *model, adam, progress);
  take_weights_of_rank_0(*comm, test::on_the_cpu(), *model, adam);
  take_weights_of_rank_0(*comm, test::on_the_cpu(), *model);
  EXPECT_NO_THROW(require_equal_parameters(*comm, adam, "at the start"));
  EXPECT_EQ(adam.checksum(), checksum);
  EXPECT_EQ(progress.epoch, 3);
  EXPECT_EQ(progress.global_step, 40);
  EXPECT_EQ(progress.best_valid, 0.75);
}

}  // namespace
}  // namespace salient
