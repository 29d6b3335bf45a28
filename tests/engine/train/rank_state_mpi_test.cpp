// tests/engine/train/rank_state_mpi_test.cpp - every rank takes over all of rank 0's state, and a difference is found.
#include "engine/train/rank_state.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/mpi_communicator.h"
#include "tests/support/inference.h"
#include "tests/support/ranks.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

/// A model with running means, and an optimiser that has made a step. Everything of it depends on `start`.
struct TrainedModel {
  explicit TrainedModel(int start) {
    const at::NoGradGuard no_gradients;
    for (const at::Tensor& tensor : model->parameters()) tensor.add_(start);
    for (const at::Tensor& tensor : model->buffers()) tensor.add_(start + 1);
    for (float& gradient : adam.gradients()) gradient = static_cast<float>(start + 1) * 0.5f;
    for (int step = 0; step <= start; ++step) adam.step();
  }

  /// Parameters, buffers, and the optimiser's moments and step.
  std::vector<at::Tensor> weights() const {
    std::vector<at::Tensor> all = model->parameters();
    for (const at::Tensor& buffer : model->buffers())
      if (buffer.scalar_type() == at::kFloat) all.push_back(buffer);
    return all;
  }
  std::vector<at::Tensor> optimizer_state() const {
    std::vector<at::Tensor> all;
    for (const auto& [name, tensor] : adam.state()) all.push_back(tensor);
    return all;
  }

  Dataset dataset = test::dataset_with_small_features(300, 5, 7, FeatureType::kF32);
  std::shared_ptr<Model> model = test::model_with_history("sage/batch/residual/cat/1", dataset);
  FlatAdam adam{*model, {.lr = 0.01}};
};

bool equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  bool is_equal = a.size() == b.size() && !a.empty();
  for (std::size_t i = 0; is_equal && i < a.size(); ++i) is_equal = at::equal(a[i], b[i]);
  return is_equal;
}

TrainProgress progress_of(int rank) {
  return {.epoch = 7 + rank,
          .step_in_epoch = 3,
          .global_step = 100 - rank,
          .partial_loss_sum = 0.25 * (rank + 1),
          .partial_correct = 11,
          .partial_labels = 12 + rank,
          .best_epoch = 5,
          .best_valid = 0.5 + rank,
          .plateau = {.best = 0.125 * rank, .has_best = rank > 0, .bad_epochs = rank, .reductions = 2}};
}

bool equal(const TrainProgress& a, const TrainProgress& b) {
  return a.epoch == b.epoch && a.step_in_epoch == b.step_in_epoch && a.global_step == b.global_step &&
         a.partial_loss_sum == b.partial_loss_sum && a.partial_correct == b.partial_correct &&
         a.partial_labels == b.partial_labels && a.best_epoch == b.best_epoch && a.best_valid == b.best_valid &&
         a.plateau.best == b.plateau.best && a.plateau.has_best == b.plateau.has_best &&
         a.plateau.bad_epochs == b.plateau.bad_epochs && a.plateau.reductions == b.plateau.reductions;
}

class RankState : public testing::Test {
 protected:
  const std::unique_ptr<Communicator> comm = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const ComputeDevice device = test::on_the_cpu();
  const TrainedModel of_rank_0{0};
  TrainedModel mine{comm->rank()};
  const bool starts_different = comm->rank() > 0;
};

TEST_F(RankState, EverythingThatAStepChangesBecomesRank0s) {
  const bool differs =
      !equal(mine.weights(), of_rank_0.weights()) && !equal(mine.optimizer_state(), of_rank_0.optimizer_state());
  TrainProgress progress = progress_of(comm->rank());
  take_state_of_rank_0(*comm, device, *mine.model, mine.adam, progress);
  EXPECT_TRUE(on_all_ranks(*comm, differs == starts_different));
  EXPECT_TRUE(on_all_ranks(*comm, equal(progress, progress_of(0)))) << progress.epoch;
  EXPECT_TRUE(on_all_ranks(*comm, equal(mine.weights(), of_rank_0.weights())));
  EXPECT_TRUE(on_all_ranks(*comm, equal(mine.optimizer_state(), of_rank_0.optimizer_state())));
}

TEST_F(RankState, WeightsAloneLeaveTheOptimiser) {
  take_weights_of_rank_0(*comm, device, *mine.model, mine.adam);
  EXPECT_TRUE(on_all_ranks(*comm, equal(mine.weights(), of_rank_0.weights())));
  const bool is_kept = equal(mine.optimizer_state(), TrainedModel(comm->rank()).optimizer_state());
  EXPECT_TRUE(on_all_ranks(*comm, is_kept));
}

TEST_F(RankState, AModelWithoutAnOptimiserTakesItsWeightsToo) {
  take_weights_of_rank_0(*comm, device, *mine.model);
  EXPECT_TRUE(on_all_ranks(*comm, equal(mine.weights(), of_rank_0.weights())));
}

TEST_F(RankState, ParametersThatDifferByOneBitAreFoundOnAllRanks) {
  take_weights_of_rank_0(*comm, device, *mine.model, mine.adam);
  require_equal_parameters(*comm, mine.adam, "at the start");
  if (comm->rank() == comm->size() - 1) {
    float& last = mine.adam.parameters().back();
    last = std::nextafter(last, 1e9f);
  }
  int kind = 0;
  std::string what;
  try {
    require_equal_parameters(*comm, mine.adam, "after step 7");
  } catch (const Error& error) {
    kind = static_cast<int>(error.kind());
    what = error.what();
  }
  EXPECT_TRUE(on_all_ranks(
      *comm, kind == static_cast<int>(ErrorKind::kInternal) && what.find("after step 7") != std::string::npos))
      << what;
}

}  // namespace
}  // namespace salient
