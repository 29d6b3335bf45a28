// engine/infer/resident_model.cpp - see resident_model.h.
#include "engine/infer/resident_model.h"

#include <string>

#include "loaders/device_graph.h"

namespace salient {
namespace {

float* gradient_of(const at::Tensor& parameter) {
  return parameter.grad().defined() ? parameter.grad().mutable_data_ptr<float>() : nullptr;
}

}  // namespace

SageShape sage_shape_of(const ResidentSpec& spec, const Dataset& dataset) {
  const Precision precision = spec.numerics.precision;
  return {.rule = spec.rule,
          .max_seeds = static_cast<std::int64_t>(spec.max_seeds),
          .in_dim = dataset.feature_dim,
          .hidden_dim = spec.model.hidden_dim,
          .num_classes = model_of(spec, dataset).num_classes,
          .dropout = spec.model.dropout,
          .activations = precision == Precision::kBf16 ? ActivationType::kBf16 : ActivationType::kF32,
          .may_use_tf32 = precision == Precision::kTf32,
          .is_deterministic = spec.numerics.gradient_order == GradientOrder::kFixed};
}

ModelStepShape model_step_shape_of(const ResidentSpec& spec, const Dataset& dataset, StepUse use) {
  const SageShape shared = sage_shape_of(spec, dataset);  // every model's step has these
  ModelOptions model = model_of(spec, dataset);
  model.num_layers = static_cast<int>(spec.rule.fanouts.size());
  return {.model = model,
          .rule = shared.rule,
          .max_seeds = shared.max_seeds,
          .activations = shared.activations,
          .may_use_tf32 = shared.may_use_tf32,
          .is_deterministic = shared.is_deterministic,
          .num_nodes = dataset.num_nodes(),
          .use = use};
}

std::map<std::string, StepTensor> step_tensors_of(const Model& model) {
  std::map<std::string, StepTensor> tensors;
  for (const auto& item : model.named_parameters())
    tensors[item.key()] = {item.value().data_ptr(), gradient_of(item.value())};
  for (const auto& item : model.named_buffers()) tensors[item.key()] = {item.value().data_ptr(), nullptr};
  return tensors;
}

LoaderStats loader_stats_of(std::span<const BatchRequest> batches, const StepCounts& counts) {
  LoaderStats stats;
  for (const BatchRequest& batch : batches) stats.seeds += static_cast<std::int64_t>(batch.seeds.size());
  stats.batches = static_cast<std::int64_t>(batches.size());
  stats.nodes = counts.hop_nodes.back();
  for (const std::int64_t edges : counts.hop_edges) stats.edges += edges;
  stats.hop_nodes = counts.hop_nodes;
  stats.hop_edges = counts.hop_edges;
  return stats;
}

StepInputs sage_data_of(const Dataset& dataset, const ResidentView& data) {
  const float unit = dataset.feature_type == FeatureType::kFp8 ? dataset.fp8_scale : 1;
  const RowTable& rows = data.device_rows;
  return {data.graph->csr(),
          {rows.data, dataset.feature_type, dataset.feature_dim, unit, rows.near},
          {data.edge_rows.data, dataset.edge_feature_type, dataset.edge_feature_dim}};
}

std::vector<SageWeights> sage_weights_of(const Model& model) {
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
