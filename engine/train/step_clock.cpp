// engine/train/step_clock.cpp - see step_clock.h.
#include "engine/train/step_clock.h"

#include <chrono>
#include <vector>

#include "engine/core/trace.h"

#if SALIENT_HAS_CUDA
#include "engine/cuda/cuda.h"
#endif

namespace salient {

/// Time stamps of one epoch: start, then arrived and done of every step.
struct StepClock::Stamps {
  explicit Stamps(const ComputeDevice& compute_device) : device(compute_device) {}

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
  std::chrono::steady_clock::time_point start{};
  std::size_t used = 0;
  std::vector<std::chrono::steady_clock::time_point> host{};
#if SALIENT_HAS_CUDA
  std::vector<CudaEvent> events{};  // kept from epoch to epoch
#endif
};

StepClock::StepClock(const ComputeDevice& device) : stamps_(std::make_unique<Stamps>(device)) {}
StepClock::~StepClock() = default;

void StepClock::start_epoch() {
  stamps_->used = 0;
  stamps_->host.clear();
  stamps_->start = std::chrono::steady_clock::now();
  stamps_->add();
}

void StepClock::batch_arrived() { stamps_->add(); }
void StepClock::step_done() { stamps_->add(); }

StepClock::Totals StepClock::totals() {
  stamps_->device.wait();
  const int row = stamps_->device.is_cuda() ? trace_row::kComputeStream : trace_row::kMain;
  Totals totals;
  double now = 0;  // seconds since the start of the epoch
  for (std::size_t stamp = 1; stamp < stamps_->used; ++stamp) {
    const double seconds = stamps_->seconds_before(stamp);
    const bool is_step = stamp % 2 == 0;
    (is_step ? totals.train_seconds : totals.blocked_seconds) += seconds;
    if (is_step && Trace::global().is_on())
      Trace::global().add("compute", "train", row, stamps_->host_time(now), stamps_->host_time(now + seconds),
                          static_cast<std::int64_t>(stamp / 2 - 1));
    now += seconds;
  }
  return totals;
}

}  // namespace salient
