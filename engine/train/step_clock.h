// engine/train/step_clock.h - where the time of an epoch goes: computing, or waiting for a batch.
#pragma once

#include <memory>

#include "models/compute_device.h"

namespace salient {

/// On a CPU: host clocks. On a GPU: event time stamps on the compute stream, read when the epoch is over, so that
/// measuring never makes the host wait; "blocked" is then the time in which the stream had nothing to do.
class StepClock {
 public:
  explicit StepClock(const ComputeDevice& device);
  ~StepClock();

  void start_epoch();
  void batch_arrived();  ///< after BatchLoader::next(): the stream is ready for the step
  void step_done();      ///< the step's last kernel is enqueued

  struct Totals {
    double train_seconds = 0;
    double blocked_seconds = 0;
  };
  /// Of the epoch so far. Waits for the device.
  Totals totals();

 private:
  struct Stamps;
  std::unique_ptr<Stamps> stamps_;
};

}  // namespace salient
