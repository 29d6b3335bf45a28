// tests/models/resident/seed_loss_gpu_test.cpp - losses of seeds and their gradients are those of the formulas, in f64.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/philox.h"
#include "models/products/activation_type.h"
#include "models/resident/loss.h"
#include "tests/support/device_copy.h"

namespace salient {
namespace {

using test::OnDevice;

constexpr std::int64_t kMaxSeeds = 40, kNodes = 90;
constexpr std::uint32_t kSeeds = 33, kBatch = 2;
constexpr float kScale = 0.125F;

struct LossCase {
  std::string name;
  SeedLossKind kind;
  std::int64_t outputs;
  double smoothing = 0;
  RegressionLoss regression = RegressionLoss::kMse;
};

/// Numbers in [-1, 1) that depend on their place alone.
float drawn(std::uint32_t a, std::uint32_t b) {
  return static_cast<float>(philox4x32({{11, 5}}, {{a, b, 0, 0}}).word[0]) / 2147483648.0F - 1;
}

/// Everything that a loss reads, on the host.
struct Problem {
  explicit Problem(const LossCase& loss_case) : c(loss_case), columns(padded(c.outputs)) {
    for (std::uint32_t i = 0; i < kMaxSeeds; ++i) nodes.push_back((i * 7 + 3) % kNodes);
    for (std::uint32_t v = 0; v < kNodes; ++v) {
      classes.push_back(static_cast<std::int32_t>((v * 5) % (c.outputs + 1)) - 1);  // -1, too
      for (std::int64_t k = 0; k < c.outputs; ++k)
        values.push_back((v + k) % 4 == 0 ? NAN : 2 * drawn(v, 1000 + static_cast<std::uint32_t>(k)));
    }
    for (std::int64_t k = 0; k < c.outputs; ++k) weights.push_back(static_cast<float>(k % 5) * 0.5F);
    weights.push_back(std::accumulate(weights.begin(), weights.end(), 0.0F));
    for (std::uint32_t i = 0; i < kMaxSeeds; ++i)
      for (std::uint32_t k = 0; k < columns; ++k) logits.push_back(4 * drawn(i, k));
  }

  const LossCase& c;
  const std::int64_t columns;
  std::vector<NodeId> nodes{};
  std::vector<std::int32_t> classes{};
  std::vector<float> values{}, weights{}, logits{};
};

struct Expected {
  double loss = 0, correct = 0;
  std::vector<double> gradient{};  // [kMaxSeeds, columns]
};

void add_values(const Problem& p, std::int64_t i, Expected& e) {
  for (std::int64_t k = 0; k < p.c.outputs; ++k) {
    const double value = p.values[static_cast<std::size_t>(p.nodes[static_cast<std::size_t>(i)] * p.c.outputs + k)];
    if (std::isnan(value)) continue;
    const double d = p.logits[static_cast<std::size_t>(i * p.columns + k)] - value, size = std::fabs(d);
    const double sign = d > 0 ? 1 : -1;
    double loss = d * d, slope = 2 * d;
    if (p.c.regression == RegressionLoss::kMae) loss = size, slope = sign;
    if (p.c.regression == RegressionLoss::kHuber)
      loss = size <= 1 ? d * d / 2 : size - 0.5, slope = size <= 1 ? d : sign;
    e.loss += loss;
    e.gradient[static_cast<std::size_t>(i * p.columns + k)] = slope * kScale;
  }
}

void add_class(const Problem& p, std::int64_t i, Expected& e) {
  const std::int32_t label = p.classes[p.nodes[static_cast<std::size_t>(i)]];
  if (label < 0) return;
  const auto row =
      std::span(p.logits).subspan(static_cast<std::size_t>(i * p.columns), static_cast<std::size_t>(p.c.outputs));
  double sum = 0;
  for (const float z : row) sum += std::exp(double{z});
  std::size_t best = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] > row[best]) best = k;
    const auto weight = [&](std::size_t of) { return p.c.kind == SeedLossKind::kClasses ? 1.0 : p.weights[of]; };
    // of each class k: its target, times -log p_k
    const double target = p.c.smoothing / static_cast<double>(p.c.outputs) * weight(k) +
                          (std::cmp_equal(k, label) ? (1 - p.c.smoothing) * weight(k) : 0);
    e.loss += target * (std::log(sum) - row[k]);
    for (std::size_t j = 0; j < row.size(); ++j)
      e.gradient[static_cast<std::size_t>(i * p.columns) + j] +=
          kScale * target * (std::exp(double{row[j]}) / sum - (j == k ? 1 : 0));
  }
  e.correct += std::cmp_equal(best, label) ? 1 : 0;
}

