// tests/models/resident/sage_forward_gpu_test.cpp - resident predictions against dense f64 algebra over the reference's
// batch.
#include "models/resident/sage_forward.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/models/resident/sage_problem.h"

namespace salient {
namespace {

using Case = test::SageCase;
constexpr auto kMaxSeeds = static_cast<std::uint32_t>(test::kSageMaxSeeds);

/// Of the distance from f64, relative to its norm.
double bound_of(const Case& c) {
  if (c.activations == ActivationType::kBf16) return 0.02;
  return c.may_use_tf32 ? 0.005 : 5e-6;
}

at::Tensor logits_of(const SageForward& forward, const StepHeader& header, const Case& c) {
  return at::from_blob(const_cast<float*>(forward.logits()), {header.num_seeds, c.num_classes},
                       {forward.logits_stride(), 1}, at::TensorOptions(at::kCUDA).dtype(at::kFloat))
      .cpu();
}

class ResidentSageForward : public testing::TestWithParam<Case> {};

TEST_P(ResidentSageForward, HasTheLogitsOfTheReferenceBatch) {
  const Case& c = GetParam();
  Case with_copies = c;
  with_copies.has_near_rows = true;
  const test::SageProblem problem(c), near_problem(with_copies);  // of the same rows and weights
  SageShape shape = problem.shape();
  shape.is_deterministic = true;  // products chosen by time could differ between the two
  SageForward forward(shape, problem.data()), near_forward(shape, near_problem.data());
  const CudaStream stream;
  forward.start(problem.weights(), problem.seeds());
  near_forward.start(near_problem.weights(), near_problem.seeds());
  // full and short batches, one seed with neighbours, one without, and a full batch again behind the short ones
  const StepHeader headers[] = {{.seed = 7, .epoch = 2, .batch = 0, .first_seed = 0, .num_seeds = kMaxSeeds},
                                {.seed = 7, .epoch = 2, .batch = 3, .first_seed = 100, .num_seeds = 17},
                                {.seed = 7, .epoch = 2, .batch = 4, .first_seed = 1, .num_seeds = 1},
                                {.seed = 7, .epoch = 2, .batch = 5, .first_seed = 14, .num_seeds = 1},
                                {.seed = 9, .epoch = 4, .batch = 6, .first_seed = 2000, .num_seeds = kMaxSeeds}};
  const std::vector<at::Tensor> weights = problem.reference_weights();
  for (const StepHeader& header : headers) {
    forward.run(header, {}, stream.get());
    near_forward.run(header, {}, stream.get());
    stream.wait();
    EXPECT_TRUE(at::equal(logits_of(near_forward, header, c), logits_of(forward, header, c))) << header.batch;
    const at::Tensor expected = problem.reference_logits(header, weights).detach();
    EXPECT_LT(test::distance(logits_of(forward, header, c), expected), bound_of(c)) << header.batch;
  }
}

constexpr auto kF32 = ActivationType::kF32, kBf16 = ActivationType::kBf16;

INSTANTIATE_TEST_SUITE_P(
    Shapes, ResidentSageForward,
    testing::Values(
        Case{"three_layers", {15, 10, 5}, 128, 64, 17}, Case{"one_layer", {7}, 128, 8, 5},
        Case{"two_layers_f32_features", {3, 32}, 7, 16, 3, FeatureType::kF32},
        Case{"four_layers", {4, 3, 2, 2}, 100, 24, 40}, Case{"fanout_one", {1, 1}, 16, 8, 2},
        Case{"full_fanouts", {20, 20, 20}, 100, 64, 47}, Case{"odd_features", {5, 4}, 45, 32, 6},
        Case{"short_hop_with_replacement",
             {20, 5},
             64,
             32,
             6,
             FeatureType::kF16,
             kF32,
             false,
             0,
             0,
             Draw::kWithReplacement},
        Case{"hop_of_8_with_replacement",
             {20, 8},
             64,
             32,
             6,
             FeatureType::kF16,
             kF32,
             false,
             0,
             0,
             Draw::kWithReplacement},
        Case{"fp8_features", {15, 10, 5}, 128, 64, 17, FeatureType::kFp8, kF32, false, 0},
        Case{"fp8_features_by_four", {7, 6}, 100, 64, 17, FeatureType::kFp8, kF32, false, 0},
        Case{"fp8_features_by_one", {5, 4}, 45, 32, 6, FeatureType::kFp8, kF32, false, 0},
        Case{"with_replacement", {5, 20}, 64, 32, 6, FeatureType::kF16, kF32, false, 0, 0, Draw::kWithReplacement},
        Case{"without_size_choice", {6, 5, 4}, 32, 16, 9, FeatureType::kF16, kF32, false, 0, 0, Draw::kUniform, false},
        Case{"tf32", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, kF32, true},
        Case{"bf16", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, kBf16}),
    [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

TEST(ResidentSageForward, TakesTheWeightsAndSeedsOfItsLastStart) {
  const Case c{"restart", {4, 3}, 16, 8, 3};
  const test::SageProblem problem(c);
  SageForward forward(problem.shape(), problem.data());
  const CudaStream stream;
  const StepHeader header{.seed = 1, .epoch = 1, .batch = 0, .first_seed = 0, .num_seeds = 20};
  std::vector<at::Tensor> weights = problem.reference_weights();
  const at::Tensor before = problem.reference_logits(header, weights).detach();
  forward.start(problem.weights(), problem.seeds());
  forward.run(header, {}, stream.get());
  stream.wait();
  EXPECT_LT(test::distance(logits_of(forward, header, c), before), 5e-6);

  const at::Tensor doubled = weights[2].detach().to(at::kFloat).mul(2).to(at::kCUDA);  // around of the last layer
  std::vector<SageWeights> changed = problem.weights();
  changed[1].around = doubled.const_data_ptr<float>();
  weights[2] = weights[2].detach() * 2;
  const StepHeader later{.seed = 1, .epoch = 1, .batch = 0, .first_seed = 300, .num_seeds = 20};
  cuda_check(cudaDeviceSynchronize());
  forward.start(changed, problem.seeds().subspan(300));
  forward.run(header, {}, stream.get());  // the first seeds of the new list
  stream.wait();
  EXPECT_LT(test::distance(logits_of(forward, header, c), problem.reference_logits(later, weights).detach()), 5e-6);
  EXPECT_EQ(forward.counts(stream.get()).hop_nodes[0], 20 + forward.counts(stream.get()).hop_edges[0])
      << "of the batches since the last start";
}

}  // namespace
}  // namespace salient
