// tests/models/resident/sage_step_gpu_test.cpp - the resident step against dense f64 algebra over the reference's
// batch.
#include "models/resident/sage_step.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <iterator>
#include <span>

#include "models/model.h"
#include "tests/models/resident/sage_problem.h"

namespace salient {
namespace {

using test::distance;
using Case = test::SageCase;
constexpr std::int64_t kMaxSeeds = test::kSageMaxSeeds, kMaxSteps = 50;

/// Everything that a step needs.
class Problem : public test::SageProblem {
 public:
  explicit Problem(const Case& c)
      : SageProblem(c),
        label_smoothing_(c.label_smoothing),
        y_device_(labels().to(at::kCUDA)),
        sums_(at::full({kMaxSteps, 2}, NAN, at::TensorOptions(at::kCUDA).dtype(at::kDouble))) {
    cuda_check(cudaDeviceSynchronize());
  }

  SageStepShape step_shape() const { return {shape(), label_smoothing_}; }
  SageStepData step_data() const {
    return {data(), {y_device_.const_data_ptr<std::int32_t>()}, weights(), sums_.data_ptr<double>()};
  }
  /// Of each step so far, NaN behind them. @return  [kMaxSteps, 2] f64 on the host
  at::Tensor sums() const { return sums_.cpu(); }

  /// Loss, right predictions and gradients in f64 over the reference's message-flow graph.
  struct Expected {
    double loss = 0, correct = 0;
    std::vector<at::Tensor> gradients{};
  };
  Expected expected(const StepHeader& h) const { return expected(h, reference_weights()); }
  Expected expected(const StepHeader& h, const std::vector<at::Tensor>& w) const {
    return differentiated(h, reference_logits(h, w), w);
  }

  /// @param w  what `logits` depend on
  Expected differentiated(const StepHeader& h, const at::Tensor& logits_of_any_type,
                          const std::vector<at::Tensor>& w) const {
    const at::Tensor logits = logits_of_any_type.to(at::kCPU, at::kDouble);
    const at::Tensor labels_of_seeds = labels().narrow(0, h.first_seed, h.num_seeds).to(at::kLong);
    const at::Tensor known = labels_of_seeds.ge(0);
    const at::Tensor log_p = at::log_softmax(logits, 1);
    const at::Tensor likelihood = -log_p.gather(1, labels_of_seeds.clamp_min(0).unsqueeze(1)).squeeze(1);
    const at::Tensor each = likelihood * (1 - label_smoothing_) - log_p.mean(1) * label_smoothing_;
    const at::Tensor loss = (each * known).sum();
    (loss * static_cast<double>(h.gradient_scale)).backward();
    Expected e{loss.item<double>(), (logits.argmax(1).eq(labels_of_seeds) * known).sum().item<double>()};
    for (const at::Tensor& weight : w) e.gradients.push_back(weight.grad().to(at::kCPU, at::kDouble));
    return e;
  }

