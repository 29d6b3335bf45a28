// engine/infer/resident_model.cpp - see resident_model.h.
#include "engine/infer/resident_model.h"

#include <string>

#include "loaders/device_graph.h"

namespace salient {

SageShape sage_shape_of(const ResidentSpec& spec, const Dataset& dataset) {
  const Precision precision = spec.numerics.precision;
  return {.fanouts = spec.fanouts,
          .replacement = spec.with_replacement ? Replacement::kWith : Replacement::kWithout,
          .max_seeds = static_cast<std::int64_t>(spec.max_seeds),
          .in_dim = dataset.feature_dim,
          .hidden_dim = spec.model.hidden_dim,
          .num_classes = dataset.num_classes,
          .dropout = spec.model.dropout,
          .activations = precision == Precision::kBf16 ? ActivationType::kBf16 : ActivationType::kF32,
          .may_use_tf32 = precision == Precision::kTf32,
          .is_deterministic = spec.numerics.gradient_order == GradientOrder::kFixed};
}

LoaderStats loader_stats_of(std::span<const BatchRequest> batches, const SageCounts& counts) {
  LoaderStats stats;
  for (const BatchRequest& batch : batches) stats.seeds += static_cast<std::int64_t>(batch.seeds.size());
  stats.batches = static_cast<std::int64_t>(batches.size());
  stats.nodes = counts.hop_nodes.back();
  for (const std::int64_t edges : counts.hop_edges) stats.edges += edges;
  stats.hop_nodes = counts.hop_nodes;
  stats.hop_edges = counts.hop_edges;
  return stats;
}

SageData sage_data_of(const Dataset& dataset, const ResidentView& data) {
  return {data.graph->csr(), {data.device_rows.data, dataset.feature_type, dataset.feature_dim}};
}

std::vector<SageWeights> sage_weights_of(const Model& model) {
  const auto gradient_of = [](const at::Tensor& parameter) {
    return parameter.grad().defined() ? parameter.grad().mutable_data_ptr<float>() : nullptr;
  };
  const auto parameters = model.named_parameters();
  std::vector<SageWeights> layers;
  for (int i = 0; i < model.num_layers(); ++i) {
    const std::string name = "convs." + std::to_string(i);
    const at::Tensor around = parameters[name + ".lin_l.weight"], self = parameters[name + ".lin_r.weight"];
    layers.push_back({around.const_data_ptr<float>(), self.const_data_ptr<float>(), gradient_of(around),
                      gradient_of(self), around.size(1), around.size(0)});
  }
  return layers;
}

}  // namespace salient