Expected expected_of(const Problem& p) {
  Expected e;
  e.gradient.assign(p.logits.size(), 0);
  for (std::int64_t i = 0; i < kSeeds; ++i)
    p.c.kind == SeedLossKind::kValues ? add_values(p, i, e) : add_class(p, i, e);
  return e;
}

class ResidentSeedLoss : public testing::TestWithParam<LossCase> {};

TEST_P(ResidentSeedLoss, AndItsGradientAreThoseOfTheFormula) {
  const Problem p(GetParam());
  const Expected expected = expected_of(p);
  const CudaStream stream;
  const OnDevice<StepHeader> header({{.batch = kBatch, .num_seeds = kSeeds, .gradient_scale = kScale}}, stream);
  const OnDevice<NodeId> nodes(p.nodes, stream);
  const OnDevice<std::int32_t> classes(p.classes, stream);
  const OnDevice<float> values(p.values, stream), weights(p.weights, stream), logits(p.logits, stream);
  const OnDevice<float> rows(std::vector<float>(2 * kMaxSeeds, NAN), stream);
  const OnDevice<float> gradient(std::vector<float>(p.logits.size(), NAN), stream);
  const OnDevice<double> sums(std::vector<double>(2 * (kBatch + 1), NAN), stream);
  SeedTargets targets;
  if (p.c.kind == SeedLossKind::kValues)
    targets = {.values = values.get(), .regression = p.c.regression};
  else
    targets.classes = classes.get();
  if (p.c.kind == SeedLossKind::kWeightedClasses) targets.class_weights = weights.get();
  EXPECT_EQ(kind_of(targets), p.c.kind);
  const SeedLoss loss{.header = header.get(),
                      .nodes = nodes.get(),
                      .targets = targets,
                      .max_seeds = kMaxSeeds,
                      .num_classes = p.c.outputs,
                      .label_smoothing = static_cast<float>(p.c.smoothing),
                      .type = ActivationType::kF32,
                      .rows = rows.get(),
                      .sums = sums.get()};
  seed_loss(loss, logits.get(), gradient.get(), stream.get());
  sum_losses(loss, stream.get());
  const std::vector<double> found = sums.read(stream);
  EXPECT_NEAR(found[2 * kBatch], expected.loss, 1e-5 * std::max(1.0, expected.loss));
  EXPECT_EQ(found[2 * kBatch + 1], expected.correct);
  const std::vector<float> slopes = gradient.read(stream);
  for (std::size_t i = 0; i < slopes.size(); ++i) ASSERT_NEAR(slopes[i], expected.gradient[i], 2e-6) << i;
}

std::vector<LossCase> cases() {
  std::vector<LossCase> all;
  for (const std::int64_t outputs : {2, 7, 47, 300})
    for (const double smoothing : {0.0, 0.2}) {
      const std::string name = std::to_string(outputs) + (smoothing > 0 ? "_smoothed" : "");
      all.push_back({"classes_" + name, SeedLossKind::kClasses, outputs, smoothing});
      all.push_back({"weighted_" + name, SeedLossKind::kWeightedClasses, outputs, smoothing});
    }
  for (const std::int64_t outputs : {1, 3, 40})
    for (const auto& [loss, name] : names_of(RegressionLoss{}))
      all.push_back({std::string(name) + "_" + std::to_string(outputs), SeedLossKind::kValues, outputs, 0, loss});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kinds, ResidentSeedLoss, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<LossCase>& each) { return each.param.name; });

}  // namespace
}  // namespace salient
