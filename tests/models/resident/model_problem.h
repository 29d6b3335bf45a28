// tests/models/resident/model_problem.h - a model over a generated graph: on the device as models/resident takes it,
// and on the host as models/ has it, over the batch of the reference.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/resident/model_step.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/node_degree.h"
#include "tests/models/resident/sage_problem.h"
#include "tests/support/near_table.h"

namespace salient::test {

/// A model, its data and its sampling.
struct ModelCase {
  std::string name;
  ModelKind kind;
  std::vector<int> fanouts;
  int in_dim, hidden_dim, num_classes;
  FeatureType features = FeatureType::kF16;
  ActivationType activations = ActivationType::kF32;
  bool may_use_tf32 = false;
  double dropout = 0.5, label_smoothing = 0;
  Draw draw = Draw::kUniform;
  bool has_size_choice = true;
  bool is_other_sum = false;  ///< gcn by rows, gin scaled
  NormKind norm = NormKind::kNone;
  bool residual = false;
  JumpingKnowledge jk = JumpingKnowledge::kNone;
  bool is_deterministic = false;  ///< products are not timed: cases are made sooner
  int heads = 1;
  int edge_dim = 0;  ///< of features of edges, which the model reads
  FeatureType edge_features = FeatureType::kF16;

  ModelOptions options() const {
    return {.kind = kind,
            .in_dim = in_dim,
            .hidden_dim = hidden_dim,
            .num_classes = num_classes,
            .num_layers = static_cast<int>(fanouts.size()),
            .dropout = dropout,
            .norm = norm,
            .residual = residual,
            .jk = jk,
            .gcn_norm = is_other_sum && kind == ModelKind::kGcn ? GcnNorm::kRow : GcnNorm::kSymmetric,
            .gin_sum = is_other_sum && kind == ModelKind::kGin ? GinSum::kScaled : GinSum::kPlain,
            .edge_dim = edge_dim,
            .heads = heads};
  }
};

template <class T>
at::Tensor i32_tensor(const std::vector<T>& values) {
  const at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::kInt);
  std::copy(values.begin(), values.end(), tensor.data_ptr<std::int32_t>());
  return tensor;
}

/// Data and parameters, on the host as the model has them and on the device.
class ModelProblem {
 public:
  explicit ModelProblem(const ModelCase& c) : case_(c) {
    at::manual_seed(3);
    const StoredFeatures features(kSageNodes, c.in_dim, c.features);
    x_ = features.values;
    unit_ = features.unit;
    y_ = at::randint(-1, c.num_classes, {kSageNodes}, at::kInt);
    model_ = make_model(c.options());
    for (const auto& item : model_->named_parameters()) {
      if (item.value().dim() == 1) item.value().detach().add_(at::randn_like(item.value().detach()) * 0.2);
      parameters_[item.key()] = item.value().detach().to(at::kCUDA);
      gradients_[item.key()] = at::full_like(parameters_[item.key()], NAN);
    }
    for (const auto& item : model_->named_buffers())
      buffers_[item.key()] = item.value().to(at::kCUDA, item.value().scalar_type(), false, true);
    x_device_.emplace(features.stored, stream_);
    if (c.edge_dim > 0) {
      edges_ = StoredFeatures(static_cast<std::int64_t>(indices_.size()), c.edge_dim, c.edge_features);
      edges_on_device_ = edges_.stored.to(at::kCUDA);
    }
    y_device_ = y_.to(at::kCUDA);
    sums_ = at::full({20, 2}, NAN, at::TensorOptions(at::kCUDA).dtype(at::kDouble));
    seeds_.resize(kSageNodes);
    std::iota(seeds_.begin(), seeds_.end(), 0U);
    cuda_check(cudaDeviceSynchronize());
  }

