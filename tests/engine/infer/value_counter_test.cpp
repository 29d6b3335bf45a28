// tests/engine/infer/value_counter_test.cpp - errors of values on the device are those on the host; units are undone.
#include "engine/infer/value_counter.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/comm/make_communicator.h"
#include "engine/infer/inference_round.h"
#include "engine/infer/node_figures.h"
#include "engine/infer/target_unit.h"

namespace salient {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

Dataset two_targets() {
  static const std::vector<float> targets{1, 1e6F, 2, kNone, kNone, 1e6F + 300, 4, 1e6F - 100};
  static const std::vector<EdgeOffset> indptr(5, 0);
  Dataset dataset;
  dataset.graph.indptr = indptr;
  dataset.task = Task::kRegression;
  dataset.num_classes = 2;
  dataset.targets = targets;
  dataset.target_scales = {2, 1e6, 0.5, 200};
  return dataset;
}

TEST(ValueCounter, HasTheFiguresOfTheHost) {
  const Dataset dataset = two_targets();
  const std::vector<float> predicted{1.5F, 1e6F + 10, 2, 0, 9, 1e6F + 200, 3, 1e6F - 100};
  ValueCounter counter(dataset.target_scales, at::kCPU);
  const at::Tensor rows = at::tensor(predicted).view({4, 2});
  const at::Tensor known = at::tensor(std::vector<float>(dataset.targets.begin(), dataset.targets.end())).view({4, 2});
  counter.add(rows.narrow(0, 0, 3), known.narrow(0, 0, 3));
  counter.add(rows.narrow(0, 3, 1), known.narrow(0, 3, 1));
  NodeFigures figures(dataset);
  for (NodeId v = 0; v < 4; ++v) figures.add(v, std::span(predicted).subspan(2 * v, 2), 0);
  Figures found;
  add_value_figures(counter.sum_over_ranks(*make_self_communicator()), found);
  EXPECT_EQ(found, figures.figures());
  const double first = std::sqrt((0.25 + 0 + 1) / 3), second = std::sqrt((100 + 10'000 + 0) / 3.0);
  EXPECT_NEAR(*found[Metric::kRmse], (first + second) / 2, 1e-9);
  EXPECT_NEAR(*found[Metric::kMae], (1.5 / 3 + 110.0 / 3) / 2, 1e-9);
}

TEST(ValueCounter, CountsKnownValues) {
  AccuracyCounter counter(at::kCPU);
  counter.add(at::tensor({1.0F, 2.0F, NAN, 4.0F}).view({2, 2}), at::tensor({1.0F, kNone, 3.0F, 4.0F}).view({2, 2}));
  const InferenceCounts counts = counter.sum_over_ranks(*make_self_communicator());
  EXPECT_EQ(counts.nodes, 2);
  EXPECT_EQ(counts.labelled, 3);
  EXPECT_EQ(counts.correct, 0);
  EXPECT_EQ(counts.not_finite, 1);
}

TEST(TargetUnit, MakesValuesOfOutputs) {
  const TargetUnit unit(two_targets(), at::kCPU);
  const at::Tensor values = unit.of(at::tensor({0.0F, 1.0F, -2.0F, 0.5F}).view({2, 2}));
  EXPECT_EQ(values[0][0].item<float>(), 2);
  EXPECT_EQ(values[0][1].item<float>(), 1e6F + 200);
  EXPECT_EQ(values[1][0].item<float>(), 1);
  Dataset classes;
  const at::Tensor logits = at::tensor({1.0F, 2.0F}).view({1, 2});
  EXPECT_TRUE(TargetUnit(classes, at::kCPU).of(logits).is_same(logits)) << "of classes as they are";
}

}  // namespace
}  // namespace salient
