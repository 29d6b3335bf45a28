// core/host/program.cpp - see program.h.
#include "core/host/program.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string_view>

#include "core/error.h"
#include "core/host/threads.h"

namespace salient {
namespace {

/// "NAME: error: ..." Only calls that a signal handler may make.
void write_error(const char* name, std::string_view line) {
  const iovec parts[] = {{const_cast<char*>(name), std::strlen(name)}, {const_cast<char*>(line.data()), line.size()}};
  (void)!writev(STDERR_FILENO, parts, 2);
}

/// Ends a program without a working directory, before any library starts: oneMKL ends it then with a line that says
/// that LibTorch is missing.
void require_working_directory(int /*argc*/, char** argv, char** /*environment*/) {
  char path[PATH_MAX];
  if (getcwd(path, sizeof path) != nullptr || errno != ENOENT) return;
  const char* const slash = std::strrchr(argv[0], '/');
  write_error(slash == nullptr ? argv[0] : slash + 1,
              ": error: the working directory has been removed; change to one that exists\n");
  _exit(static_cast<int>(ErrorKind::kNoInput));
}
using AtStart = void(int, char**, char**);
[[gnu::section(".preinit_array"), gnu::used]] AtStart* const before_libraries = require_working_directory;

/// Of SIGBUS.
void end_without_the_page(int /*signal*/, siginfo_t* info, void* /*context*/) {
  if (info->si_code != BUS_ADRERR) {  // a defect: again, without a handler
    (void)std::signal(SIGBUS, SIG_DFL);
    return;
  }
  constexpr std::string_view kLine =
      ": error: a file in use became shorter, or its disk or /dev/shm failed; data must not change while it is read\n";
  write_error(program_invocation_short_name, kLine);
  _exit(static_cast<int>(ErrorKind::kIo));
}

/// Of an exception that left a thread's function.
[[noreturn]] void end_with_the_exception() noexcept {
  if (std::current_exception()) std::_Exit(report_current_exception(program_invocation_short_name));
  std::abort();
}

}  // namespace

void start_program() noexcept {
  (void)std::set_terminate(end_with_the_exception);
  set_thread_stacks();
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
