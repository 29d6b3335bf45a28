// engine/train/gradient_steps.h - what computes the gradients of an epoch's steps, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loaders/batch_source.h"

namespace salient {

/// Owns how a step gets its batch and what computes on it.
class GradientSteps {
 public:
  GradientSteps() = default;
  virtual ~GradientSteps() = default;
  GradientSteps(const GradientSteps&) = delete;
  GradientSteps& operator=(const GradientSteps&) = delete;

  /// Starts an epoch. The previous one must have ended: next() returned false, or stop() was called.
  /// @param requests  this rank's batches, in order; they borrow from the EpochSeeds of the run
  /// @param rates     of learning, of each request's step
  virtual void start(std::vector<BatchRequest> requests, std::vector<double> rates) = 0;

  /// Enqueues forward and backward of the next batch on the device's stream: the optimiser's gradients become this
  /// rank's share of those of the batch's mean loss, and the objective gets the batch's sums. The host does not wait.
  /// With has_updates() the update too, and possibly of several batches.
  ///
  /// @return  the number of batches; 0 after the last one: nothing was enqueued
  /// @throws  whatever made the batch impossible
  virtual std::size_t next(std::uint32_t global_step) = 0;

  /// Whether next() does the exchange and the update, too; else they are the caller's, after each batch.
  virtual bool has_updates() const { return false; }

  /// Ends the epoch early.
  virtual void stop() = 0;

  /// Of the epoch that has ended.
  virtual LoaderStats stats() const = 0;
};

}  // namespace salient
