// models/resident/loss.h - cross entropy of a batch's seeds and its gradient, on the GPU.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/operands.h"

namespace salient {

struct SeedLoss {
  const StepHeader* header;
  const NodeId* nodes;         ///< the tree's: the seeds first
  const std::int32_t* labels;  ///< [num_nodes] device, -1 = unlabelled: adds nothing
  std::int64_t max_seeds;
  std::int64_t num_classes;
  float label_smoothing;
  ActivationType type;  ///< of the gradient
  float* rows;          ///< [max_seeds, 2] device, scratch: each seed's loss, and 1 if its class was predicted
  double* sums;         ///< [>= batch + 1, 2] device: row header.batch becomes the sums of both
};

/// Softmax cross entropy as engine/train/objective.h's cross_entropy_sum(), and its gradient times
/// header.gradient_scale.
///
/// @param logits    [max_seeds, padded(num_classes)] f32 device
/// @param gradient  [max_seeds, padded(num_classes)] device; zeros for rows and columns that do not count
void seed_loss(const SeedLoss& loss, const float* logits, void* gradient, cudaStream_t stream);

/// Behind seed_loss(): the sums, added in a fixed order.
void sum_losses(const SeedLoss& loss, cudaStream_t stream);

}  // namespace salient
