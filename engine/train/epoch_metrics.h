// engine/train/epoch_metrics.h - the figures of an epoch that all ranks have trained together.
#pragma once

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "engine/device/step_clock.h"
#include "engine/report/metrics.h"
#include "engine/train/checkpoint.h"
#include "loaders/batch_source.h"

namespace salient {

/// Work and sizes become those of all ranks; transfer_seconds and blocked_seconds stay this rank's. Collective, one
/// exchange. @param stats  with as many hops on every rank
LoaderStats sum_over_ranks(Communicator& comm, LoaderStats stats);

/// An epoch as this rank saw it.
struct EpochRecord {
  int epoch = 0;
  const TrainProgress& progress;  ///< with the sums of all steps of the epoch, over all ranks
  double loss_divisor = 1;        ///< of the sum of the losses; 0 of no step
  bool has_accuracy = true;       ///< of predictions that are right or wrong
  double lr = 0;                  ///< of the last step
  std::int64_t steps_before = 0;  ///< of the epoch, done before a resume
  double seconds = 0;
  StepClock::Totals times{};
  LoaderStats loader{};
};

/// A row of the run's metrics, without evaluation: seconds are this rank's, work is that of all ranks. Collective.
EpochMetrics epoch_metrics(const EpochRecord& record, const ComputeDevice& device, Communicator& comm);

}  // namespace salient
