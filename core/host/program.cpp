// core/host/program.cpp - see program.h.
#include "core/host/program.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string_view>

#include "core/error.h"

namespace salient {
namespace {

/// Of SIGBUS. Only calls that a signal handler may make.
void end_without_the_page(int /*signal*/, siginfo_t* info, void* /*context*/) {
  if (info->si_code != BUS_ADRERR) {  // a defect: again, without a handler
    (void)std::signal(SIGBUS, SIG_DFL);
    return;
  }
  constexpr std::string_view kLine =
      ": error: a file in use became shorter, or its disk or /dev/shm failed; data must not change while it is read\n";
  const iovec parts[] = {{program_invocation_short_name, std::strlen(program_invocation_short_name)},
                         {const_cast<char*>(kLine.data()), kLine.size()}};
  (void)!writev(STDERR_FILENO, parts, 2);
  _exit(static_cast<int>(ErrorKind::kIo));
}

}  // namespace

void start_program() noexcept {
  for (const int descriptor : {0, 1, 2})
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", O_RDWR);  // gets the lowest number
  (void)std::signal(SIGXFSZ, SIG_IGN);
  (void)std::signal(SIGUSR1, SIG_IGN);
  struct sigaction lost_page {};
  lost_page.sa_sigaction = end_without_the_page;
  lost_page.sa_flags = SA_SIGINFO;
  (void)sigaction(SIGBUS, &lost_page, nullptr);
}

int end_program(const char* program, int code) noexcept {
  errno = 0;
  const bool is_out = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_out || code != 0) return code;
  const char* const why = errno != 0 ? std::strerror(errno) : "write failed";  // NOLINT(concurrency-mt-unsafe): the end
  std::fprintf(stderr, "%s: error: standard output: cannot write: %s\n", program, why);
  return static_cast<int>(ErrorKind::kIo);
}

}  // namespace salient
