// engine/device/step_clock.h - where the time of an epoch goes: computing, or waiting for a batch.
#pragma once

#include <chrono>
#include <cstddef>
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
  void step_done(std::size_t count = 1);  ///< the last kernel of a step, or of `count` in one graph, is enqueued
  void pause_ends();  ///< of something else between two steps: the time since step_done() counts as neither

  struct Totals {
    double train_seconds = 0;  ///< the exchange included
    double blocked_seconds = 0;
    std::optional<double> exchange_seconds{};  ///< waiting for slower ranks included; none: there was no exchange
    /// Standard deviation of a step's seconds without the exchange: half of the distance of the 16th to the 84th
    /// percentile, which single pauses leave alone; of graphs of several steps over the root of their number.
    std::optional<double> step_spread_seconds{};  ///< none of fewer than eight steps or graphs
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
  std::vector<std::size_t> counts_;  // steps of each step_done()
};

}  // namespace salient
