// tests/support/signals.h - the signals that interrupt.h keeps, set and taken back without the kernel.
#pragma once

#include <atomic>
#include <csignal>

#include "core/host/interrupt.h"

namespace salient::test {

/// interrupt_signal() becomes `number`, as if the handler had run; 0 takes it back, which no real signal does.
inline void set_interrupt_signal(int number) {
  const_cast<std::atomic<int>&>(interrupt_signal()) = number;  // the flag itself is not const
}

/// A real SIGUSR1 to this process, handled before the call returns.
inline void request_checkpoint() {
  install_interrupt_handlers();
  (void)std::raise(SIGUSR1);
}

}  // namespace salient::test
