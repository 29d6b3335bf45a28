// tests/engine/train/learned_tables_test.cpp - rows that a step touches move by Adam's formula, all others stay.
#include "engine/train/learned_tables.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/train/flat_adam.h"
#include "tests/support/learned_rows.h"
#include "tests/support/typed_batches.h"

namespace salient {
namespace {

using Rows = std::vector<std::int64_t>;

at::Tensor learned(const Model& model) { return model.named_parameters()[test::kLearnedRows].detach(); }

at::Tensor moment(const FlatAdam& adam, const std::string& name) {
  for (const auto& [found, tensor] : adam.state())
    if (found == test::kLearnedRows + name) return tensor;
  return {};
}

/// In double: a row's moments see the steps that touch it, corrections all steps.
struct ReferenceRows {
  struct Row {
    double x[4], first[4] = {}, second[4] = {};
  };
  double weight_decay;
  std::map<std::int64_t, Row> rows{};

  void step(const Rows& touched, int step, double lr) {
    std::map<std::int64_t, std::vector<double>> sums;
    for (std::size_t i = 0; i < touched.size(); ++i)
      for (int k = 0; k < 4; ++k) {
        sums[touched[i]].resize(4);
        sums[touched[i]][static_cast<std::size_t>(k)] += static_cast<double>(
            test::gradient_of_row(touched[i], static_cast<std::int64_t>(i), step)[static_cast<std::size_t>(k)]);
      }
    for (const auto& [number, sum] : sums)
      for (int k = 0; k < 4; ++k) {
        Row& row = rows.at(number);
        const double g = sum[static_cast<std::size_t>(k)] + weight_decay * row.x[k];
        row.first[k] = 0.9 * row.first[k] + 0.1 * g;
        row.second[k] = 0.999 * row.second[k] + 0.001 * g * g;
        row.x[k] -= lr * row.first[k] / (1 - std::pow(0.9, step)) /
                    (std::sqrt(row.second[k] / (1 - std::pow(0.999, step))) + 1e-8);
      }
  }
};

class LearnedRowSteps : public testing::TestWithParam<double> {};  // of weight decay

TEST_P(LearnedRowSteps, MoveWhatTheyTouchByTheFormulaAndNothingElse) {
  const std::shared_ptr<Model> model = test::model_with_learned_rows();
  FlatAdam adam(*model, {.lr = 0.01, .weight_decay = GetParam()});
  const at::Tensor start = learned(*model).clone();
  ReferenceRows reference{.weight_decay = GetParam()};
  for (const std::int64_t row : {2, 7, 79})
    for (int k = 0; k < 4; ++k) reference.rows[row].x[k] = double{start[row][k].item<float>()};
  const std::vector<Rows> steps = {{7, 2}, {79}, {2, 7, 2, 79, 2}, {}, {7}};
  for (std::size_t s = 0; s < steps.size(); ++s) {
    adam.zero_gradients();
    test::set_gradient(*model, steps[s], static_cast<int>(s) + 1);
    adam.step();
    reference.step(steps[s], static_cast<int>(s) + 1, 0.01);
  }
  const at::Tensor first = moment(adam, ".exp_avg"), second = moment(adam, ".exp_avg_sq");
  for (std::int64_t row = 0; row < 80; ++row) {
    if (!reference.rows.contains(row)) {
      EXPECT_TRUE(learned(*model)[row].equal(start[row])) << row;
      EXPECT_EQ(first[row].abs().sum().item<float>() + second[row].abs().sum().item<float>(), 0) << row;
      continue;
    }
    for (int k = 0; k < 4; ++k) {
      EXPECT_NEAR(double{learned(*model)[row][k].item<float>()}, reference.rows[row].x[k], 1e-6) << row;
      EXPECT_NEAR(double{first[row][k].item<float>()}, reference.rows[row].first[k], 1e-6) << row;
      const double expected = reference.rows[row].second[k];  // a float's 0.999, as of the other parameters
      EXPECT_NEAR(double{second[row][k].item<float>()}, expected, 1e-4 * expected) << row;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WeightDecay, LearnedRowSteps, testing::Values(0.0, 0.01));

TEST(LearnedTables, BackwardLeavesTheRowsOfTheBatchAndTheStepMovesThem) {
  const std::shared_ptr<Model> model = test::model_with_learned_rows();
  FlatAdam adam(*model, {});
  EXPECT_EQ(adam.parameters().size() - adam.gradients().size(), 80U * 4U) << "the table has no dense gradient";
  const at::Tensor start = learned(*model).clone();
  const BatchView batch = test::random_typed_batch(test::small_types(), {40, 6}, 3, 5);
  adam.zero_gradients();
  model->forward(batch, {}).pow(2).sum().backward();
  const at::Tensor gradient = model->named_parameters()[test::kLearnedRows].grad();
  ASSERT_TRUE(gradient.is_sparse());
  EXPECT_EQ(gradient._values().size(0), batch.types[1].rows.numel());
  const at::Tensor is_touched = gradient.to_dense().abs().sum(1).gt(0);
  ASSERT_GT(is_touched.sum().item<std::int64_t>(), 0);
  adam.step();
  EXPECT_TRUE(learned(*model).ne(start).any(1).equal(is_touched));
}

TEST(LearnedTables, StepsHaveTheSameBitsOnAnyNumberOfThreads) {
  const at::Tensor rows = at::randperm(5000).narrow(0, 0, 3000), gradients = at::randn({3000, 37});
  const at::Tensor start = at::randn({5000, 37}), steps = at::full({}, 4.0F);
  const auto after = [&](int threads) {
    AdamRowTensors tensors{start.clone(), start.mul(0.1), start.abs(), rows, gradients, steps};
    oneapi::tbb::task_arena(threads).execute([&] { adam_rows_step(tensors, 0.01, 0.001); });
    return at::cat({tensors.table, tensors.exp_avg, tensors.exp_avg_sq});
  };
  EXPECT_TRUE(after(1).equal(after(4)));
}

}  // namespace
}  // namespace salient
