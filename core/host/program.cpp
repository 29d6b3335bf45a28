// core/host/program.cpp - see program.h.
#include "core/host/program.h"

#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "core/error.h"

namespace salient {

void start_program() noexcept {
  for (const int descriptor : {0, 1, 2})
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", O_RDWR);  // gets the lowest number
  (void)std::signal(SIGXFSZ, SIG_IGN);
  (void)std::signal(SIGUSR1, SIG_IGN);
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
