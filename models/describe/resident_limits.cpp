// models/describe/resident_limits.cpp - see resident_limits.h.
#include "models/describe/resident_limits.h"

#include <algorithm>
#include <array>

#include "models/describe/layer_list.h"

namespace salient {
namespace {

constexpr std::array kWithSteps{ModelKind::kSage,   ModelKind::kGat, ModelKind::kGin,
                                ModelKind::kSageRi, ModelKind::kGcn, ModelKind::kGatv2};

/// What the steps of this kind compute: nothing between its layers but what the kind itself has there.
ModelOptions plain(ModelOptions options) {
  options.norm = NormKind::kNone;
  options.residual = false;
  options.jk = JumpingKnowledge::kNone;
  return options;
}

/// What `op` is beyond the kernels, "" = nothing.
std::string obstacle_of(const Op& op) {
  if (std::holds_alternative<Maximum>(op.what)) return "the model takes the maximum over neighbours";
  const auto* attend = std::get_if<Attend>(&op.what);
  if (attend == nullptr) return {};
  if (attend->heads != 1) return "the model has several attention heads";
  if (attend->kind == AttentionKind::kGatv2 && op.width > kMaxResidentGatv2Width)
    return "a layer of gatv2 has more than 2048 columns";
  return {};
}

}  // namespace

std::string resident_obstacle(const ModelOptions& options) {
  if (std::ranges::find(kWithSteps, options.kind) == kWithSteps.end()) return "the model has no resident step";
  if (options.num_layers > kMaxResidentLayers)
    return "the model has more than " + std::to_string(kMaxResidentLayers) + " layers";
  if ((options.num_layers > 1 || options.kind != ModelKind::kSage) && options.hidden_dim % 8 != 0)
    return "the width of the hidden layers is not a multiple of 8";
  ModelOptions deeper = options;  // a single layer has no place for these options, and steps are made for none of them
  deeper.num_layers = std::max(options.num_layers, 2);
  const LayerList list = describe(deeper);
  if (list.ops.size() != describe(plain(deeper)).ops.size())
    return "the model has norms, residual connections or jumping knowledge between its layers";
  for (const Op& op : list.ops)
    if (std::string found = obstacle_of(op); !found.empty()) return found;
  return {};
}

}  // namespace salient
