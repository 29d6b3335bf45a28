// engine/train/signal_agreement.cpp - see signal_agreement.h.
#include "engine/train/signal_agreement.h"

#include <array>
#include <csignal>

#include "core/host/interrupt.h"

namespace salient {
namespace {

enum Flag : std::uint32_t { kInterrupt = 1, kTerminate = 2, kCheckpoint = 4 };

}  // namespace

SignalAgreement::Wishes SignalAgreement::after_step() {
  Wishes wishes;
  if (++step_ % steps_between_ == 0) {
    const std::uint32_t heard = exchange(take_checkpoint_request() ? kCheckpoint : 0u) | pending_;
    pending_ = 0;
    wishes.checkpoint = (heard & kCheckpoint) != 0;
  }
  wishes.stop = signal_ != 0;
  return wishes;
}

bool SignalAgreement::must_stop_after_round() {
  if (++step_ % steps_between_ == 0) pending_ |= exchange(0) & kCheckpoint;  // one that was sent before the evaluation
  return signal_ != 0;
}

/// @return what all ranks sent one exchange ago
std::uint32_t SignalAgreement::exchange(std::uint32_t more) {
  const int signal = interrupt_signal().load();
  const std::uint32_t mine = signal == 0 ? 0u : signal == SIGINT ? kInterrupt : kTerminate;
  const std::uint32_t heard = comm_.exchange_flags(mine | more);
  hear((heard & kInterrupt) != 0, (heard & kTerminate) != 0);
  return heard;
}

bool SignalAgreement::must_stop() {
  if (signal_ != 0) return true;
  const int signal = interrupt_signal().load();
  std::array<double, 2> got{signal == SIGINT ? 1.0 : 0.0, signal != 0 && signal != SIGINT ? 1.0 : 0.0};
  comm_.all_reduce_sum(std::span<double>(got));
  hear(got[0] > 0, got[1] > 0);
  return signal_ != 0;
}

void SignalAgreement::hear(bool interrupted, bool terminated) {
  if (terminated) {
    signal_ = SIGTERM;
  } else if (interrupted) {
    signal_ = SIGINT;
  }
}

}  // namespace salient
