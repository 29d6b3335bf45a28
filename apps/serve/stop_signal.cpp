// apps/serve/stop_signal.cpp - see stop_signal.h.
#include "apps/serve/stop_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "core/error.h"

namespace salient::serve {
namespace {

volatile std::sig_atomic_t event = -1;  // its descriptor

extern "C" void on_stop(int) {
  const int code = errno;
  const std::uint64_t one = 1;
  (void)!::write(static_cast<int>(event), &one, sizeof one);
  errno = code;
}

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) (void)::sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  event = ::eventfd(0, EFD_CLOEXEC);
  if (event < 0) fail(ErrorKind::kIo, "no descriptor for signals");
  handle(on_stop);
}

StopSignal::~StopSignal() {
  handle(SIG_DFL);
  (void)::close(static_cast<int>(event));
}

void StopSignal::wait() const {
  pollfd waited{.fd = static_cast<int>(event), .events = POLLIN, .revents = 0};
  while (::poll(&waited, 1, -1) <= 0) {  // a signal that comes meanwhile interrupts it
  }
}

}  // namespace salient::serve
