// workbench/referee/worker.cpp - see worker.h.
#include "workbench/referee/worker.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "workbench/referee/system_calls.h"

namespace salient::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxWords = 200;  // of a sealed worker's text

struct Order {
  std::uint64_t word = 0;
  std::size_t index = 0;
};

struct Message {
  std::uint64_t word = 0;  ///< of the order that it answers
  int code = 0;            ///< 0 = done, else an ErrorKind
  char text[500] = {};
};

bool write_all(int to, const void* data, std::size_t size) {
  const auto* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = write(to, from, size);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    from += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

void set_limit(int what, rlim_t value) {
  const rlimit limit{value, value};
  (void)setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

constexpr bool kHasSanitizer =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;  // their shadow memory is larger than any limit
#else
    false;
#endif

/// Also what it was: a fork copies the memory that held it.
void wipe_environment() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    explicit_bzero(*entry, std::strlen(*entry));
  (void)clearenv();
}

/// From `first` to `last`, where there are any.
void close_descriptors(int first, int last) {
  if (first <= last) (void)close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0);
}

/// Cuts the child off: no environment (it may hold keys) but the choice of a GPU, no streams, no other descriptors.
void seal(const WorkerLimits& limits, int keep_in, int keep_out) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* const devices = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string visible = devices == nullptr ? "" : devices;
  wipe_environment();
  if (devices != nullptr) (void)setenv("CUDA_VISIBLE_DEVICES", visible.c_str(), 1);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) (void)dup2(nowhere, stream);
  const auto [low, high] = std::minmax(keep_in, keep_out);
  close_descriptors(3, low - 1);
  close_descriptors(low + 1, high - 1);
  close_descriptors(high + 1, INT_MAX);
  for (const int number : {SIGINT, SIGHUP})  // of a terminal, which its parent hears: no fault of a candidate
    (void)signal(number, SIG_IGN);
  for (const int number : {SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGUSR1, SIGXFSZ})
    (void)signal(number, SIG_DFL);
  set_limit(RLIMIT_CORE, 0);
  if (limits.memory_bytes > 0 && !kHasSanitizer) set_limit(RLIMIT_AS, address_space() + limits.memory_bytes);
  if (limits.is_sealed) {
    set_limit(RLIMIT_FSIZE, 0);
    set_limit(RLIMIT_NOFILE, 64);
    set_limit(RLIMIT_NPROC, 0);
  }
}

/// Memory comes from brk() alone and is kept: a candidate needs no right to map or unmap the worker's pages.
void keep_memory() {
  (void)mallopt(M_MMAP_MAX, 0);
  (void)mallopt(M_TRIM_THRESHOLD, -1);
}

void take_filter_or_fail(const CallFilter& filter) {
  if (!take_filter(filter)) fail(ErrorKind::kIo, "cannot run candidates: the kernel takes no seccomp filter");
}

Message answer_of(const std::function<void()>& action) {
  Message message;
  try {
    action();
  } catch (...) {
    const Error error = as_error(std::current_exception());
    message.code = static_cast<int>(error.kind());
    (void)std::snprintf(message.text, sizeof message.text, "%s", error.what());
  }
  return message;
}

[[noreturn]] void serve_until_closed(int in, int out, bool is_sealed, const std::function<void()>& prepare,
                                     const std::function<void(std::size_t)>& serve) {
  const bool is_filtered = is_sealed && !kHasSanitizer;
  Message message = answer_of([&] {
    if (is_filtered && !give_up_capabilities()) fail(ErrorKind::kIo, "cannot run candidates: capabilities stay");
    if (is_filtered) take_filter_or_fail(loading_filter());
    prepare();
    if (!is_filtered) return;
    keep_memory();
    give_up_time_stamps();
    take_filter_or_fail(running_filter(in, out));
  });
  while (write_all(out, &message, sizeof message)) {
    Order order;
    if (read(in, &order, sizeof order) != static_cast<ssize_t>(sizeof order)) break;
    message = answer_of([&] { serve(order.index); });
    message.word = order.word;
  }
  _exit(0);
}

std::uint64_t fresh_word() {
  std::uint64_t word = 0;
  if (getrandom(&word, sizeof word, 0) != static_cast<ssize_t>(sizeof word))
    fail(ErrorKind::kIo, "the system gives no random numbers");
  return word;
}

/// What may have been written by a candidate, as one line that is fit to be shown.
std::string harmless(std::string text) {
  text.resize(std::min(text.size(), kMaxWords));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c >= 0x7F; }, '?');
  return "the worker says: " + text;
}

}  // namespace

Worker::Worker(std::function<void()> prepare, std::function<void(std::size_t)> serve, WorkerLimits limits) {
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
    fail(ErrorKind::kIo, "cannot make the pipes of a worker");
  (void)std::fflush(nullptr);  // else the child would write it again
  child_ = fork();
  if (child_ < 0) fail(ErrorKind::kIo, std::string("cannot start a worker: ") + std::strerror(errno));
  if (child_ == 0) {
    seal(limits, down[0], up[1]);
    serve_until_closed(down[0], up[1], limits.is_sealed, prepare, serve);
  }
  (void)close(down[0]);
  (void)close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
  is_sealed_ = limits.is_sealed;
}

Worker::~Worker() {
  (void)close(to_child_);
  (void)close(from_child_);
  if (child_ > 0) (void)bury({});
}

Reply Worker::bury(Reply reply) {
  (void)kill(child_, SIGKILL);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  if (reply.kind == Reply::Kind::kDied && WIFSIGNALED(status)) reply.signal = WTERMSIG(status);
  if (reply.kind == Reply::Kind::kDied && reply.text.empty())
    reply.text = WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL
                     ? std::string("the worker ended with ") + strsignal(WTERMSIG(status))
                     : "the worker ended early";
  return reply;
}

Reply Worker::receive(double seconds) {
  if (child_ < 0) return {Reply::Kind::kDied, ErrorKind::kInternal, "the worker is gone"};
  Message message;
  std::size_t got = 0;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (got < sizeof message) {
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0) return bury({Reply::Kind::kTimeout, ErrorKind::kInternal, "no answer within the time limit"});
    pollfd wait{from_child_, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(std::min(left * 1000 + 1, 1000.0))) <= 0) continue;
    const ssize_t some = read(from_child_, reinterpret_cast<char*>(&message) + got, sizeof message - got);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) {
      (void)usleep(20000);  // a signal that ends it is delivered before it is waited for
      return bury({Reply::Kind::kDied, ErrorKind::kInternal, ""});
    }
    got += static_cast<std::size_t>(some);
  }
  if (message.word != word_)
    return bury({Reply::Kind::kDied, ErrorKind::kInternal, "the worker answered what it was not asked"});
  if (message.code == 0) return {};
  message.text[sizeof message.text - 1] = '\0';
  return {Reply::Kind::kError, static_cast<ErrorKind>(message.code), message.text};
}

Reply Worker::run(std::size_t index, double seconds) {
  const Order order{word_ = fresh_word(), index};
  const auto old_handler = signal(SIGPIPE, SIG_IGN);  // of a child that died after its last answer
  if (child_ > 0) (void)write_all(to_child_, &order, sizeof order);
  (void)signal(SIGPIPE, old_handler);
  Reply reply = receive(seconds);
  if (is_sealed_ && reply.kind == Reply::Kind::kError)
    return {Reply::Kind::kError, ErrorKind::kInternal, harmless(std::move(reply.text))};
  return reply;
}

}  // namespace salient::workbench
