// models/exact/exact_forward.h - predictions of GraphSAGE from all neighbours, layer by layer, in GPU memory.
//
// It computes what the model of models/sage.h with mean aggregation computes in evaluation mode over the whole graph.
// Results of hidden layers are f16, sums f32. The last layer is applied before the mean over neighbours: the result
// of the layer before it, the second large one, is then not kept, only that of the last layer's first matrix. What the
// nodes themselves contribute is kept where there is room, and computed again for the others that are asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "models/exact/exact_shape.h"
#include "models/resident/sage_layers.h"

namespace salient {

/// GPU memory of it, in bytes.
std::int64_t exact_forward_bytes(const ExactShape& shape, std::size_t num_nodes);

class ExactForward {
 public:
  /// Allocates everything; times the algorithms of products that cuBLASLt computes. Blocks.
  /// @param spent_features  the features' memory, if nothing reads them later: start() may overwrite it, and can be
  ///                        called once; or empty
  /// @throws Error{kDeviceMemory}
  ExactForward(const ExactShape& shape, const StepInputs& data, std::span<std::byte> spent_features = {});
  ~ExactForward();
  ExactForward(const ExactForward&) = delete;
  ExactForward& operator=(const ExactForward&) = delete;

  /// Computes what predictions need of all nodes, with these weights, the first layer's first. Enqueues on `stream`.
  void start(std::span<const SageWeights> weights, cudaStream_t stream);

  /// Enqueues the predictions of some nodes, behind start().
  /// @param nodes  at least one, at most block_rows; may be overwritten when the call returns
  /// @return       [block_rows, logits_stride()] f32 device, the classes first in a row; the call after the next
  ///               overwrites it, behind what `stream` has when the next is made
  const float* predict(std::span<const NodeId> nodes, cudaStream_t stream);
  std::int64_t logits_stride() const;

  /// Whether a value of any node since start() was beyond the range of f16, so that predictions may be wrong. Blocks
  /// until `stream` has passed.
  bool is_beyond_f16(cudaStream_t stream) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
