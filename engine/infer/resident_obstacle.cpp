// engine/infer/resident_obstacle.cpp - what models/resident serves.
#include <algorithm>

#include "engine/infer/resident_exact.h"
#include "engine/infer/resident_predictions.h"

namespace salient {
namespace {

constexpr int kMaxFanout = 32, kMaxLayers = 8;
constexpr std::int64_t kMaxGatv2Width = 2048;             // kMaxAttentionV2Columns of models/resident
constexpr std::int64_t kMaxRows = std::int64_t{1} << 23;  // of a layer: some GB of activations

/// A kind that is not here is eager: add it with its kernels.
bool has_resident_step(ModelKind kind) {
  switch (kind) {
    case ModelKind::kSage:
    case ModelKind::kGat:
    case ModelKind::kGin:
    case ModelKind::kSageRi:
    case ModelKind::kGcn:
    case ModelKind::kGatv2: return true;
  }
  return false;
}

/// What of the model's options nothing resident computes.
std::string obstacle_of(const ModelOptions& model, std::int64_t num_classes) {
  const bool is_attention = model.kind == ModelKind::kGat || model.kind == ModelKind::kGatv2;
  if (!has_resident_step(model.kind)) return "the model has no resident step";
  if (model.num_layers > kMaxLayers) return "the model has more than 8 layers";
  if ((model.num_layers > 1 || model.kind != ModelKind::kSage) && model.hidden_dim % 8 != 0)
    return "the width of the hidden layers is not a multiple of 8";
  if (model.kind == ModelKind::kSageRi) return {};  // it fixes what follows
  if (model.kind == ModelKind::kSage && model.aggr != Aggregation::kMean)
    return "the model takes the maximum over neighbours";
  if (model.norm != NormKind::kNone || model.residual || model.jk != JumpingKnowledge::kNone)
    return "the model has norms, residual connections or jumping knowledge between its layers";
  if (is_attention && model.heads != 1) return "the model has several attention heads";
  if (model.kind == ModelKind::kGatv2 && (model.hidden_dim > kMaxGatv2Width || num_classes > kMaxGatv2Width))
    return "a layer of gatv2 has more than 2048 columns";
  return {};
}

/// Rows that the first layer computes for a batch with every fanout full: of gatv2 one for every entry, too.
std::int64_t most_rows(const ResidentSpec& spec) {
  const std::size_t hops = spec.fanouts.size() - (spec.model.kind == ModelKind::kGatv2 ? 0 : 1);
  auto rows = static_cast<std::int64_t>(spec.max_seeds);
  for (std::size_t h = 0; h < hops && rows <= kMaxRows; ++h) rows *= 1 + spec.fanouts[h];
  return rows;
}

}  // namespace

DataResidency residency_of(const ResidentView& data) {
  return {.features = data.features, .graph = data.graph ? GraphResidency::kDevice : GraphResidency::kHost};
}

std::string obstacle_to_resident(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data) {
  if (!has_resident_predictions()) return "this build has no CUDA";
  if (dataset.has_sparse_features()) return "the features are sparse";
  if (data.features != Residency::kDevice || data.graph != GraphResidency::kDevice)
    return "features and graph are not both in GPU memory";
  if (spec.replacement == Replacement::kLabor) return "neighbours are drawn by labor";
  if (dataset.task != Task::kMultiClass) return "a node has several labels";
  if (!std::ranges::all_of(spec.fanouts, [](int fanout) { return fanout >= 1 && fanout <= kMaxFanout; }))
    return "a fanout is not in 1 to 32";
  if (most_rows(spec) > kMaxRows) return "a batch may have more than 2^23 rows";
  return obstacle_of(spec.model, dataset.num_classes);
}

std::string obstacle_to_resident_exact(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data,
                                       int num_ranks) {
  if (num_ranks > 1) return "there are several ranks";
  if (spec.model.kind != ModelKind::kSage) return "the model is not GraphSAGE";
  if (spec.model.num_layers < 2) return "the model has one layer";
  ResidentSpec sampled = spec;
  sampled.fanouts.assign(static_cast<std::size_t>(spec.model.num_layers), 1);
  sampled.max_seeds = 1;
  sampled.replacement = Replacement::kWithout;  // however the run drew: all neighbours are taken
  return obstacle_to_resident(sampled, dataset, data);
}

}  // namespace salient
