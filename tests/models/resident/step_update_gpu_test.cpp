// tests/models/resident/step_update_gpu_test.cpp - steps that update the weights themselves, several in one graph,
// leave the bits of steps one by one with the optimiser's kernel behind each.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "models/kernels/adam.h"
#include "models/resident/sage_step.h"
#include "tests/models/resident/sage_problem.h"

namespace salient {
namespace {

using test::SageCase;
constexpr AdamRates kRates{.lr = 0, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
constexpr std::uint32_t kMaxSteps = 64;

/// The optimiser's memory, and what it and the step leave.
class Training {
 public:
  explicit Training(const SageCase& c)
      : problem_(c),
        moments_(at::zeros({2, problem_.flat_weights().numel()}, on_device(at::kFloat))),
        step_(at::zeros({1}, on_device(at::kFloat))),
        num_finished_(at::zeros({1}, on_device(at::kInt))),
        labels_(problem_.labels().to(at::kCUDA)),
        sums_(at::zeros({kMaxSteps, 2}, on_device(at::kDouble))) {
    cuda_check(cudaDeviceSynchronize());
  }

  SageStepShape shape() const {
    SageStepShape shape{problem_.shape(), 0};
    shape.sage.is_deterministic = true;  // else products may take other algorithms
    return shape;
  }
  SageStepData data() const {
    return {problem_.data(), {labels_.const_data_ptr<std::int32_t>()}, problem_.weights(), sums_.data_ptr<double>()};
  }
  AdamState state() const {
    float* const moments = moments_.data_ptr<float>();
    return {.parameters = problem_.flat_weights().data_ptr<float>(),
            .gradients = problem_.flat_gradients().data_ptr<float>(),
            .exp_avg = moments,
            .exp_avg_sq = moments + moments_.size(1),
            .step = step_.data_ptr<float>(),
            .num_finished_blocks = static_cast<std::uint32_t*>(num_finished_.data_ptr()),
            .size = moments_.size(1)};
  }
  std::span<const NodeId> seeds() const { return problem_.seeds(); }

  void expect_equal(const Training& other) const {
    EXPECT_TRUE(at::equal(problem_.flat_weights(), other.problem_.flat_weights()));
    EXPECT_TRUE(at::equal(moments_, other.moments_));
    EXPECT_TRUE(at::equal(step_, other.step_));
    EXPECT_TRUE(at::equal(sums_, other.sums_));
    EXPECT_EQ(num_finished_.item<int>(), 0);
    EXPECT_TRUE(at::isfinite(problem_.flat_weights()).all().item<bool>());
  }
  double steps() const { return step_.item<float>(); }

 private:
  static at::TensorOptions on_device(at::ScalarType type) { return at::TensorOptions(at::kCUDA).dtype(type); }

  test::SageProblem problem_;
  at::Tensor moments_, step_, num_finished_, labels_, sums_;
};

std::vector<StepHeader> headers_of(std::uint32_t epoch, std::uint32_t first, std::uint32_t count) {
  std::vector<StepHeader> headers;
  for (std::uint32_t i = first; i < count; ++i) {
    const std::uint32_t num_seeds = i % 11 == 7 ? 0 : i % 5 == 3 ? 17 : test::kSageMaxSeeds;  // shares of any size
    headers.push_back({7, epoch, i, 100 * epoch + i, 40 * i, num_seeds, 1.0F / 64, 0.003 / (1 + i)});
  }
  return headers;
}

class StepUpdate : public testing::TestWithParam<SageCase> {};

TEST_P(StepUpdate, HasTheBitsOfStepsOneByOne) {
  SageCase c = GetParam();
  if (!has_fused_layer(Training(c).shape().sage)) GTEST_SKIP() << "this GPU has no such kernel";
  Training inside(c), outside(c);
  SageStepData data = inside.data();
  data.update = ParameterUpdate{inside.state(), kRates};
  SageStep updating(inside.shape(), data), step(outside.shape(), outside.data());
  ASSERT_TRUE(updating.has_update());
  ASSERT_FALSE(step.has_update());
  const CudaStream stream;
  std::size_t num_steps = 0, num_calls = 0;
  // epochs of one group and some steps, of fewer than a group, of groups alone, and one that begins in its midst
  for (const auto& [epoch, first, count] : {std::array{1U, 0U, 21U}, {2U, 0U, 5U}, {3U, 0U, 48U}, {4U, 9U, 30U}}) {
    const std::vector<StepHeader> headers = headers_of(epoch, first, count);
    updating.start_epoch(inside.seeds());
    step.start_epoch(outside.seeds());
    for (std::size_t i = 0; i < headers.size(); ++num_calls)
      i += updating.run_some(std::span(headers).subspan(i), stream.get());
    for (std::size_t i = 0; i < headers.size(); ++i) {
      step.run(headers[i], std::span(headers).subspan(i + 1), stream.get());
      AdamRates rates = kRates;
      rates.lr = headers[i].learning_rate;
      adam_step(outside.state(), rates, stream.get());
    }
    stream.wait();
    num_steps += headers.size();
    inside.expect_equal(outside);
    const StepCounts counts = updating.counts(stream.get()), expected = step.counts(stream.get());
    EXPECT_EQ(counts.hop_edges, expected.hop_edges) << "epoch " << epoch;
    EXPECT_EQ(counts.hop_nodes, expected.hop_nodes) << "epoch " << epoch;
  }
  EXPECT_EQ(inside.steps(), static_cast<double>(num_steps));
  EXPECT_EQ(num_calls, (1 + 5) + 5 + 3 + (1 + 5));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, StepUpdate,
    testing::Values(
        SageCase{"paper", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, ActivationType::kBf16, false, 0.5},
        SageCase{"other_dropout", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, ActivationType::kBf16, false, 0.3},
        SageCase{"padded", {3, 2, 2}, 100, 256, 47, FeatureType::kF16, ActivationType::kBf16, false, 0.5},
        SageCase{"two_layers", {6, 6}, 45, 256, 9, FeatureType::kF32, ActivationType::kBf16, false, 0.5},
        SageCase{"four_layers", {4, 3, 7, 2}, 128, 256, 6, FeatureType::kF16, ActivationType::kBf16, false, 0.1}),
    [](const testing::TestParamInfo<SageCase>& each) { return each.param.name; });

}  // namespace
}  // namespace salient
