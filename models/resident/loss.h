// models/resident/loss.h - the loss of a batch's seeds and its gradient, on the GPU.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/describe/link_loss.h"
#include "models/describe/regression_loss.h"
#include "models/resident/operands.h"
#include "sampler/link_rule.h"

namespace salient {

/// Pairs of seeds that are scored instead: TreeLinks has the order of seeds, and pair_loss.h the loss.
struct PairTargets {
  bool are_scored = false;
  std::uint32_t negatives = 1;  ///< of each link
  CorruptedEnd corrupt{};
  LinkLoss loss{};
};

/// What logits are compared with. Device memory.
struct SeedTargets {
  const std::int32_t* classes = nullptr;  ///< [num_nodes], -1 = unlabelled: adds nothing; null = `values`
  const float* class_weights = nullptr;   ///< [num_classes] of the loss, then their sum; null = all classes count alike
  const float* values = nullptr;          ///< [num_nodes, num_classes] of regression, NaN = not known: adds nothing
  RegressionLoss regression = RegressionLoss::kMse;
  PairTargets pairs{};  ///< then the others are null
};

struct SeedLoss {
  const StepHeader* header;
  const NodeId* nodes;  ///< the tree's: the seeds first
  SeedTargets targets;
  std::int64_t max_seeds;
  std::int64_t num_classes;  ///< outputs
  float label_smoothing;     ///< of classes
  ActivationType type;       ///< of the gradient
  float* rows;               ///< [max_seeds, 2] device, scratch: each seed's loss, and 1 if its class was predicted
  double* sums;              ///< [>= batch + 1, 2] device: row header.batch becomes the sums of both

  /// Seeds, or links, of which `rows` has the losses.
  std::int64_t num_items() const {
    return targets.pairs.are_scored ? max_seeds / (2 + std::int64_t{targets.pairs.negatives}) : max_seeds;
  }
};

/// What the kernels are made for: one of classes that count alike is not slower for the others.
enum class SeedLossKind : std::uint8_t { kClasses, kWeightedClasses, kValues };

inline SeedLossKind kind_of(const SeedTargets& targets) {
  if (targets.classes == nullptr) return SeedLossKind::kValues;
  return targets.class_weights == nullptr ? SeedLossKind::kClasses : SeedLossKind::kWeightedClasses;
}

/// Calls launch.template operator()<kind>().
template <class Launch>
void for_kind(SeedLossKind kind, Launch launch) {
  switch (kind) {
    case SeedLossKind::kClasses: return launch.template operator()<SeedLossKind::kClasses>();
    case SeedLossKind::kWeightedClasses: return launch.template operator()<SeedLossKind::kWeightedClasses>();
    case SeedLossKind::kValues: return launch.template operator()<SeedLossKind::kValues>();
  }
}

/// Of pairs pair_loss(). Of classes softmax cross entropy as engine/train/objective.h's cross_entropy_sum(), of values
/// regression_loss_sum(); and its gradient times header.gradient_scale.
///
/// @param logits    [max_seeds, padded(num_classes)] f32 device
/// @param gradient  [max_seeds, padded(num_classes)] device; zeros for rows and columns that do not count
void seed_loss(const SeedLoss& loss, const float* logits, void* gradient, cudaStream_t stream);

/// Behind seed_loss(): the sums, added in a fixed order.
void sum_losses(const SeedLoss& loss, cudaStream_t stream);

}  // namespace salient
