// engine/train/signal_agreement.h - SIGINT, SIGTERM and SIGUSR1 on any rank become the same decision on all of them.
#pragma once

#include <cstdint>

#include "engine/comm/communicator.h"

namespace salient {

/// A rank that stopped alone would leave the others waiting in the next exchange of gradients. So ranks send each other
/// the signals that they got, and act on those that all have received.
class SignalAgreement {
 public:
  /// @param steps_between  after_step() exchanges signals at every n-th call, and acts on them at the next exchange:
  ///                       1 where a step is long, more where ranks run ahead of their devices.
  SignalAgreement(Communicator& comm, int steps_between) : comm_(comm), steps_between_(steps_between) {}

  struct Wishes {
    bool stop = false;
    bool checkpoint = false;
  };
  /// After every step of training. Collective; does not wait for ranks that are less than `steps_between` steps behind.
  /// @return what to do now, the same on all ranks; stop stays.
  Wishes after_step();

  /// The same after a round of evaluation; a wish for a checkpoint waits for the next step of training.
  /// @return whether to stop, the same on all ranks
  bool must_stop_after_round();

  /// Between steps, where waiting for the other ranks is all right. Collective.
  /// @return whether to stop, the same on all ranks
  bool must_stop();

  /// The signal that all agreed to stop for; 0 = none so far.
  int signal() const { return signal_; }

 private:
  std::uint32_t exchange(std::uint32_t more);
  void hear(bool interrupted, bool terminated);

  Communicator& comm_;
  const int steps_between_;
  int step_ = 0;
  int signal_ = 0;
  std::uint32_t pending_ = 0;  // a wish for a checkpoint, received during an evaluation
};

}  // namespace salient