 private:
  const double label_smoothing_;
  at::Tensor y_device_, sums_;
};

/// Of the distance from f64, relative to its norm. Rounded operands move a few units over the edge of a ReLU, and
/// with random labels a gradient is a small difference of large terms.
double bound_of(const Case& c) {
  if (c.activations == ActivationType::kBf16) return 0.1;
  return c.may_use_tf32 ? 0.05 : 2e-5;
}

class ResidentSageStep : public testing::TestWithParam<Case> {};

TEST_P(ResidentSageStep, HasTheLossAndGradientsOfTheReferenceBatch) {
  const Case& c = GetParam();
  Problem problem(c);
  SageStep step(problem.step_shape(), problem.step_data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  const StepHeader headers[] = {{7, 2, 0, 11, 0, kMaxSeeds, 1.0F / kMaxSeeds},
                                {7, 2, 3, 14, 100, 17, 0.25F},
                                {7, 2, 5, 16, 1, 1, 1.0F},
                                {9, 4, 6, 1000, 2000, kMaxSeeds, 1.0F}};
  for (const StepHeader& header : headers) {
    step.run(header, {}, stream.get());
    stream.wait();
    const Problem::Expected expected = problem.expected(header);
    const at::Tensor sums = problem.sums()[header.batch];
    EXPECT_NEAR(sums[0].item<double>(), expected.loss, bound_of(c) * std::max(1.0, expected.loss)) << header.batch;
    EXPECT_NEAR(sums[1].item<double>(), expected.correct, bound_of(c) > 1e-3 ? 3 : 0) << header.batch;
    for (std::size_t i = 0; i < expected.gradients.size(); ++i)
      EXPECT_LT(distance(problem.gradient(i), expected.gradients[i]), bound_of(c)) << header.batch << " weight " << i;
  }
}

TEST_P(ResidentSageStep, OfNoSeedsHasZeroGradients) {
  Problem problem(GetParam());
  SageStep step(problem.step_shape(), problem.step_data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  step.run({1, 1, 2, 0, 10, kMaxSeeds, 1.0F}, {}, stream.get());  // leaves rows behind the next batch's end
  step.run({1, 1, 0, 0, 0, 0, 1.0F}, {}, stream.get());
  stream.wait();
  for (std::size_t i = 0; i < 2 * GetParam().fanouts.size(); ++i)
    EXPECT_EQ(problem.gradient(i).abs().max().item<float>(), 0) << i;
  EXPECT_EQ(problem.sums()[0][0].item<double>(), 0);
}

TEST_P(ResidentSageStep, RepeatsItsBits) {
  Problem problem(GetParam());
  SageStep step(problem.step_shape(), problem.step_data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  std::vector<at::Tensor> first;
  for (int round = 0; round < 3; ++round) {
    step.run({1, 1, 2, 0, 64, kMaxSeeds, 1.0F}, {}, stream.get());
    stream.wait();
    for (std::size_t i = 0; i < 2 * GetParam().fanouts.size(); ++i) {
      if (round == 0) first.push_back(problem.gradient(i).clone());
      EXPECT_TRUE(at::equal(first[i], problem.gradient(i))) << i;
    }
  }
}

TEST_P(ResidentSageStep, HasTheSameBitsIfItsBatchWasSampledAhead) {
  Problem problem(GetParam());
  SageStep step(problem.step_shape(), problem.step_data());
  const CudaStream stream;
  const std::vector<StepHeader> headers{{7, 2, 0, 11, 0, kMaxSeeds, 1.0F / kMaxSeeds},
                                        {7, 2, 1, 12, 64, 17, 0.25F},
                                        {7, 2, 2, 13, 81, 0, 1.0F},
                                        {7, 2, 3, 14, 81, kMaxSeeds, 1.0F},
                                        {7, 2, 4, 15, 900, 50, 1.0F}};
  std::vector<at::Tensor> sampled_then;
  std::vector<std::vector<std::int64_t>> edges;
  for (std::size_t num_ahead = 0; num_ahead <= SageStep::kMaxAhead; ++num_ahead) {
    step.start_epoch(problem.seeds());
    for (std::size_t i = 0; i < headers.size(); ++i) {
      const std::size_t end = i < 3 ? 3 : headers.size();  // of the fourth one nothing is known before
      const auto known = std::span(headers).first(std::min(end, i + 1 + num_ahead)).subspan(i + 1);
      step.run(headers[i], known, stream.get());
      stream.wait();
      for (std::size_t w = 0; w < 2 * GetParam().fanouts.size(); ++w) {
        if (num_ahead == 0) sampled_then.push_back(problem.gradient(w).clone());
        const std::size_t at = i * 2 * GetParam().fanouts.size() + w;
        EXPECT_TRUE(at::equal(sampled_then[at], problem.gradient(w)))
            << "batch " << i << " weight " << w << ", " << num_ahead << " ahead";
      }
      edges.push_back(step.counts(stream.get()).hop_edges);
      EXPECT_EQ(edges.back(), edges[i]) << "those of the batches that began, after batch " << i;
    }
  }
}

TEST_P(ResidentSageStep, HasTheSameBitsIfTheHostRunsAhead) {
  Problem problem(GetParam());
  SageStep step(problem.step_shape(), problem.step_data());
  const CudaStream stream;
  constexpr std::uint32_t kSizes[] = {kMaxSeeds, 17, 1, kMaxSeeds, 0, 50, kMaxSeeds};
  std::vector<StepHeader> headers;
  for (std::uint32_t i = 0; i < 20; ++i)
    headers.push_back({7, 2, i, 11 + i, 64 * i, kSizes[i % std::size(kSizes)], 1.0F / kMaxSeeds});
  const std::size_t num_weights = 2 * GetParam().fanouts.size();
  std::vector<at::Tensor> expected, found;
  for (std::size_t i = 0; i < headers.size() * num_weights; ++i)
    found.push_back(at::empty_like(problem.gradient(i % num_weights)));
  cuda_check(cudaDeviceSynchronize());  // tensors are made on another stream
  step.start_epoch(problem.seeds());
  for (const StepHeader& header : headers) {
    step.run(header, {}, stream.get());
    stream.wait();
    for (std::size_t w = 0; w < num_weights; ++w) expected.push_back(problem.gradient(w).cpu());
  }
  const at::Tensor expected_sums = problem.sums();
  step.start_epoch(problem.seeds());
  for (std::size_t i = 0; i < headers.size(); ++i) {
    step.run(headers[i], std::span(headers).subspan(i + 1), stream.get());
    for (std::size_t w = 0; w < num_weights; ++w) {
      const at::Tensor& gradient = problem.gradient(w);
      cuda_check(cudaMemcpyAsync(found[i * num_weights + w].data_ptr(), gradient.const_data_ptr(), gradient.nbytes(),
                                 cudaMemcpyDeviceToDevice, stream.get()));
    }
  }
  stream.wait();
  const auto num_steps = static_cast<std::int64_t>(headers.size());
  EXPECT_TRUE(at::equal(problem.sums().narrow(0, 0, num_steps), expected_sums.narrow(0, 0, num_steps)));
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(at::equal(found[i].cpu(), expected[i])) << "batch " << i / num_weights << " weight " << i % num_weights;
}

constexpr auto kF32 = ActivationType::kF32, kBf16 = ActivationType::kBf16;

Case with_replacement(const char* name, const std::vector<int>& fanouts) {
  Case c{name, fanouts, 64, 32, 6};
  c.dropout = 0.5;
  c.draw = Draw::kWithReplacement;
  return c;
}

Case bf16_by_products() {
  Case c{"bf16_by_products", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, kBf16, false, 0.5};
  c.may_fuse = false;
  return c;
}

/// A graph that compute-sanitizer can follow.
Case without_size_choice(const char* name, ActivationType activations) {
  Case c{name, {6, 5, 4}, 40, 32, 9, FeatureType::kF16, activations, false, 0.5};
  c.has_size_choice = false;
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ResidentSageStep,
    testing::Values(Case{"three_layers", {15, 10, 5}, 128, 64, 17}, Case{"one_layer", {7}, 128, 8, 5},
                    Case{"two_layers_f32_features", {3, 32}, 7, 16, 3, FeatureType::kF32},
                    Case{"four_layers", {4, 3, 2, 2}, 100, 24, 40, FeatureType::kF16, kF32, false, 0.5},
                    Case{"wide_f32_features", {5, 5}, 300, 40, 9, FeatureType::kF32, kF32, false, 0.3, 0.1},
                    Case{"odd_features", {5, 4}, 45, 32, 6, FeatureType::kF16, kF32, false, 0.5},
                    with_replacement("short_hop_with_replacement", {20, 5}),
                    with_replacement("hop_of_8_with_replacement", {20, 8}),
                    Case{"fp8_features", {15, 10, 5}, 128, 64, 17, FeatureType::kFp8, kF32, false, 0.5},
                    Case{"fp8_features_by_four", {7, 6}, 100, 64, 17, FeatureType::kFp8, kF32, false, 0.5},
                    Case{"fp8_features_by_one", {5, 4}, 45, 32, 6, FeatureType::kFp8, kF32, false, 0.5},
                    with_replacement("with_replacement", {5, 20}),
                    Case{"tf32", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, kF32, true, 0.5},
                    Case{"bf16", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, kBf16, false, 0.5},
                    Case{"wide_hidden_layer", {5, 3}, 64, 512, 6, FeatureType::kF16, kF32, false, 0.5},
                    Case{"bf16_smoothed", {6, 6}, 100, 64, 47, FeatureType::kF16, kBf16, false, 0.5, 0.1},
                    bf16_by_products(), without_size_choice("without_size_choice", kF32),
                    without_size_choice("bf16_without_size_choice", kBf16)),
    [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

// The first layer and the last one. Both ways have the same operands and the same rounding; only the order of sums
// differs.
class FusedLayers : public testing::TestWithParam<Case> {};

TEST_P(FusedLayers, HasTheGradientsOfProducts) {
  Case fused_case = GetParam(), other_case = fused_case;
  fused_case.has_near_rows = true;  // which are the same rows
  other_case.may_fuse = false;
  other_case.has_size_choice = false;  // so that compute-sanitizer can follow it
  Problem fused_problem(fused_case), other_problem(other_case);
  SageStep fused(fused_problem.step_shape(), fused_problem.step_data());
  SageStep other(other_problem.step_shape(), other_problem.step_data());
  const CudaStream stream;
  fused.start_epoch(fused_problem.seeds());
  other.start_epoch(other_problem.seeds());
  const StepHeader headers[] = {{7, 2, 0, 11, 0, kMaxSeeds, 1.0F / kMaxSeeds},
                                {7, 2, 3, 14, 100, 17, 0.25F},
                                {7, 2, 5, 16, 1, 1, 1.0F},   // a hub
                                {7, 2, 7, 16, 14, 1, 1.0F},  // no neighbours
                                {7, 2, 8, 17, 15, 0, 1.0F},
                                {9, 4, 6, 1000, 2000, kMaxSeeds, 1.0F}};
  for (const StepHeader& header : headers) {
    fused.run(header, {}, stream.get());
    other.run(header, {}, stream.get());
    stream.wait();
    const at::Tensor sums = fused_problem.sums()[header.batch], expected = other_problem.sums()[header.batch];
    EXPECT_TRUE(at::allclose(sums, expected, 1e-3, 1e-3)) << header.batch;
    for (std::size_t i = 0; i < 2 * fused_case.fanouts.size(); ++i) {
      const at::Tensor gradient = other_problem.gradient(i).cpu().to(at::kDouble);
      EXPECT_LT(distance(fused_problem.gradient(i), gradient), 0.01) << header.batch << " weight " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FusedLayers,
    testing::Values(Case{"paper", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, kBf16, false, 0.5},
                    Case{"without_dropout", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, kBf16},
                    Case{"padded_features", {3, 2, 2}, 100, 256, 47, FeatureType::kF16, kBf16, false, 0.3},
                    Case{"few_features", {6, 6}, 45, 256, 9, FeatureType::kF32, kBf16, false, 0.5},
                    Case{"fp8_features", {15, 10, 5}, 128, 256, 172, FeatureType::kFp8, kBf16, false, 0.5},
                    Case{"padded_fp8_features", {3, 2, 2}, 100, 256, 47, FeatureType::kFp8, kBf16, false, 0.3},
                    Case{"short_hop_with_replacement",
                         {5, 20, 8},
                         128,
                         256,
                         40,
                         FeatureType::kF16,
                         kBf16,
                         false,
                         0.5,
                         0,
                         Draw::kWithReplacement},
                    Case{"largest_fanout", {32, 32}, 64, 256, 6, FeatureType::kF16, kBf16, false, 0.5},
                    Case{"fanout_one", {1, 1}, 128, 256, 6, FeatureType::kF16, kBf16, false, 0.5},
                    Case{"four_layers", {4, 3, 7, 2}, 128, 256, 6, FeatureType::kF16, kBf16, false, 0.1},
                    Case{"last_layer_alone", {5, 4}, 300, 256, 47, FeatureType::kF16, kBf16, false, 0.5},
                    Case{"most_classes", {3, 4, 2}, 64, 256, 256, FeatureType::kF16, kBf16, false, 0.5, 0.1},
                    Case{"too_many_classes", {3, 4, 2}, 64, 256, 257, FeatureType::kF16, kBf16, false, 0.5},
                    Case{"with_replacement",
                         {5, 20, 4},
                         128,
                         256,
                         40,
                         FeatureType::kF16,
                         kBf16,
                         false,
                         0.5,
                         0,
                         Draw::kWithReplacement}),
    [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

TEST(ResidentSageStep, CountsWhatItSampled) {
  const Case c{"counts", {4, 3}, 16, 8, 3};
  Problem problem(c);
  SageStep step(problem.step_shape(), problem.step_data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  step.run({1, 1, 0, 0, 100, 20, 1.0F}, {}, stream.get());
  step.run({1, 1, 1, 0, 120, 20, 1.0F}, {}, stream.get());
  const StepCounts counts = step.counts(stream.get());
  ASSERT_EQ(counts.hop_edges.size(), 2U);
  EXPECT_EQ(counts.hop_nodes[0], 40 + counts.hop_edges[0]) << "the seeds, and the first hop's children";
  EXPECT_EQ(counts.hop_nodes[1], counts.hop_nodes[0] + counts.hop_edges[1]);
  EXPECT_GT(counts.hop_edges[0], 80);
  EXPECT_LE(counts.hop_edges[0], 40 * 4);
  EXPECT_LE(counts.hop_edges[1], counts.hop_nodes[0] * 3);
}

/// Adam in f64, whose weights are f32 numbers, so that all precisions begin with the same.
class Adam {
 public:
  explicit Adam(const std::vector<at::Tensor>& weights) {
    for (const at::Tensor& weight : weights) {
      weights_.push_back(weight.detach().clone());
      first_.push_back(at::zeros_like(weights_.back()));
      second_.push_back(at::zeros_like(weights_.back()));
    }
  }

  void update(const std::vector<at::Tensor>& gradients) {
    ++step_;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      first_[i].mul_(0.9).add_(gradients[i], 0.1);
      second_[i].mul_(0.999).addcmul_(gradients[i], gradients[i], 0.001);
      const at::Tensor root = (second_[i] / (1 - std::pow(0.999, step_))).sqrt();
      weights_[i].sub_(first_[i] / (1 - std::pow(0.9, step_)) / (root + 1e-8) * 0.003);
      weights_[i] = weights_[i].to(at::kFloat).to(at::kDouble);
    }
  }

  const std::vector<at::Tensor>& weights() const { return weights_; }
  std::vector<at::Tensor> to_be_differentiated() const {
    std::vector<at::Tensor> copies;
    for (const at::Tensor& weight : weights_) copies.push_back(weight.clone().requires_grad_());
    return copies;
  }

 private:
  std::vector<at::Tensor> weights_, first_, second_;
  int step_ = 0;
};

/// An eager step: the model of models/sage.h on the device, over the reference's batch.
Problem::Expected eager_step(const Problem& problem, Model& model, const StepHeader& h, const Adam& adam) {
  const Mfg mfg = problem.reference_mfg(h);
  const auto on_device = [](const auto& values) {
    const at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::kInt);
    std::copy(values.begin(), values.end(), tensor.data_ptr<std::int32_t>());
    return tensor.to(at::kCUDA);
  };
  BatchView batch;
  batch.nodes = on_device(mfg.nodes);
  batch.x = problem.rows_of(mfg).to(at::kCUDA);
  for (const MfgHop& hop : mfg.hops)
    batch.hops.push_back({hop.num_dst, hop.num_src, on_device(hop.indptr), on_device(hop.indices), {}});
  const std::vector<at::Tensor> parameters = model.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].detach().copy_(adam.weights()[i]);
  model.zero_grad();
  const at::Tensor logits = model.forward(batch, {.seed = h.seed, .step = h.global_step, .nodes = batch.nodes});
  return problem.differentiated(h, logits, parameters);
}

class FirstLosses : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::uint32_t kSteps = kMaxSteps;

  static Precision precision_of(const Case& c) {
    if (c.activations == ActivationType::kBf16) return Precision::kBf16;
    return c.may_use_tf32 ? Precision::kTf32 : Precision::kFp32;
  }
};

/// With the same weights before each step: of their own, one ReLU whose input is 0 but for rounding sends Adam another
/// way.
TEST_P(FirstLosses, AreNoFurtherFromF64ThanTwiceThoseOfEagerSteps) {
  const Case& c = GetParam();
  Problem problem(c);
  SageStep step(problem.step_shape(), problem.step_data());
  const std::shared_ptr<Model> model = make_model({.kind = ModelKind::kSage,
                                                   .in_dim = c.in_dim,
                                                   .hidden_dim = c.hidden_dim,
                                                   .num_classes = c.num_classes,
                                                   .num_layers = static_cast<int>(c.fanouts.size()),
                                                   .dropout = c.dropout},
                                                  {.precision = precision_of(c)});
  model->to(at::kCUDA);
  Adam adam(problem.reference_weights());  // by the reference's gradients, for all three
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  double of_eager = 0, of_resident = 0, of_f32 = 0;  // squared distances; of numbers of 24 bits
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    StepHeader header{7, 1, i, i, 58 * i, kMaxSeeds};
    const std::int64_t known =
        problem.labels().narrow(0, header.first_seed, kMaxSeeds).ge(0).sum().item<std::int64_t>();
    header.gradient_scale = 1.0F / static_cast<float>(known);
    const Problem::Expected in_f64 = problem.expected(header, adam.to_be_differentiated());
    const Problem::Expected in_eager = eager_step(problem, *model, header, adam);
    problem.set_weights(adam.weights());
    step.run(header, {}, stream.get());
    stream.wait();
    const double loss = problem.sums()[i][0].item<double>();
    of_eager += std::pow((in_eager.loss - in_f64.loss) / static_cast<double>(known), 2);
    of_resident += std::pow((loss - in_f64.loss) / static_cast<double>(known), 2);
    of_f32 += std::pow(in_f64.loss / static_cast<double>(known) * 0x1p-24, 2);
    adam.update(in_f64.gradients);
  }
  const double eager_error = std::sqrt(of_eager / kSteps), resident_error = std::sqrt(of_resident / kSteps);
  std::cout << "root mean square distance from f64 of " << kSteps << " losses: eager " << eager_error << ", resident "
            << resident_error << "\n";
  EXPECT_LE(resident_error, std::max(2 * eager_error, std::sqrt(of_f32 / kSteps)));
  EXPECT_GT(resident_error, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Precisions, FirstLosses,
    testing::Values(Case{"fp32", {15, 10, 5}, 128, 256, 40, FeatureType::kF16, ActivationType::kF32, false, 0.5},
                    Case{"tf32", {15, 10, 5}, 128, 256, 40, FeatureType::kF16, ActivationType::kF32, true, 0.5},
                    Case{"bf16", {15, 10, 5}, 128, 256, 40, FeatureType::kF16, kBf16, false, 0.5},
                    Case{"fp32_small", {5, 3}, 100, 64, 7, FeatureType::kF16, ActivationType::kF32, false, 0.5},
                    Case{"tf32_small", {5, 3}, 100, 64, 7, FeatureType::kF16, ActivationType::kF32, true, 0.5},
                    Case{"bf16_small", {5, 3}, 100, 64, 7, FeatureType::kF16, kBf16, false, 0.5}),
    [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

}  // namespace
}  // namespace salient
