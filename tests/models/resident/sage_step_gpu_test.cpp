// tests/models/resident/sage_step_gpu_test.cpp - the resident step against dense f64 algebra over the reference's
// batch.
#include "models/resident/sage_step.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/kernels/dropout.h"
#include "sampler/reference_sampler.h"
#include "tests/support/device_copy.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

using test::OnDevice;

struct Case {
  const char* name;
  std::vector<int> fanouts;
  int in_dim, hidden_dim, num_classes;
  FeatureType features = FeatureType::kF16;
  ActivationType activations = ActivationType::kF32;
  bool may_use_tf32 = false;
  double dropout = 0, label_smoothing = 0;
  Replacement replacement = Replacement::kWithout;
  bool has_size_choice = true;
};

constexpr NodeId kNodes = 3000;
constexpr std::int64_t kMaxSeeds = 64;

/// Power-law degrees; every seventh row is empty, and node 1 is a hub.
test::OwnedGraph graph_with_gaps() {
  const test::OwnedGraph full = test::power_law_graph(kNodes, 9, 5);
  test::OwnedGraph graph;
  for (NodeId v = 0; v < kNodes; ++v) {
    if (v == 1)
      for (NodeId u = 0; u < kNodes; ++u) graph.indices.push_back(u);
    else if (v % 7 != 0)
      graph.indices.insert(graph.indices.end(), full.indices.begin() + full.indptr[v],
                           full.indices.begin() + full.indptr[v + 1]);
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  return graph;
}

/// Everything that a step needs, on the host as tensors and on the device.
class Problem {
 public:
  explicit Problem(const Case& c) : case_(c) {
    at::manual_seed(3);
    x_ = at::randn({kNodes, c.in_dim}).to(c.features == FeatureType::kF16 ? at::kHalf : at::kFloat);
    y_ = at::randint(-1, c.num_classes, {kNodes}, at::kInt);
    const std::size_t layers = c.fanouts.size();
    for (std::size_t i = 0; i < layers; ++i) {
      const int in = i == 0 ? c.in_dim : c.hidden_dim, out = i + 1 == layers ? c.num_classes : c.hidden_dim;
      for (int part = 0; part < 2; ++part) {
        weights_.push_back(at::randn({out, in}) / std::sqrt(in));
        on_device_.push_back(weights_.back().to(at::kCUDA));
        gradients_.push_back(at::full({out, in}, NAN, at::TensorOptions(at::kCUDA).dtype(at::kFloat)));
      }
    }
    x_device_ = x_.to(at::kCUDA), y_device_ = y_.to(at::kCUDA);
    sums_ = at::full({20, 2}, NAN, at::TensorOptions(at::kCUDA).dtype(at::kDouble));
    seeds_.resize(kNodes);
    std::iota(seeds_.begin(), seeds_.end(), 0U);
    cuda_check(cudaDeviceSynchronize());
  }

  SageStepShape shape() const {
    return {.fanouts = case_.fanouts,
            .replacement = case_.replacement,
            .max_seeds = kMaxSeeds,
            .in_dim = case_.in_dim,
            .hidden_dim = case_.hidden_dim,
            .num_classes = case_.num_classes,
            .dropout = case_.dropout,
            .label_smoothing = case_.label_smoothing,
            .activations = case_.activations,
            .may_use_tf32 = case_.may_use_tf32,
            .has_size_choice = case_.has_size_choice};
  }

  SageStepData data() const {
    SageStepData data{{device_indptr_.get(), device_indices_.get(), kNodes},
                      {static_cast<const std::byte*>(x_device_.const_data_ptr()), case_.features, case_.in_dim},
                      y_device_.const_data_ptr<std::int32_t>(),
                      {},
                      sums_.data_ptr<double>()};
    for (std::size_t i = 0; i < weights_.size(); i += 2)
      data.weights.push_back({on_device_[i].const_data_ptr<float>(), on_device_[i + 1].const_data_ptr<float>(),
                              gradients_[i].data_ptr<float>(), gradients_[i + 1].data_ptr<float>(), weights_[i].size(1),
                              weights_[i].size(0)});
    return data;
  }

  /// Loss, right predictions and gradients in f64 over the reference's message-flow graph.
  struct Expected {
    double loss = 0, correct = 0;
    std::vector<at::Tensor> gradients{};
  };
  Expected expected(const StepHeader& h) const {
    const std::span<const NodeId> seeds = std::span(seeds_).subspan(h.first_seed, h.num_seeds);
    const Mfg mfg =
        reference_sample(graph_.view(), case_.fanouts, seeds, {h.seed, h.epoch, h.batch}, case_.replacement);
    const auto num_nodes = static_cast<std::int64_t>(mfg.nodes.size());
    const at::Tensor ids = at::empty({num_nodes}, at::kLong);
    for (std::int64_t i = 0; i < num_nodes; ++i)
      ids[i] = static_cast<std::int64_t>(mfg.nodes[static_cast<std::size_t>(i)]);
    std::vector<at::Tensor> w;
    for (const at::Tensor& weight : weights_) w.push_back(weight.to(at::kDouble).requires_grad_());
    at::Tensor rows = x_.index_select(0, ids).to(at::kDouble);
    for (std::size_t i = 0; i < mfg.hops.size(); ++i) {
      const at::Tensor own = rows.narrow(0, 0, mfg.hops[i].num_dst);
      rows = mean_matrix(mfg.hops[i]).mm(rows).mm(w[2 * i].t()) + own.mm(w[2 * i + 1].t());
      if (i + 1 < mfg.hops.size())
        rows = rows.relu() * mask(mfg, mfg.hops[i].num_dst, h, static_cast<std::uint32_t>(i));
    }
    const at::Tensor labels = y_.index_select(0, ids.narrow(0, 0, h.num_seeds)).to(at::kLong), known = labels.ge(0);
    const at::Tensor log_p = at::log_softmax(rows, 1);
    const at::Tensor likelihood = -log_p.gather(1, labels.clamp_min(0).unsqueeze(1)).squeeze(1);
    const at::Tensor each = likelihood * (1 - case_.label_smoothing) - log_p.mean(1) * case_.label_smoothing;
    const at::Tensor loss = (each * known).sum();
    (loss * static_cast<double>(h.gradient_scale)).backward();
    Expected e{loss.item<double>(), (rows.argmax(1).eq(labels) * known).sum().item<double>()};
    for (const at::Tensor& weight : w) e.gradients.push_back(weight.grad());
    return e;
  }

  const at::Tensor& gradient(std::size_t i) const { return gradients_[i]; }
  at::Tensor sums() const { return sums_.cpu(); }
  std::span<const NodeId> seeds() const { return seeds_; }

 private:
  static at::Tensor mean_matrix(const MfgHop& hop) {
    const at::Tensor matrix = at::zeros({hop.num_dst, hop.num_src}, at::kDouble);
    auto entry = matrix.accessor<double, 2>();
    for (LocalId i = 0; i < hop.num_dst; ++i) {
      const LocalId begin = hop.indptr[static_cast<std::size_t>(i)], end = hop.indptr[static_cast<std::size_t>(i) + 1];
      for (LocalId e = begin; e < end; ++e) entry[i][hop.indices[static_cast<std::size_t>(e)]] += 1.0 / (end - begin);
    }
    return matrix;
  }

  at::Tensor mask(const Mfg& mfg, LocalId rows, const StepHeader& h, std::uint32_t layer) const {
    const at::Tensor ones = at::ones({rows, case_.hidden_dim});
    if (case_.dropout == 0) return ones.to(at::kDouble);
    const at::Tensor kept = at::empty_like(ones);
    dropout_reference(DropoutMask::make(case_.dropout, h.seed, h.global_step, layer), Activation::kNone,
                      {ones.const_data_ptr<float>(), mfg.nodes.data(), rows, case_.hidden_dim}, kept.data_ptr<float>());
    return kept.to(at::kDouble);
  }

  const Case& case_;
  const test::OwnedGraph graph_ = graph_with_gaps();
  std::vector<EdgeOffset> indptr_{graph_.indptr.begin(), graph_.indptr.end()};
  std::vector<NodeId> indices_{graph_.indices.begin(), graph_.indices.end()};
  CudaStream stream_;
  OnDevice<EdgeOffset> device_indptr_{indptr_, stream_};
  OnDevice<NodeId> device_indices_{indices_, stream_};
  at::Tensor x_, y_, x_device_, y_device_, sums_;
  std::vector<at::Tensor> weights_, on_device_, gradients_;  // around and self of each layer
  std::vector<NodeId> seeds_;
};

double distance(const at::Tensor& actual, const at::Tensor& expected) {
  const double norm = expected.norm().item<double>();
  return (actual.cpu().to(at::kDouble) - expected).norm().item<double>() / std::max(norm, 1e-6);
}

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
  SageStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  const StepHeader headers[] = {{7, 2, 0, 11, 0, kMaxSeeds, 1.0F / kMaxSeeds},
                                {7, 2, 3, 14, 100, 17, 0.25F},
                                {7, 2, 5, 16, 1, 1, 1.0F},
                                {9, 4, 6, 1000, 2000, kMaxSeeds, 1.0F}};
  for (const StepHeader& header : headers) {
    step.run(header, stream.get());
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
  SageStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  step.run({1, 1, 2, 0, 10, kMaxSeeds, 1.0F}, stream.get());  // leaves rows behind the next batch's end
  step.run({1, 1, 0, 0, 0, 0, 1.0F}, stream.get());
  stream.wait();
  for (std::size_t i = 0; i < 2 * GetParam().fanouts.size(); ++i)
    EXPECT_EQ(problem.gradient(i).abs().max().item<float>(), 0) << i;
  EXPECT_EQ(problem.sums()[0][0].item<double>(), 0);
}

TEST_P(ResidentSageStep, RepeatsItsBits) {
  Problem problem(GetParam());
  SageStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  std::vector<at::Tensor> first;
  for (int round = 0; round < 3; ++round) {
    step.run({1, 1, 2, 0, 64, kMaxSeeds, 1.0F}, stream.get());
    stream.wait();
    for (std::size_t i = 0; i < 2 * GetParam().fanouts.size(); ++i) {
      if (round == 0) first.push_back(problem.gradient(i).clone());
      EXPECT_TRUE(at::equal(first[i], problem.gradient(i))) << i;
    }
  }
}

constexpr auto kF32 = ActivationType::kF32, kBf16 = ActivationType::kBf16;

INSTANTIATE_TEST_SUITE_P(
    Shapes, ResidentSageStep,
    testing::Values(
        Case{"three_layers", {15, 10, 5}, 128, 64, 17}, Case{"one_layer", {7}, 128, 8, 5},
        Case{"two_layers_f32_features", {3, 32}, 7, 16, 3, FeatureType::kF32},
        Case{"four_layers", {4, 3, 2, 2}, 100, 24, 40, FeatureType::kF16, kF32, false, 0.5},
        Case{"wide_f32_features", {5, 5}, 300, 40, 9, FeatureType::kF32, kF32, false, 0.3, 0.1},
        Case{"odd_features", {5, 4}, 45, 32, 6, FeatureType::kF16, kF32, false, 0.5},
        Case{"with_replacement", {5, 20}, 64, 32, 6, FeatureType::kF16, kF32, false, 0.5, 0, Replacement::kWith},
        Case{"tf32", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, kF32, true, 0.5},
        Case{"bf16", {15, 10, 5}, 128, 256, 172, FeatureType::kF16, kBf16, false, 0.5},
        Case{"bf16_smoothed", {6, 6}, 100, 64, 47, FeatureType::kF16, kBf16, false, 0.5, 0.1}),
    [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

TEST(ResidentSageStep, CountsWhatItSampled) {
  const Case c{"counts", {4, 3}, 16, 8, 3};
  Problem problem(c);
  SageStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  step.run({1, 1, 0, 0, 100, 20, 1.0F}, stream.get());
  step.run({1, 1, 1, 0, 120, 20, 1.0F}, stream.get());
  const SageStep::Counts counts = step.counts(stream.get());
  ASSERT_EQ(counts.hop_edges.size(), 2U);
  EXPECT_EQ(counts.hop_nodes[0], 40 + counts.hop_edges[0]) << "the seeds, and the first hop's children";
  EXPECT_EQ(counts.hop_nodes[1], counts.hop_nodes[0] + counts.hop_edges[1]);
  EXPECT_GT(counts.hop_edges[0], 80);
  EXPECT_LE(counts.hop_edges[0], 40 * 4);
  EXPECT_LE(counts.hop_edges[1], counts.hop_nodes[0] * 3);
}

}  // namespace
}  // namespace salient
