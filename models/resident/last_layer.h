// models/resident/last_layer.h - GraphSAGE's last layer, the loss, and the gradients of both as one kernel.
//
// A seed's logits, loss and gradient need its own row and its children's of the layer below, and no others. By
// kernels of their own (operands.h, products.h, loss.h) that is a chain of five launches over a thousand rows, each of
// which waits for the one before.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/loss.h"
#include "models/resident/operands.h"

namespace salient {

inline constexpr int kLastLayerWidth = 256;  ///< columns of the hidden layer below
inline constexpr int kMaxLastClasses = 256;  ///< at most, padded

/// Device memory; activations are bf16.
struct LastLayer {
  HiddenLayer below;   ///< kLastLayerWidth columns; its growth starts with the seeds, its `kept` is written
  SeedLoss loss;       ///< its `rows` are written, sum_losses() comes behind
  const void* weight;  ///< [padded(num_classes), 2 * kLastLayerWidth]
  const void* z;       ///< [below.growth.grown_capacity, kLastLayerWidth]: the result of the layer below
  void* operand;       ///< [capacity, 2 * kLastLayerWidth]: written, for the gradient of the weight
  void* gradient;      ///< [capacity, padded(num_classes)]: that of the logits, written
  void* z_gradient;    ///< as z; every row is written
};

/// The same as aggregate_hidden(), the product, seed_loss(), the product's gradient and aggregate_backward(), but for
/// the order of sums.
void last_layer(const LastLayer& layer, cudaStream_t stream);

}  // namespace salient
