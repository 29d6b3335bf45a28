// engine/device/step_clock.cpp - see step_clock.h.
#include "engine/device/step_clock.h"

#include <chrono>
#include <vector>

#include "core/console/trace.h"

#if SALIENT_HAS_CUDA
#include "core/cuda/cuda.h"
#endif

namespace salient {

/// Time stamps of one epoch: start, then of every step: arrived, exchange begins and ends (if timed), done.
struct StepClock::Stamps {
  Stamps(const ComputeDevice& compute_device, bool times_exchange)
      : device(compute_device), has_exchange(times_exchange) {}

  void add() {
#if SALIENT_HAS_CUDA
    if (device.is_cuda()) {
      if (used == events.size()) events.emplace_back(CudaEvent::Kind::kTiming);
      events[used++].record(device.stream());
      return;
    }
#endif
    host.push_back(std::chrono::steady_clock::now());
    used = host.size();
  }

  double seconds_before(std::size_t stamp) {
#if SALIENT_HAS_CUDA
    if (device.is_cuda()) return events[stamp].seconds_since(events[stamp - 1]);
#endif
    return std::chrono::duration<double>(host[stamp] - host[stamp - 1]).count();
  }

  /// When the host's clock showed `seconds` after the start of the epoch. The stream is idle at that start.
  std::chrono::steady_clock::time_point host_time(double seconds) const {
    return start + std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  }

  ComputeDevice device;
  bool has_exchange;
  std::chrono::steady_clock::time_point start{};
  std::size_t used = 0;
  std::vector<std::chrono::steady_clock::time_point> host{};
#if SALIENT_HAS_CUDA
  std::vector<CudaEvent> events{};  // kept from epoch to epoch
#endif
};

StepClock::StepClock(const ComputeDevice& device, bool has_exchange)
    : stamps_(std::make_unique<Stamps>(device, has_exchange)) {}
StepClock::~StepClock() = default;

void StepClock::start_epoch() {
  stamps_->used = 0;
  stamps_->host.clear();
  stamps_->start = std::chrono::steady_clock::now();
  stamps_->add();
}

void StepClock::batch_arrived() { stamps_->add(); }
void StepClock::step_done() { stamps_->add(); }
void StepClock::exchange_begins() {
  if (stamps_->has_exchange) stamps_->add();
}
void StepClock::exchange_ends() { exchange_begins(); }

StepClock::Totals StepClock::totals() {
  stamps_->device.wait();
  const int row = stamps_->device.is_cuda() ? trace_row::kComputeStream : trace_row::kMain;
  Totals totals;
  double now = 0;  // seconds since the start of the epoch
  const std::size_t stamps_per_step = stamps_->has_exchange ? 4 : 2;
  for (std::size_t stamp = 1; stamp < stamps_->used; ++stamp) {
    const double seconds = stamps_->seconds_before(stamp);
    const std::size_t place = (stamp - 1) % stamps_per_step;  // 0 arrived | [1 begins, 2 ends] | last: done
    const bool is_exchange = stamps_->has_exchange && place == 2;
    (place == 0 ? totals.blocked_seconds : totals.train_seconds) += seconds;
    if (is_exchange) totals.exchange_seconds += seconds;
    if (place != 0 && Trace::global().is_on())
      Trace::global().add(is_exchange ? "all-reduce" : "compute", "train", row, stamps_->host_time(now),
                          stamps_->host_time(now + seconds), static_cast<std::int64_t>((stamp - 1) / stamps_per_step));
    now += seconds;
  }
  return totals;
}

}  // namespace salient
