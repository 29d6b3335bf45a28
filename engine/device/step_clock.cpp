// engine/device/step_clock.cpp - see step_clock.h.
#include "engine/device/step_clock.h"

#include "core/console/trace.h"

namespace salient {
namespace {

/// When the host's clock showed `seconds` after `start`.
std::chrono::steady_clock::time_point host_time(std::chrono::steady_clock::time_point start, double seconds) {
  return start + std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace

StepClock::StepClock(const ComputeDevice& device)
    : device_(device), stamps_(device.is_cuda() ? make_stream_stamps(device.stream()) : make_host_stamps()) {}

void StepClock::start_epoch() {
  stamps_->clear();
  parts_.clear();
  start_ = std::chrono::steady_clock::now();
  stamps_->add();
}

void StepClock::add(Part part) {
  stamps_->add();
  parts_.push_back(part);
}

void StepClock::batch_arrived() { add(Part::kWaiting); }
void StepClock::exchange_begins() { add(Part::kComputing); }
void StepClock::exchange_ends() { add(Part::kExchange); }
void StepClock::step_done() { add(Part::kComputing); }
void StepClock::pause_ends() { add(Part::kPause); }

StepClock::Totals StepClock::totals() {
  device_.wait();
  const int row = device_.is_cuda() ? trace_row::kComputeStream : trace_row::kMain;
  Totals totals;
  double now = 0;  // seconds since the start of the epoch
  std::int64_t step = -1;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const double seconds = stamps_->seconds_before(i + 1), begin = now;
    now += seconds;
    const Part part = parts_[i];
    if (part == Part::kPause) continue;
    (part == Part::kWaiting ? totals.blocked_seconds : totals.train_seconds) += seconds;
    if (part == Part::kExchange) totals.exchange_seconds = totals.exchange_seconds.value_or(0) + seconds;
    if (part == Part::kWaiting)
      ++step;
    else if (Trace::global().is_on())
      Trace::global().add(part == Part::kExchange ? "all-reduce" : "compute", "train", row, host_time(start_, begin),
                          host_time(start_, now), step);
  }
  return totals;
}

}  // namespace salient
