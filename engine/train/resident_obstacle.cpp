// engine/train/resident_obstacle.cpp - which runs resident_steps.h serves.
#include <algorithm>

#include "engine/train/resident_steps.h"

namespace salient {
namespace {

constexpr int kMaxFanout = 32, kMaxLayers = 8;
constexpr std::int64_t kMaxNodes = std::int64_t{1} << 23;  // of a batch with every fanout full: some GB of activations

bool is_plain_sage(const ModelOptions& model) {
  return model.kind == ModelKind::kSage && model.aggr == Aggregation::kMean && model.norm == NormKind::kNone &&
         !model.residual && model.jk == JumpingKnowledge::kNone;
}

/// Nodes that the first layer computes for a batch with every fanout full.
std::int64_t most_nodes(const BatchOptions& batches, std::int64_t seeds) {
  std::int64_t nodes = seeds;
  for (std::size_t h = 0; h + 1 < batches.fanout.size() && nodes <= kMaxNodes; ++h) nodes *= 1 + batches.fanout[h];
  return nodes;
}

}  // namespace

std::string obstacle_to_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data) {
  if (!has_resident_steps()) return "this build has no CUDA";
  if (data.features != Residency::kDevice || data.graph != GraphResidency::kDevice)
    return "features and graph are not both in GPU memory";
  if (!is_plain_sage(options.model))
    return "the model is not GraphSAGE with mean aggregation and without norms, residual connections and jumping "
           "knowledge";
  if (options.model.num_layers > kMaxLayers) return "the model has more than 8 layers";
  if (options.model.num_layers > 1 && options.model.hidden_dim % 8 != 0)
    return "the width of the hidden layers is not a multiple of 8";
  if (dataset.task != Task::kMultiClass) return "a node has several labels";
  if (!std::ranges::all_of(options.batches.fanout, [](int fanout) { return fanout >= 1 && fanout <= kMaxFanout; }))
    return "a fanout is not in 1 to 32";
  if (most_nodes(options.batches, static_cast<std::int64_t>(global_batch_of(options, 1))) > kMaxNodes)
    return "a batch may have more than 2^23 nodes";
  return {};
}

}  // namespace salient