  ModelStepShape shape() const {
    return {.model = case_.options(),
            .rule = {case_.fanouts, case_.draw},
            .max_seeds = kSageMaxSeeds,
            .label_smoothing = case_.label_smoothing,
            .activations = case_.activations,
            .may_use_tf32 = case_.may_use_tf32,
            .is_deterministic = case_.is_deterministic,
            .has_size_choice = case_.has_size_choice,
            .num_nodes = kSageNodes};
  }
  ModelStepData data() const {
    ModelStepData data{{{indptr_on_device_.get(), indices_on_device_.get(), kSageNodes},
                        {x_device_->data(), case_.features, case_.in_dim, unit_, x_device_->near()}},
                       {y_device_.const_data_ptr<std::int32_t>()},
                       {},
                       sums_.data_ptr<double>()};
    if (case_.edge_dim > 0)
      data.inputs.edge_features = {static_cast<const std::byte*>(edges_on_device_.const_data_ptr()),
                                   case_.edge_features, case_.edge_dim};
    for (const auto& [name, value] : parameters_)
      data.tensors[name] = {value.data_ptr(), gradients_.at(name).data_ptr<float>()};
    for (const auto& [name, value] : buffers_) data.tensors[name] = {value.data_ptr(), nullptr};
    return data;
  }

  std::span<const NodeId> seeds() const { return seeds_; }
  at::Tensor sums() const { return sums_.cpu(); }
  Model& model() { return *model_; }
  const std::map<std::string, at::Tensor>& gradients() const { return gradients_; }
  const std::map<std::string, at::Tensor>& buffers() const { return buffers_; }

  struct Expected {
    double loss, correct;
  };
  /// Entries that seeds keep without replacement.
  std::int64_t entries_of(std::span<const NodeId> seeds, std::size_t fanout) const {
    std::size_t sum = 0;
    for (const NodeId seed : seeds) sum += std::min(fanout, graph_.view().row(seed).size());
    return static_cast<std::int64_t>(sum);
  }

  /// Leaves gradients and running statistics in model().
  Expected train_on_the_host(const StepHeader& h) {
    const Mfg mfg = sample(h);
    BatchView batch;
    batch.nodes = i32_tensor(mfg.nodes);
    batch.x = x_.index_select(0, batch.nodes.to(at::kLong));
    for (const MfgHop& hop : mfg.hops) {
      std::vector<NodeDegree> degrees(static_cast<std::size_t>(hop.num_src));
      read_degrees(graph_.view(), std::span(mfg.nodes).first(degrees.size()), degrees.data());
      const at::Tensor pairs = at::empty({hop.num_src, 2}, at::kInt);
      std::copy(degrees.begin(), degrees.end(), reinterpret_cast<NodeDegree*>(pairs.data_ptr<std::int32_t>()));
      batch.hops.push_back({hop.num_dst, hop.num_src, i32_tensor(hop.indptr), i32_tensor(hop.indices), pairs});
      if (case_.edge_dim > 0)
        batch.hops.back().edge_x = edges_.values.index_select(0, at::tensor(hop.places, at::kLong));
    }
    model_->zero_grad();
    const at::Tensor logits = model_->forward(batch, {.seed = h.seed, .step = h.global_step, .nodes = batch.nodes});
    const at::Tensor labels = y_.narrow(0, h.first_seed, h.num_seeds).to(at::kLong), known = labels.ge(0);
    const at::Tensor log_p = at::log_softmax(logits.to(at::kDouble), 1);
    const at::Tensor likelihood = -log_p.gather(1, labels.clamp_min(0).unsqueeze(1)).squeeze(1);
    const double s = case_.label_smoothing;
    const at::Tensor loss = ((likelihood * (1 - s) - log_p.mean(1) * s) * known).sum();
    (loss * static_cast<double>(h.gradient_scale)).backward();
    return {loss.item<double>(), (logits.argmax(1).eq(labels) * known).sum().item<double>()};
  }

 private:
  /// Of the reference; of the host's sampler, which it is the oracle of, where places are wanted, too.
  Mfg sample(const StepHeader& h) const {
    const std::span<const NodeId> seeds = std::span(seeds_).subspan(h.first_seed, h.num_seeds);
    const SamplingRule rule{case_.fanouts, case_.draw};
    const BatchKey key{h.seed, h.epoch, h.batch};
    if (case_.edge_dim == 0) return reference_sample(graph_.view(), rule, seeds, key);
    NeighborSampler sampler(graph_.view(), rule);
    sampler.record_places();
    Mfg mfg;
    sampler.sample(seeds, key, mfg);
    return mfg;
  }

