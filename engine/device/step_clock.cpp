// engine/device/step_clock.cpp - see step_clock.h.
#include "engine/device/step_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/console/trace.h"

namespace salient {
namespace {

/// When the host's clock showed `seconds` after `start`.
std::chrono::steady_clock::time_point host_time(std::chrono::steady_clock::time_point start, double seconds) {
  return start + std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

/// Of the graphs with as many steps as the first one, as the last of an epoch may have fewer.
/// @param seconds  of each graph   @param counts  its steps
std::optional<double> spread_of_steps(const std::vector<double>& seconds, const std::vector<std::size_t>& counts) {
  constexpr std::size_t kFewest = 8;
  std::vector<double> whole;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    if (counts[i] == counts.front()) whole.push_back(seconds[i]);
  if (whole.size() < kFewest) return {};
  std::ranges::sort(whole);
  const auto at = [&](double share) {
    return whole[static_cast<std::size_t>(std::lround(share * static_cast<double>(whole.size() - 1)))];
  };
  return (at(0.84) - at(0.16)) / 2 / std::sqrt(static_cast<double>(counts.front()));
}

}  // namespace

StepClock::StepClock(const ComputeDevice& device)
    : device_(device), stamps_(device.is_cuda() ? make_stream_stamps(device.stream()) : make_host_stamps()) {}

void StepClock::start_epoch() {
  stamps_->clear();
  parts_.clear();
  counts_.clear();
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
void StepClock::step_done(std::size_t count) {
  add(Part::kComputing);
  counts_.push_back(count);
}
void StepClock::pause_ends() { add(Part::kPause); }

StepClock::Totals StepClock::totals() {
  device_.wait();
  const int row = device_.is_cuda() ? trace_row::kComputeStream : trace_row::kMain;
  Totals totals;
  double now = 0;  // seconds since the start of the epoch
  std::int64_t step = -1;
  std::vector<double> steps(counts_.size(), 0);  // seconds without the exchange
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const double seconds = stamps_->seconds_before(i + 1), begin = now;
    now += seconds;
    const Part part = parts_[i];
    if (part == Part::kPause) continue;
    (part == Part::kWaiting ? totals.blocked_seconds : totals.train_seconds) += seconds;
    if (part == Part::kExchange) totals.exchange_seconds = totals.exchange_seconds.value_or(0) + seconds;
    if (part == Part::kWaiting) ++step;
    if (part != Part::kExchange && step < std::ssize(steps)) steps[static_cast<std::size_t>(step)] += seconds;
    if (part != Part::kWaiting && Trace::global().is_on())
      Trace::global().add(part == Part::kExchange ? "all-reduce" : "compute", "train", row, host_time(start_, begin),
                          host_time(start_, now), step);
  }
  if (!steps.empty()) totals.step_spread_seconds = spread_of_steps(steps, counts_);
  return totals;
}

}  // namespace salient
