// models/describe/resident_limits.cpp - see resident_limits.h.
#include "models/describe/resident_limits.h"

#include <algorithm>
#include <array>

#include "models/describe/layer_list.h"
#include "models/describe/stack.h"

namespace salient {
namespace {

constexpr std::array kWithSteps{ModelKind::kSage, ModelKind::kGat,   ModelKind::kGin,        ModelKind::kSageRi,
                                ModelKind::kGcn,  ModelKind::kGatv2, ModelKind::kTransformer};

/// What `op` is beyond the kernels, "" = nothing.
std::string obstacle_of(const Op& op) {
  if (std::holds_alternative<Maximum>(op.what)) return "the model takes the maximum over neighbours";
  const auto* aggregate = std::get_if<Aggregate>(&op.what);
  if (aggregate != nullptr && aggregate->is_by_weight) return "neighbours count by the weights of edges";
  if (const auto* norm = std::get_if<Normalise>(&op.what);
      norm != nullptr && norm->kind == NormKind::kLayer && op.width > kMaxResidentLayerNormWidth)
    return "a layer norm has more than 2048 columns";
  const auto* attend = std::get_if<Attend>(&op.what);
  if (attend == nullptr) return {};
  if (!attend->edge_weight.empty()) return "attention reads the features of edges";
  if (attend->is_by_weight) return "neighbours count by the weights of edges";
  if (attend->heads != 1 && op.width / attend->heads % 8 != 0)
    return "the width of an attention head is not a multiple of 8";
  if (attend->kind == AttentionKind::kGatv2 && attend->heads == 1 && op.width > kMaxResidentGatv2Width)
    return "a layer of gatv2 has more than 2048 columns";
  return {};
}

}  // namespace

bool is_plain_sage(const ModelOptions& options) {
  return options.kind == ModelKind::kSage && options.edge_dim == 0 && stack_of(describe(options)).is_plain();
}

std::string resident_obstacle(const ModelOptions& options) {
  if (is_typed(options.kind)) return "the graph has several relations";
  if (std::ranges::find(kWithSteps, options.kind) == kWithSteps.end()) return "the model has no resident step";
  if (options.num_layers > kMaxResidentLayers)
    return "the model has more than " + std::to_string(kMaxResidentLayers) + " layers";
  if ((options.num_layers > 1 || !is_plain_sage(options)) && options.hidden_dim % 8 != 0)
    return "the width of the hidden layers is not a multiple of 8";
  if (options.time_encoding > 0) return "the model reads how long ago edges were";
  for (const Op& op : describe(options).ops)
    if (std::string found = obstacle_of(op); !found.empty()) return found;
  return {};
}

}  // namespace salient
