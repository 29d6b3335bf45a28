// engine/infer/resident_obstacle.cpp - what models/resident serves.
#include <algorithm>

#include "engine/infer/resident_exact.h"
#include "engine/infer/resident_predictions.h"

namespace salient {
namespace {

constexpr int kMaxFanout = 32, kMaxLayers = 8;
constexpr std::int64_t kMaxNodes = std::int64_t{1} << 23;  // of a batch with every fanout full: some GB of activations

bool is_plain_sage(const ModelOptions& model) {
  return model.kind == ModelKind::kSage && model.aggr == Aggregation::kMean && model.norm == NormKind::kNone &&
         !model.residual && model.jk == JumpingKnowledge::kNone;
}

/// Nodes that the first layer computes for a batch with every fanout full.
std::int64_t most_nodes(const ResidentSpec& spec) {
  auto nodes = static_cast<std::int64_t>(spec.max_seeds);
  for (std::size_t h = 0; h + 1 < spec.fanouts.size() && nodes <= kMaxNodes; ++h) nodes *= 1 + spec.fanouts[h];
  return nodes;
}

}  // namespace

DataResidency residency_of(const ResidentView& data) {
  return {.features = data.features, .graph = data.graph ? GraphResidency::kDevice : GraphResidency::kHost};
}

std::string obstacle_to_resident_batches(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data) {
  if (!has_resident_predictions()) return "this build has no CUDA";
  if (dataset.has_sparse_features()) return "the features are sparse";
  if (data.features != Residency::kDevice || data.graph != GraphResidency::kDevice)
    return "features and graph are not both in GPU memory";
  if (spec.model.num_layers > kMaxLayers) return "the model has more than 8 layers";
  if (spec.model.num_layers > 1 && spec.model.hidden_dim % 8 != 0)
    return "the width of the hidden layers is not a multiple of 8";
  if (dataset.task != Task::kMultiClass) return "a node has several labels";
  if (!std::ranges::all_of(spec.fanouts, [](int fanout) { return fanout >= 1 && fanout <= kMaxFanout; }))
    return "a fanout is not in 1 to 32";
  if (most_nodes(spec) > kMaxNodes) return "a batch may have more than 2^23 nodes";
  return {};
}

std::string obstacle_to_resident(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data) {
  const std::string obstacle = obstacle_to_resident_batches(spec, dataset, data);
  if (!obstacle.empty() || is_plain_sage(spec.model)) return obstacle;
  return "the model is not GraphSAGE with mean aggregation and without norms, residual connections and jumping "
         "knowledge";
}

std::string obstacle_to_resident_exact(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data,
                                       int num_ranks) {
  if (num_ranks > 1) return "there are several ranks";
  if (spec.model.num_layers < 2) return "the model has one layer";
  ResidentSpec sampled = spec;
  sampled.fanouts.assign(static_cast<std::size_t>(spec.model.num_layers), 1);
  sampled.max_seeds = 1;
  return obstacle_to_resident(sampled, dataset, data);
}

}  // namespace salient
