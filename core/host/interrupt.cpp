// core/host/interrupt.cpp - see interrupt.h.
#include "core/host/interrupt.h"

#include <csignal>

namespace salient {
namespace {

std::atomic<int> ending_signal{0};
std::atomic<bool> checkpoint_wanted{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);  // for the handler

extern "C" void on_signal(int signal) {
  if (signal == SIGUSR1) {
    checkpoint_wanted = true;
  } else {
    ending_signal = signal;
  }
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  (void)sigaction(SIGUSR1, &action, nullptr);
  (void)std::signal(SIGXFSZ, SIG_IGN);  // a file that grows past `ulimit -f` is an error of write(), like a full disk
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the process at once
  (void)sigaction(SIGINT, &action, nullptr);
  (void)sigaction(SIGTERM, &action, nullptr);
  struct sigaction now {};
  const bool is_ignored = sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;  // as under nohup
  if (!is_ignored) (void)sigaction(SIGHUP, &action, nullptr);
}

const std::atomic<int>& interrupt_signal() { return ending_signal; }
void stop_if_interrupted() {
  if (const int signal = ending_signal.load(std::memory_order_relaxed)) throw Interrupted(signal);
}
bool take_checkpoint_request() { return checkpoint_wanted.exchange(false); }

}  // namespace salient
