// models/resident/sage_step.h - training steps of GraphSAGE with graph and features on the GPU: sampling, gather,
// forward and backward, as one CUDA graph that the host replays, or with their updates several in one.
//
// It computes what the model of models/sage.h with mean aggregation computes over the sampled message-flow graph:
// the same neighbours, the same dropout masks, the same gradients up to rounding. Nothing comes back to the host.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/resident/loss.h"
#include "models/resident/sage_layers.h"

namespace salient {

struct SageStepShape {
  SageShape sage;
  double label_smoothing = 0;
};

/// Device memory of the step's inputs and results; all of it outlives the step.
struct SageStepData {
  StepInputs inputs;
  SeedTargets targets;
  std::vector<SageWeights> weights;  ///< the first layer's first
  double* sums;                      ///< [batches of an epoch, 2]: loss and right predictions, see loss.h
  /// The update of `weights`, to be done in the step, with the header's learning rate; where the first layer is fused.
  std::optional<ParameterUpdate> update{};
};

/// GPU memory of a step, in bytes.
std::int64_t sage_step_bytes(const SageStepShape& shape);

class SageStep {
 public:
  /// Allocates everything, times the products' algorithms, captures the graph. Blocks.
  /// @throws Error{kDeviceMemory}
  SageStep(const SageStepShape& shape, const SageStepData& data);
  ~SageStep();
  SageStep(const SageStep&) = delete;
  SageStep& operator=(const SageStep&) = delete;

  /// @param order  the training nodes in the order of an epoch; copied. Blocks.
  void start_epoch(std::span<const NodeId> order);

  /// Enqueues a step on `stream` and returns: gradients of the batch's mean loss in the weights' gradients, its sums in
  /// SageStepData::sums. A rank without seeds takes part, with zeros.
  /// @param ahead  the headers of the next calls in this epoch, kMaxAhead or as many as there are, whose batches are
  ///               sampled and gathered meanwhile; a batch that was not named is sampled when its call comes
  void run(const StepHeader& header, std::span<const StepHeader> ahead, cudaStream_t stream);
  /// Whether run() does the update, too: the weights have changed, and their gradients are not written.
  bool has_update() const;

  /// run() for the next steps, several at once where that is faster.
  /// @param rest  headers of the steps that are left in this epoch, kMaxAtOnce + kMaxAhead or as many as there are
  /// @return      how many it enqueued: one, or with has_update() up to kMaxAtOnce
  std::size_t run_some(std::span<const StepHeader> rest, cudaStream_t stream);
  static constexpr std::size_t kMaxAtOnce = kMaxAnnounced;
  static constexpr std::size_t kMaxAhead = SampledBatches::num_trees(SamplingLead::kThreeBatches) - 1;

  /// What the epoch computed so far. Blocks until `stream` has passed.
  StepCounts counts(cudaStream_t stream) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
