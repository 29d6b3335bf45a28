// engine/infer/resident_obstacle.cpp - what models/resident serves.
#include <algorithm>

#include "engine/infer/resident_exact.h"
#include "engine/infer/resident_predictions.h"
#include "models/describe/costs.h"
#include "models/describe/resident_limits.h"
#include "models/resident/limits.h"

namespace salient {
namespace {

constexpr std::int64_t kMaxRows = std::int64_t{1} << 23;  // of a layer: some GB of activations

/// Rows that the first layer computes for a batch with every fanout full; for a product of what it reads, one for every
/// entry, too.
std::int64_t most_rows(const ResidentSpec& spec, const LayerList& list) {
  const bool multiplies_sources = std::ranges::any_of(products_of(list, ProductOrder::kSumsFirst),
                                                      [](const RowProduct& p) { return p.rows == RowSet::kSources; });
  const std::size_t hops = spec.rule.fanouts.size() - (multiplies_sources ? 0 : 1);
  auto rows = static_cast<std::int64_t>(spec.max_seeds);
  for (std::size_t h = 0; h < hops && rows <= kMaxRows; ++h) rows *= 1 + spec.rule.fanouts[h];
  return rows;
}

}  // namespace

ModelOptions model_of(const ResidentSpec& spec, const Dataset& dataset) {
  ModelOptions model = spec.model;
  model.in_dim = dataset.feature_dim;
  model.num_classes = dataset.num_classes;
  return model;
}

DataResidency residency_of(const ResidentView& data) {
  return {.features = data.features, .graph = data.graph ? GraphResidency::kDevice : GraphResidency::kHost};
}

std::string obstacle_to_resident(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data) {
  if (!has_resident_predictions()) return "this build has no CUDA";
  if (dataset.has_sparse_features()) return "the features are sparse";
  if (data.features != Residency::kDevice || data.graph != GraphResidency::kDevice)
    return "features and graph are not both in GPU memory";
  if (!has_tree_draw(spec.rule.draw)) return "neighbours are drawn by " + name_of(spec.rule.draw);
  if (dataset.task == Task::kMultiLabel) return "a node has several labels";
  if (!std::ranges::all_of(spec.rule.fanouts, [](int fanout) { return fanout >= 1 && fanout <= kMaxResidentFanout; }))
    return "a fanout is not in 1 to 32";
  const ModelOptions model = model_of(spec, dataset);
  if (std::string found = resident_obstacle(model); !found.empty()) return found;
  if (most_rows(spec, describe(model)) > kMaxRows) return "a batch may have more than 2^23 rows";
  return {};
}

std::string obstacle_to_resident_exact(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data,
                                       int num_ranks) {
  if (num_ranks > 1) return "there are several ranks";
  if (spec.model.kind != ModelKind::kSage) return "the model is not GraphSAGE";
  if (!is_plain_sage(spec.model)) return "the model has norms, residual connections or jumping knowledge";
  if (spec.model.num_layers < 2) return "the model has one layer";
  ResidentSpec sampled = spec;
  sampled.rule = {.fanouts = std::vector<int>(static_cast<std::size_t>(spec.model.num_layers), 1)};  // however it drew
  sampled.max_seeds = 1;
  return obstacle_to_resident(sampled, dataset, data);
}

}  // namespace salient