  const ModelCase& case_;
  const OwnedGraph graph_ = sorted(graph_with_gaps());
  std::vector<EdgeOffset> indptr_{graph_.indptr.begin(), graph_.indptr.end()};
  std::vector<NodeId> indices_{graph_.indices.begin(), graph_.indices.end()};
  CudaStream stream_;
  OnDevice<EdgeOffset> indptr_on_device_{indptr_, stream_};
  OnDevice<NodeId> indices_on_device_{indices_, stream_};
  std::shared_ptr<Model> model_;
  at::Tensor x_, y_, y_device_, sums_, edges_on_device_;
  StoredFeatures edges_{};
  std::optional<NearTable> x_device_;
  float unit_ = 1;
  std::map<std::string, at::Tensor> parameters_, gradients_, buffers_;
  std::vector<NodeId> seeds_;
};

inline constexpr auto kModelMaxSeeds = static_cast<std::uint32_t>(kSageMaxSeeds);

/// Of the distance from the host's gradients, relative to their norm; see sage_step_gpu_test.cpp. Norms divide by
/// deviations, which makes gradients more sensitive, and a maximum in bf16 may be that of another layer. Of one seed's
/// gradient a single unit that rounding moves over the edge of a ReLU is a tenth.
inline double bound_of(const ModelCase& c, const StepHeader& header) {
  const bool has_norm = c.kind == ModelKind::kGin || c.kind == ModelKind::kSageRi || c.norm != NormKind::kNone;
  const double flips = header.num_seeds == 1 ? 6 : 1;
  const double width = c.hidden_dim > 1024 ? 2 : 1;  // logits are sums of as many rounded products
  if (c.activations == ActivationType::kBf16)
    return flips * width * (has_norm || c.jk == JumpingKnowledge::kMax ? 0.4 : 0.25);
  if (c.may_use_tf32) return flips * (has_norm ? 0.15 : 0.05);
  return has_norm ? 1e-3 : 5e-5;
}

/// Full and short batches, one seed with neighbours and one without, and a full one again behind the short ones.
inline std::vector<StepHeader> batches() {
  return {{7, 2, 0, 11, 0, kModelMaxSeeds, 1.0F / kModelMaxSeeds},
          {7, 2, 3, 14, 100, 17, 0.25F},
          {7, 2, 5, 16, 1, 1, 1.0F},
          {7, 2, 6, 16, 14, 1, 1.0F},
          {9, 4, 7, 1000, 2000, kModelMaxSeeds, 1.0F}};
}

/// Losses, gradients and buffers behind every batch.
inline void expect_training_as_on_the_host(const ModelCase& c) {
  ModelProblem problem(c);
  ModelStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  for (const StepHeader& header : batches()) {
    step.run(header, {}, stream.get());
    stream.wait();
    const ModelProblem::Expected expected = problem.train_on_the_host(header);
    const at::Tensor sums = problem.sums()[header.batch];
    const double bound = bound_of(c, header);
    EXPECT_NEAR(sums[0].item<double>(), expected.loss, bound * std::max(1.0, expected.loss)) << header.batch;
    EXPECT_NEAR(sums[1].item<double>(), expected.correct, bound > 1e-2 ? 6 : 0) << header.batch;
    // of a sure prediction gradients have the factor p - 1, whose rounding is that of 1, not of the difference
    const double rounding = 2e-7 / std::max(expected.loss, 1e-9);
    // a gradient that is zero but for rounding, as sums that cancel are, is compared with the largest of all
    const double share = c.activations == ActivationType::kBf16 ? 0.1 : 1e-2;
    double largest = 0;
    for (const auto& item : problem.model().named_parameters())
      largest = std::max(largest, item.value().grad().norm().item<double>());
    for (const auto& item : problem.model().named_parameters()) {
      const at::Tensor wanted = item.value().grad().to(at::kDouble);
      const double difference =
          (problem.gradients().at(item.key()).cpu().to(at::kDouble) - wanted).norm().item<double>();
      EXPECT_LT(difference, (bound + rounding) * std::max(wanted.norm().item<double>(), share * largest) + 1e-9)
          << header.batch << " " << item.key();
    }
    for (const auto& item : problem.model().named_buffers())
      EXPECT_LT(distance(problem.buffers().at(item.key()), item.value().to(at::kDouble)), std::max(bound, 1e-4) / 2)
          << header.batch << " " << item.key();
  }
}

}  // namespace salient::test
