// tests/models/resident/sage_problem.h - GraphSAGE over a generated graph, on the device as models/resident takes it
// and on the host as dense f64 algebra over the batch of the reference.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "models/kernels/dropout.h"
#include "models/resident/sage_layers.h"
#include "sampler/reference_sampler.h"
#include "tests/support/device_copy.h"
#include "tests/support/graphs.h"
#include "tests/support/near_table.h"
#include "tests/support/stored_features.h"

namespace salient::test {

struct SageCase {
  const char* name;
  std::vector<int> fanouts;
  int in_dim, hidden_dim, num_classes;
  FeatureType features = FeatureType::kF16;
  ActivationType activations = ActivationType::kF32;
  bool may_use_tf32 = false;
  double dropout = 0, label_smoothing = 0;
  Draw draw = Draw::kUniform;
  bool has_size_choice = true;
  bool may_fuse = true;
  bool has_near_rows = false;  ///< a third of the rows is read from copies
};

inline constexpr NodeId kSageNodes = 3000;
inline constexpr std::int64_t kSageMaxSeeds = 64;

/// Power-law degrees; every seventh row is empty, and node 1 is a hub.
inline OwnedGraph graph_with_gaps() {
  const OwnedGraph full = power_law_graph(kSageNodes, 9, 5);
  OwnedGraph graph;
  for (NodeId v = 0; v < kSageNodes; ++v) {
    if (v == 1)
      for (NodeId u = 0; u < kSageNodes; ++u) graph.indices.push_back(u);
    else if (v % 7 != 0)
      graph.indices.insert(graph.indices.end(), full.indices.begin() + full.indptr[v],
                           full.indices.begin() + full.indptr[v + 1]);
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  return graph;
}

/// Data and weights, on the host as tensors and on the device.
class SageProblem {
 public:
  explicit SageProblem(const SageCase& c) : case_(c) {
    at::manual_seed(3);
    const StoredFeatures features(kSageNodes, c.in_dim, c.features);
    x_ = features.values;
    unit_ = features.unit;
    y_ = at::randint(-1, c.num_classes, {kSageNodes}, at::kInt);
    const std::size_t layers = c.fanouts.size();
    for (std::size_t i = 0; i < layers; ++i) {
      const int in = i == 0 ? c.in_dim : c.hidden_dim, out = i + 1 == layers ? c.num_classes : c.hidden_dim;
      for (int part = 0; part < 2; ++part) {
        weights_.push_back(at::randn({out, in}) / std::sqrt(in));
        num_weights_ += weights_.back().numel();
      }
    }
    flat_weights_ = at::empty({num_weights_}, at::TensorOptions(at::kCUDA).dtype(at::kFloat));
    flat_gradients_ = at::full_like(flat_weights_, NAN);
    std::int64_t begin = 0;
    for (const at::Tensor& weight : weights_) {
      const auto view_of = [&](const at::Tensor& flat) {
        return flat.narrow(0, begin, weight.numel()).view(weight.sizes());
      };
      on_device_.push_back(view_of(flat_weights_));
      on_device_.back().copy_(weight);
      gradients_.push_back(view_of(flat_gradients_));
      begin += weight.numel();
    }
    x_device_ = features.stored.to(at::kCUDA);
    if (c.has_near_rows) near_table_.emplace(features.stored, stream_);
    seeds_.resize(kSageNodes);
    std::iota(seeds_.begin(), seeds_.end(), 0U);
    cuda_check(cudaDeviceSynchronize());
  }

  SageShape shape() const {
    return {.rule = {case_.fanouts, case_.draw},
            .max_seeds = kSageMaxSeeds,
            .in_dim = case_.in_dim,
            .hidden_dim = case_.hidden_dim,
            .num_classes = case_.num_classes,
            .dropout = case_.dropout,
            .activations = case_.activations,
            .may_use_tf32 = case_.may_use_tf32,
            .has_size_choice = case_.has_size_choice,
            .may_fuse = case_.may_fuse};
  }

  StepInputs data() const {
    StepInputs data{{device_indptr_.get(), device_indices_.get(), kSageNodes},
                    {static_cast<const std::byte*>(x_device_.const_data_ptr()), case_.features, case_.in_dim, unit_}};
    if (near_table_) data.features = {near_table_->data(), case_.features, case_.in_dim, unit_, near_table_->near()};
    return data;
  }

  std::vector<SageWeights> weights() const {
    std::vector<SageWeights> weights;
    for (std::size_t i = 0; i < weights_.size(); i += 2)
      weights.push_back({on_device_[i].const_data_ptr<float>(), on_device_[i + 1].const_data_ptr<float>(),
                         gradients_[i].data_ptr<float>(), gradients_[i + 1].data_ptr<float>(), weights_[i].size(1),
                         weights_[i].size(0)});
    return weights;
  }
  /// All of them on the device, one behind the other, f32.
  const at::Tensor& flat_weights() const { return flat_weights_; }
  const at::Tensor& flat_gradients() const { return flat_gradients_; }
  const at::Tensor& gradient(std::size_t i) const { return gradients_[i]; }
  const at::Tensor& labels() const { return y_; }  ///< i32 on the host, -1 = unlabelled
  std::span<const NodeId> seeds() const { return seeds_; }

  /// On the device, from now on. @param weights  around and self of each layer, on the host
  void set_weights(const std::vector<at::Tensor>& weights) {
    for (std::size_t i = 0; i < weights.size(); ++i) on_device_[i].copy_(weights[i]);
    cuda_check(cudaDeviceSynchronize());
  }

  /// In f64, to be differentiated.
  std::vector<at::Tensor> reference_weights() const {
    std::vector<at::Tensor> w;
    for (const at::Tensor& weight : weights_) w.push_back(weight.to(at::kDouble).requires_grad_());
    return w;
  }

  std::span<const NodeId> seeds_of(const StepHeader& h) const {
    return std::span(seeds_).subspan(h.first_seed, h.num_seeds);
  }

  Mfg reference_mfg(const StepHeader& h) const {
    return reference_sample(graph_.view(), {case_.fanouts, case_.draw}, seeds_of(h), {h.seed, h.epoch, h.batch});
  }

  /// As the data set stores them, on the host. @return  [nodes of the batch, in_dim]
  at::Tensor rows_of(const Mfg& mfg) const {
    const at::Tensor ids = at::empty({static_cast<std::int64_t>(mfg.nodes.size())}, at::kLong);
    std::copy(mfg.nodes.begin(), mfg.nodes.end(), ids.data_ptr<std::int64_t>());
    return x_.index_select(0, ids);
  }

  /// Logits in f64 over the reference's message-flow graph.
  at::Tensor reference_logits(const StepHeader& h, const std::vector<at::Tensor>& w) const {
    const Mfg mfg = reference_mfg(h);
    at::Tensor rows = rows_of(mfg).to(at::kDouble);
    for (std::size_t i = 0; i < mfg.hops.size(); ++i) {
      const at::Tensor own = rows.narrow(0, 0, mfg.hops[i].num_dst);
      rows = mean_matrix(mfg.hops[i]).mm(rows).mm(w[2 * i].t()) + own.mm(w[2 * i + 1].t());
      if (i + 1 < mfg.hops.size())
        rows = rows.relu() * mask(mfg, mfg.hops[i].num_dst, h, static_cast<std::uint32_t>(i));
    }
    return rows;
  }

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
                      {ones.const_data_ptr<float>(), mfg.nodes.data(), rows, case_.hidden_dim},
                      {kept.data_ptr<float>()});
    return kept.to(at::kDouble);
  }

  const SageCase& case_;
  const OwnedGraph graph_ = graph_with_gaps();
  std::vector<EdgeOffset> indptr_{graph_.indptr.begin(), graph_.indptr.end()};
  std::vector<NodeId> indices_{graph_.indices.begin(), graph_.indices.end()};
  CudaStream stream_;
  OnDevice<EdgeOffset> device_indptr_{indptr_, stream_};
  OnDevice<NodeId> device_indices_{indices_, stream_};
  at::Tensor x_, y_, x_device_;
  std::optional<NearTable> near_table_;
  float unit_ = 1;
  std::vector<at::Tensor> weights_, on_device_, gradients_;  // around and self of each layer
  std::int64_t num_weights_ = 0;
  at::Tensor flat_weights_, flat_gradients_;  // of which on_device_ and gradients_ are views
  std::vector<NodeId> seeds_;
};

/// From `expected`, relative to its norm.
inline double distance(const at::Tensor& actual, const at::Tensor& expected) {
  const double norm = expected.norm().item<double>();
  return (actual.cpu().to(at::kDouble) - expected).norm().item<double>() / std::max(norm, 1e-6);
}

}  // namespace salient::test
