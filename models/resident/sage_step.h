// models/resident/sage_step.h - a training step of GraphSAGE with graph and features on the GPU: sampling, gather,
// forward and backward, as one CUDA graph that the host replays.
//
// It computes what the model of models/sage.h with mean aggregation computes over the sampled message-flow graph:
// the same neighbours, the same dropout masks, the same gradients up to rounding. Nothing comes back to the host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/resident/operands.h"
#include "models/resident/weights.h"

namespace salient {

struct SageStepShape {
  std::vector<int> fanouts;  ///< the seeds' own hop first, one per layer; each in [1, kMaxTreeFanout]
  Replacement replacement = Replacement::kWithout;
  std::int64_t max_seeds = 0;                       ///< of a batch on this rank
  int in_dim = 0, hidden_dim = 0, num_classes = 0;  ///< hidden_dim is a multiple of 8
  double dropout = 0;
  double label_smoothing = 0;
  ActivationType activations = ActivationType::kBf16;  ///< bf16: operands and activations; sums and weights stay f32
  bool may_use_tf32 = false;                           ///< for products of f32
  bool is_deterministic = false;                       ///< algorithms of products are not chosen by time
  bool has_size_choice =
      true;  ///< the GPU takes products of fewer rows for a batch that needs fewer; false: always the
             ///< largest, without a switch in the graph, which compute-sanitizer cannot follow
};

/// Device memory of the step's inputs; all of it outlives the step.
struct SageStepData {
  DeviceCsr graph;
  FeatureRows features;
  const std::int32_t* labels;        ///< [num_nodes], -1 = unlabelled
  std::vector<SageWeights> weights;  ///< the first layer's first
  double* sums;                      ///< [batches of an epoch, 2]: loss and right predictions, see loss.h
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
  void run(const StepHeader& header, cudaStream_t stream);

  /// What the epoch computed so far, repeated nodes counted as often as they occur. Blocks until `stream` has passed.
  struct Counts {
    std::vector<std::int64_t> hop_nodes, hop_edges;  ///< [hops], the seeds' own first: known after it, sampled in it
  };
  Counts counts(cudaStream_t stream) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
