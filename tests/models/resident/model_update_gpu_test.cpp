// tests/models/resident/model_update_gpu_test.cpp - steps of model_step.h that update parameters themselves, several
// in one graph, their batches sampled and gathered ahead, leave the bits of steps one by one without any of this.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/resident/model_step.h"
#include "tests/models/resident/sage_problem.h"

namespace salient {
namespace {

constexpr AdamRates kRates{.lr = 0, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
constexpr std::uint32_t kMaxBatches = 64;

struct Case {
  const char* name;
  ModelKind kind;
  std::vector<int> fanouts;
  int in_dim, hidden_dim;
  ActivationType activations;
  bool has_size_choice = true;
  NormKind norm = NormKind::kNone;
  bool residual = false;
  int edge_dim = 0;

  ModelOptions options() const {
    return {.kind = kind,
            .in_dim = in_dim,
            .hidden_dim = hidden_dim,
            .num_classes = 7,
            .num_layers = static_cast<int>(fanouts.size()),
            .norm = norm,
            .residual = residual,
            .gcn_norm = kind == ModelKind::kGcn ? GcnNorm::kRow : GcnNorm::kSymmetric,
            .edge_dim = edge_dim};
  }
};

at::TensorOptions on_device(at::ScalarType type) { return at::TensorOptions(at::kCUDA).dtype(type); }

/// A model in flat buffers, as the optimiser has it, and what a step and the optimiser leave.
class Training {
 public:
  explicit Training(const Case& c) : case_(c) {
    at::manual_seed(3);
    model_ = make_model(c.options());
    std::int64_t size = 0;
    for (const auto& item : model_->named_parameters()) size += item.value().numel();
    flat_ = at::zeros({4, size}, on_device(at::kFloat));  // parameters, gradients, moments
    std::int64_t begin = 0;
    for (const auto& item : model_->named_parameters()) {
      const std::int64_t count = item.value().numel();
      flat_[0].narrow(0, begin, count).copy_(item.value().detach().flatten());
      tensors_[item.key()] = {flat_[0].data_ptr<float>() + begin, flat_[1].data_ptr<float>() + begin};
      begin += count;
    }
    for (const auto& item : model_->named_buffers()) {
      buffers_[item.key()] = item.value().to(at::kCUDA, item.value().scalar_type(), false, true);
      tensors_[item.key()] = {buffers_.at(item.key()).data_ptr(), nullptr};
    }
    x_ = test::StoredFeatures(test::kSageNodes, c.in_dim, FeatureType::kF16).stored.to(at::kCUDA);
    const auto num_entries = static_cast<std::int64_t>(graph_.indices.size());
    edges_ = test::StoredFeatures(num_entries, std::max(1, c.edge_dim), FeatureType::kF16).stored.to(at::kCUDA);
    labels_ = at::randint(-1, 7, {test::kSageNodes}, at::kInt).to(at::kCUDA);
    sums_ = at::zeros({kMaxBatches, 2}, on_device(at::kDouble));
    steps_ = at::zeros({2}, on_device(at::kFloat));
    seeds_.resize(test::kSageNodes);
    std::iota(seeds_.begin(), seeds_.end(), 0U);
    cuda_check(cudaDeviceSynchronize());
  }

  ModelStepShape shape() const {
    return {.model = case_.options(),
            .rule = {case_.fanouts},
            .max_seeds = test::kSageMaxSeeds,
            .activations = case_.activations,
            .is_deterministic = true,  // else products may take other algorithms
            .has_size_choice = case_.has_size_choice,
            .num_nodes = test::kSageNodes};
  }
  ModelStepData data() const {
    return {{{indptr_.get(), indices_.get(), test::kSageNodes},
             {static_cast<const std::byte*>(x_.const_data_ptr()), FeatureType::kF16, case_.in_dim},
             {static_cast<const std::byte*>(edges_.const_data_ptr()), FeatureType::kF16, case_.edge_dim}},
            {labels_.const_data_ptr<std::int32_t>()},
            tensors_,
            sums_.data_ptr<double>()};
  }
  AdamState state() const {
    return {.parameters = flat_[0].data_ptr<float>(),
            .gradients = flat_[1].data_ptr<float>(),
            .exp_avg = flat_[2].data_ptr<float>(),
            .exp_avg_sq = flat_[3].data_ptr<float>(),
            .step = steps_.data_ptr<float>(),
            .num_finished_blocks = reinterpret_cast<std::uint32_t*>(steps_.data_ptr<float>() + 1),
            .size = flat_.size(1)};
  }
  std::span<const NodeId> seeds() const { return seeds_; }

  void expect_equal(const Training& other) const {
    EXPECT_TRUE(at::equal(flat_, other.flat_));
    EXPECT_TRUE(at::equal(steps_, other.steps_));
    EXPECT_TRUE(at::equal(sums_, other.sums_));
    for (const auto& [name, buffer] : buffers_) EXPECT_TRUE(at::equal(buffer, other.buffers_.at(name))) << name;
    EXPECT_TRUE(at::isfinite(flat_).all().item<bool>());
  }
  double num_steps() const { return steps_[0].item<float>(); }

 private:
  const Case case_;
  const test::OwnedGraph graph_ = test::sorted(test::graph_with_gaps());
  const CudaStream stream_;
  const test::OnDevice<EdgeOffset> indptr_{{graph_.indptr.begin(), graph_.indptr.end()}, stream_};
  const test::OnDevice<NodeId> indices_{{graph_.indices.begin(), graph_.indices.end()}, stream_};
  std::shared_ptr<Model> model_;
  at::Tensor flat_, x_, edges_, labels_, sums_, steps_;
  std::map<std::string, at::Tensor> buffers_;
  std::map<std::string, StepTensor> tensors_;
  std::vector<NodeId> seeds_;
};

std::vector<StepHeader> headers_of(std::uint32_t epoch, std::uint32_t first, std::uint32_t count) {
  std::vector<StepHeader> headers;
  for (std::uint32_t i = first; i < count; ++i) {
    const std::uint32_t num_seeds = i % 11 == 7 ? 0 : i % 5 == 3 ? 17 : test::kSageMaxSeeds;  // shares of any size
    headers.push_back({7, epoch, i, 100 * epoch + i, 40 * i, num_seeds, 1.0F / 64, 0.003 / (1 + i)});
  }
  return headers;
}

class ModelUpdate : public testing::TestWithParam<Case> {};

TEST_P(ModelUpdate, HasTheBitsOfStepsOneByOne) {
  Training inside(GetParam()), outside(GetParam());
  ModelStepData data = inside.data();
  data.update = ParameterUpdate{inside.state(), kRates};
  ModelStep updating(inside.shape(), data), step(outside.shape(), outside.data());
  ASSERT_TRUE(updating.has_update());
  ASSERT_FALSE(step.has_update());
  const CudaStream stream;
  std::size_t num_steps = 0, num_calls = 0;
  // epochs of groups and some steps, of fewer than a group, of groups alone, and one that begins in its midst
  for (const auto& [epoch, first, count] : {std::array{1U, 0U, 21U}, {2U, 0U, 3U}, {3U, 0U, 16U}, {4U, 9U, 30U}}) {
    const std::vector<StepHeader> headers = headers_of(epoch, first, count);
    updating.start_epoch(inside.seeds());
    step.start_epoch(outside.seeds());
    for (std::size_t i = 0; i < headers.size(); ++num_calls)
      i += updating.run_some(std::span(headers).subspan(i), stream.get());
    for (const StepHeader& header : headers) {
      step.run(header, {}, stream.get());
      AdamRates rates = kRates;
      rates.lr = header.learning_rate;
      adam_step(outside.state(), rates, stream.get());
    }
    stream.wait();
    num_steps += headers.size();
    inside.expect_equal(outside);
    const StepCounts counts = updating.counts(stream.get()), expected = step.counts(stream.get());
    EXPECT_EQ(counts.hop_edges, expected.hop_edges) << "epoch " << epoch;
    EXPECT_EQ(counts.hop_nodes, expected.hop_nodes) << "epoch " << epoch;
  }
  EXPECT_EQ(inside.num_steps(), static_cast<double>(num_steps));
  EXPECT_EQ(num_calls, (2 + 5) + 3 + 2 + (2 + 5));
}

std::vector<Case> cases() {
  constexpr auto bf16 = ActivationType::kBf16, f32 = ActivationType::kF32;
  return {{"gcn", ModelKind::kGcn, {15, 10, 5}, 100, 256, bf16},
          {"gcn_f32", ModelKind::kGcn, {5, 4}, 45, 64, f32},
          {"gcn_one_layer", ModelKind::kGcn, {5}, 45, 64, bf16},
          {"gin", ModelKind::kGin, {15, 10, 5}, 100, 256, bf16},
          {"gin_without_choice", ModelKind::kGin, {5, 4}, 45, 64, f32, false},
          {"ri", ModelKind::kSageRi, {6, 5, 4}, 100, 256, bf16},
          {"ri_f32", ModelKind::kSageRi, {5, 4}, 45, 64, f32},
          {"gat", ModelKind::kGat, {15, 10, 5}, 100, 256, bf16},
          {"gat_f32", ModelKind::kGat, {5, 4}, 45, 64, f32},
          {"v2", ModelKind::kGatv2, {15, 10, 5}, 100, 256, bf16},
          {"v2_f32", ModelKind::kGatv2, {5, 4}, 45, 64, f32},
          {"transformer", ModelKind::kTransformer, {15, 10, 5}, 100, 256, bf16},
          {"sage_layer_residual", ModelKind::kSage, {15, 10, 5}, 100, 256, bf16, true, NormKind::kLayer, true},
          {"gcn_batch_residual", ModelKind::kGcn, {5, 4}, 64, 64, f32, true, NormKind::kBatch, true},
          {"gat_layer_residual", ModelKind::kGat, {5, 4}, 45, 64, bf16, true, NormKind::kLayer, true},
          {"sage_edges", ModelKind::kSage, {15, 10, 5}, 100, 256, bf16, true, NormKind::kNone, false, 8},
          {"sage_edges_f32", ModelKind::kSage, {5, 4}, 45, 64, f32, true, NormKind::kLayer, true, 3}};
}

INSTANTIATE_TEST_SUITE_P(Models, ModelUpdate, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

}  // namespace
}  // namespace salient
