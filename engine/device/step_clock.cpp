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

StepClock::StepClock(const ComputeDevice& device, bool has_exchange)
    : device_(device),
      has_exchange_(has_exchange),
      stamps_(device.is_cuda() ? make_stream_stamps(device.stream()) : make_host_stamps()) {}

void StepClock::start_epoch() {
  stamps_->clear();
  ends_of_pauses_.clear();
  start_ = std::chrono::steady_clock::now();
  stamps_->add();
}

void StepClock::pause_ends() {
  ends_of_pauses_.push_back(stamps_->size());
  stamps_->add();
}
void StepClock::batch_arrived() { stamps_->add(); }
void StepClock::step_done() { stamps_->add(); }
void StepClock::exchange_begins() {
  if (has_exchange_) stamps_->add();
}
void StepClock::exchange_ends() { exchange_begins(); }

StepClock::Totals StepClock::totals() {
  device_.wait();
  const int row = device_.is_cuda() ? trace_row::kComputeStream : trace_row::kMain;
  Totals totals;
  double now = 0;  // seconds since the start of the epoch
  const std::size_t stamps_per_step = has_exchange_ ? 4 : 2;
  std::size_t num_pauses = 0, num_parts = 0;
  for (std::size_t stamp = 1; stamp < stamps_->size(); ++stamp) {
    const double seconds = stamps_->seconds_before(stamp);
    if (num_pauses < ends_of_pauses_.size() && stamp == ends_of_pauses_[num_pauses]) {
      ++num_pauses;
      now += seconds;
      continue;
    }
    const std::size_t step = num_parts / stamps_per_step;
    const std::size_t part = num_parts++ % stamps_per_step;  // 0 arrived | [1 begins, 2 ends] | last: done
    const bool is_exchange = has_exchange_ && part == 2;
    (part == 0 ? totals.blocked_seconds : totals.train_seconds) += seconds;
    if (is_exchange) totals.exchange_seconds += seconds;
    if (part != 0 && Trace::global().is_on())
      Trace::global().add(is_exchange ? "all-reduce" : "compute", "train", row, host_time(start_, now),
                          host_time(start_, now + seconds), static_cast<std::int64_t>(step));
    now += seconds;
  }
  return totals;
}

}  // namespace salient
