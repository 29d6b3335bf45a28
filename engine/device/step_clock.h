// engine/device/step_clock.h - where the time of an epoch goes: computing, or waiting for a batch.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "engine/device/compute_device.h"
#include "engine/device/time_stamps.h"

namespace salient {

/// On a CPU: host clocks. On a GPU: event time stamps on the compute stream, read when the epoch is over, so that
/// measuring never makes the host wait; "blocked" is then the time in which the stream had nothing to do.
class StepClock {
 public:
  explicit StepClock(const ComputeDevice& device);

  void start_epoch();
  void batch_arrived();    ///< after BatchLoader::next(): the stream is ready for the step
  void exchange_begins();  ///< gradients are ready; of steps with an exchange that the caller enqueues
  void exchange_ends();
  void step_done();   ///< the step's last kernel is enqueued
  void pause_ends();  ///< of something else between two steps: the time since step_done() counts as neither

  struct Totals {
    double train_seconds = 0;  ///< the exchange included
    double blocked_seconds = 0;
    std::optional<double> exchange_seconds{};  ///< waiting for slower ranks included; none: there was no exchange
  };
  /// Of the epoch so far. Waits for the device.
  Totals totals();

 private:
  /// What the time before a stamp was spent on.
  enum class Part { kWaiting, kComputing, kExchange, kPause };
  void add(Part part);

  const ComputeDevice device_;
  std::chrono::steady_clock::time_point start_{};  // the stream is idle then
  std::unique_ptr<TimeStamps> stamps_;             // the start, then the end of every part
  std::vector<Part> parts_;
};

}  // namespace salient
