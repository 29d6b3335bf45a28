// core/host/interrupt.h - Ctrl-C and friends as flags that a loop looks at.
#pragma once

#include <atomic>
#include <exception>

namespace salient {

/// From now on the first SIGINT, SIGTERM or SIGHUP only sets interrupt_signal(); the next one ends the process. SIGHUP
/// (a lost terminal) stays ignored where it was, as under nohup. SIGUSR1 asks for a checkpoint. SIGXFSZ is ignored, so
/// that write() reports a file that is too long. Call once, when the first thing is there that must be cleaned up: a
/// signal that comes earlier then ends the process at once.
void install_interrupt_handlers();

/// 0, or the number of the signal that asks the program to end; the exit code is then 128 + it.
const std::atomic<int>& interrupt_signal();

/// What stop_if_interrupted() throws: no error, but the user's wish. Only main catches it.
struct Interrupted : std::exception {
  explicit Interrupted(int number) : signal(number) {}
  const char* what() const noexcept override { return "interrupted"; }
  int signal;
};

/// For the loops of long jobs that clean up by unwinding. @throws Interrupted
void stop_if_interrupted();

/// Whether SIGUSR1 came since the last call.
bool take_checkpoint_request();

}  // namespace salient
