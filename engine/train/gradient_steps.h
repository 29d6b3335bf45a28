// engine/train/gradient_steps.h - what computes the gradients of an epoch's steps, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loaders/batch_source.h"

namespace salient {

/// Owns how a step gets its batch and what computes on it. The exchange of gradients and the update are the caller's.
class GradientSteps {
 public:
  GradientSteps() = default;
  virtual ~GradientSteps() = default;
  GradientSteps(const GradientSteps&) = delete;
  GradientSteps& operator=(const GradientSteps&) = delete;

  /// Starts an epoch. The previous one must have ended: next() returned false, or stop() was called.
  /// @param requests  this rank's batches, in order; they borrow from the EpochSeeds of the run
  virtual void start(std::vector<BatchRequest> requests) = 0;

  /// Enqueues forward and backward of the next batch on the device's stream: the optimiser's gradients become this
  /// rank's share of those of the batch's mean loss, and the objective gets the batch's sums. The host does not wait.
  ///
  /// @return  false after the last batch; nothing was enqueued
  /// @throws  whatever made the batch impossible
  virtual bool next(std::uint32_t global_step) = 0;

  /// Ends the epoch early.
  virtual void stop() = 0;

  /// Of the epoch that has ended.
  virtual LoaderStats stats() const = 0;
};

}  // namespace salient
