// models/resident/sage_forward.h - predictions of GraphSAGE that stay on the GPU: sampling, gather and forward of a
// batch, as one CUDA graph that the host replays.
//
// It computes what the model of models/sage.h with mean aggregation computes in evaluation mode over the sampled
// message-flow graph: the same neighbours, the same logits up to rounding.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "models/resident/sage_layers.h"

namespace salient {

/// GPU memory of it, in bytes.
std::int64_t sage_forward_bytes(const SageShape& shape);

class SageForward {
 public:
  /// Allocates everything, times the products' algorithms, captures the graph. Blocks.
  /// @param shape  without dropout
  /// @throws Error{kDeviceMemory}
  SageForward(const SageShape& shape, const StepInputs& data);
  ~SageForward();
  SageForward(const SageForward&) = delete;
  SageForward& operator=(const SageForward&) = delete;

  /// Names the weights and the nodes of the batches until the next call. Both are copied. Blocks.
  /// @param weights  of every layer, the first one's first; gradients may be null
  /// @param order    batches take their seeds from it
  void start(std::span<const SageWeights> weights, std::span<const NodeId> order);

  /// Enqueues a batch of at least one seed on `stream` and returns. Of the header it reads the key and the seeds.
  /// @param next  the header of the next call after start(), whose batch is sampled meanwhile; none: it is sampled then
  void run(const StepHeader& header, const std::optional<StepHeader>& next, cudaStream_t stream);

  /// Logits of the last batch that was enqueued: [max_seeds, logits_stride()] f32 device, the batch's seeds first, the
  /// classes first in a row. The next batch overwrites them, in stream order.
  const float* logits() const;
  std::int64_t logits_stride() const;

  /// Of the batches since start(). Blocks until `stream` has passed.
  StepCounts counts(cudaStream_t stream) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
