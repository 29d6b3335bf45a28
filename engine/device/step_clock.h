// engine/device/step_clock.h - where the time of an epoch goes: computing, or waiting for a batch.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "engine/device/compute_device.h"
#include "engine/device/time_stamps.h"

namespace salient {

/// On a CPU: host clocks. On a GPU: event time stamps on the compute stream, read when the epoch is over, so that
/// measuring never makes the host wait; "blocked" is then the time in which the stream had nothing to do.
class StepClock {
 public:
  /// @param has_exchange  the exchange of gradients is timed too.
  StepClock(const ComputeDevice& device, bool has_exchange);

  void start_epoch();
  void batch_arrived();    ///< after BatchLoader::next(): the stream is ready for the step
  void exchange_begins();  ///< gradients are ready
  void exchange_ends();
  void step_done();   ///< the step's last kernel is enqueued
  void pause_ends();  ///< of something else between two steps: the time since step_done() counts as neither

  struct Totals {
    double train_seconds = 0;     ///< the exchange included
    double exchange_seconds = 0;  ///< waiting for slower ranks included
    double blocked_seconds = 0;
  };
  /// Of the epoch so far. Waits for the device.
  Totals totals();

 private:
  const ComputeDevice device_;
  const bool has_exchange_;
  std::chrono::steady_clock::time_point start_{};  // the stream is idle then
  std::unique_ptr<TimeStamps> stamps_;             // start, then of every step: arrived, begins, ends (if timed), done
  std::vector<std::size_t> ends_of_pauses_;        // indices of further stamps
};

}  // namespace salient
