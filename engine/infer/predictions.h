// engine/infer/predictions.h - what computes the logits of batches of nodes, one batch after another.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "engine/infer/inference_round.h"
#include "loaders/batch_source.h"
#include "models/model.h"

namespace salient {

/// Tensors are on the compute device, valid in stream order until the next batch is asked for. A batch without nodes
/// has none.
struct PredictedBatch {
  InferenceRound round{};  ///< logits as the model gives them: sampled_inference() makes values of them
  at::Tensor labels{};     ///< of the round's nodes, as AccuracyCounter::add() takes them
};

/// Owns how a batch gets its neighbours and what computes on them.
class Predictions {
 public:
  Predictions() = default;
  virtual ~Predictions() = default;
  Predictions(const Predictions&) = delete;
  Predictions& operator=(const Predictions&) = delete;

  /// The previous batches must have ended: next() returned none, or stop() was called.
  /// @param model     on the compute device, in evaluation mode; outlives the batches
  /// @param requests  this rank's, in order; the seeds they borrow outlive the batches
  virtual void start(Model& model, std::vector<BatchRequest> requests) = 0;

  /// Enqueues the next batch. The host does not wait for its results. @return none after the last batch
  /// @throws  whatever made the batch impossible
  virtual std::optional<PredictedBatch> next() = 0;

  /// Ends the batches early.
  virtual void stop() = 0;

  /// Of the batches that have ended.
  virtual LoaderStats stats() const = 0;
};

}  // namespace salient
