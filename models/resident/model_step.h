// models/resident/model_step.h - training steps of a model with graph and features on the GPU: sampling, gather,
// forward, backward and update, as one CUDA graph that the host replays, or several steps in one; or the forward half,
// a prediction. sage_step.h and sage_forward.h are those of GraphSAGE without norms and the like.
//
// It computes what the model of models/ computes over the sampled message-flow graph: the same neighbours, the same
// dropout masks, the same statistics of batch norms, the same gradients up to rounding. Nothing comes back to the host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/describe/model_options.h"
#include "models/resident/loss.h"
#include "models/resident/operands.h"
#include "models/resident/parameter_update.h"
#include "models/resident/row_factors.h"
#include "models/resident/sage_layers.h"

namespace salient {

enum class StepUse : std::uint8_t {
  kTraining,
  kPrediction,  ///< forward in evaluation mode: no dropout, the norms' running statistics, no loss
};

struct ModelStepShape {
  ModelOptions model{};        ///< without resident_obstacle()
  SamplingRule rule{};         ///< a fanout per layer; see SampledTree
  std::int64_t max_seeds = 0;  ///< of a batch on this rank
  double label_smoothing = 0;
  ActivationType activations = ActivationType::kBf16;
  bool may_use_tf32 = false;
  bool is_deterministic = false;  ///< as in SageShape
  bool has_size_choice = true;    ///< as in SageShape
  std::size_t num_nodes = 0;      ///< of the graph
  StepUse use = StepUse::kTraining;
};

/// A parameter, or a buffer without a gradient. Device memory: f32, but for a batch norm's int64 count of batches.
struct StepTensor {
  void* value;
  float* gradient;
};

/// Device memory of the step's inputs and results; all of it outlives the step. A prediction has no targets, gradients
/// and sums.
struct ModelStepData {
  StepInputs inputs;
  SeedTargets targets;
  std::map<std::string, StepTensor> tensors;  ///< by the names that they have in the model
  double* sums;                               ///< [batches of an epoch, 2]: loss and right predictions, see loss.h
  /// The update of the parameters, to be done in the step, with the header's learning rate. Its gradients are those of
  /// `tensors`.
  std::optional<ParameterUpdate> update{};
};

/// GPU memory of a step, in bytes. Needs no GPU.
std::int64_t model_step_bytes(const ModelStepShape& shape);

class ModelStep {
 public:
  /// Allocates everything, times the products' algorithms, captures the graph. Blocks.
  /// @throws Error{kDeviceMemory}
  ModelStep(const ModelStepShape& shape, const ModelStepData& data);
  ~ModelStep();
  ModelStep(const ModelStep&) = delete;
  ModelStep& operator=(const ModelStep&) = delete;

  /// @param order  the training nodes in the order of an epoch; copied. Blocks.
  void start_epoch(std::span<const NodeId> order);

  /// Enqueues a step on `stream` and returns: gradients of the batch's mean loss in the parameters' gradients, its sums
  /// in ModelStepData::sums, running statistics in their buffers. A rank without seeds takes part, with zeros. Of a
  /// prediction the logits alone.
  /// @param ahead  the headers of the next calls in this epoch, kMaxAhead or as many as there are, whose batches are
  ///               sampled and gathered meanwhile; a batch that was not named is sampled when its call comes
  void run(const StepHeader& header, std::span<const StepHeader> ahead, cudaStream_t stream);
  /// Whether run() does the update, too: the parameters have changed.
  bool has_update() const;

  /// run() for the next steps, several at once where that is faster.
  /// @param rest  headers of the steps that are left in this epoch, kMaxAtOnce + kMaxAhead or as many as there are
  /// @return      how many it enqueued: one, or with has_update() up to kMaxAtOnce
  std::size_t run_some(std::span<const StepHeader> rest, cudaStream_t stream);
  static constexpr std::size_t kMaxAtOnce = 8;
  static constexpr std::size_t kMaxAhead = SampledBatches::num_trees(SamplingLead::kThreeBatches) - 1;

  /// Logits of the last batch that was enqueued: [max_seeds, logits_stride()] f32 device, the batch's seeds first, the
  /// classes first in a row. The next batch overwrites them, in stream order.
  const float* logits() const;
  std::int64_t logits_stride() const;

  /// What the epoch computed so far. Blocks until `stream` has passed.
  StepCounts counts(cudaStream_t stream) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
