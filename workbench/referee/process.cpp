// workbench/referee/process.cpp - see process.h.
#include "workbench/referee/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>

#include "core/error.h"
#include "core/host/interrupt.h"

namespace salient::workbench {
namespace {

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  void reset(int number) {
    close();
    number_ = number;
  }
  void close() {
    if (number_ >= 0) (void)::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

struct Pipe {
  Descriptor read{}, write{};
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::kIo, std::string("cannot make a pipe: ") + std::strerror(errno));
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
};

/// Names, or their beginnings, of what compilers and profilers look for.
constexpr std::string_view kToolVariables[] = {
    "PATH=",         "HOME=",          "USER=",   "LANG=",           "LD_LIBRARY_PATH=", "XDG_",
    "CUDA",          "NVCC_",          "NVIDIA_", "CPATH=",          "C_INCLUDE_PATH=",  "CPLUS_INCLUDE_PATH=",
    "LIBRARY_PATH=", "COMPILER_PATH=", "TMPDIR=", "GCC_EXEC_PREFIX="};

std::vector<std::string> environment_of(const ProcessLimits& limits) {
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const bool is_for_tools = std::any_of(std::begin(kToolVariables), std::end(kToolVariables),
                                          [&](std::string_view name) { return line.starts_with(name); });
    if (limits.environment == Environment::kWhole || (limits.environment == Environment::kTools && is_for_tools))
      lines.emplace_back(line);
  }
  if (limits.environment == Environment::kTools) lines.emplace_back("LC_ALL=C");
  if (limits.scratch.empty()) return lines;
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("TMPDIR="); });
  lines.push_back("TMPDIR=" + std::string(limits.scratch));
  return lines;
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void set_limit(int what, std::size_t value) {
  if (value == 0) return;
  const rlimit limit{value, value + 1};  // at the first SIGXCPU says why, at the second SIGKILL would not
  (void)setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

[[noreturn]] void become(const std::vector<std::string>& command, const ProcessLimits& limits, const Pipe& in,
                         const Pipe& out, const Pipe& err, const Pipe& failed) {
  (void)setpgid(0, 0);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)dup2(in.read.get(), 0);
  (void)dup2(out.write.get(), 1);
  (void)dup2(err.write.get(), 2);
  (void)close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  (void)signal(SIGPIPE, SIG_DFL);
  (void)signal(SIGXFSZ, SIG_DFL);
  set_limit(RLIMIT_CPU, limits.cpu_seconds);
  set_limit(RLIMIT_AS, limits.memory_bytes);
  set_limit(RLIMIT_FSIZE, limits.file_bytes);
  const std::vector<std::string> lines = environment_of(limits);
  (void)execvpe(command[0].c_str(), pointers_to(command).data(), pointers_to(lines).data());
  const int code = errno;
  (void)!write(failed.write.get(), &code, sizeof code);
  _exit(127);
}

/// Moves what is there; closes the descriptor at its end.
void drain(Descriptor& from, std::string& to, std::size_t limit, bool& cut) {
  char block[1 << 14];
  const ssize_t got = read(from.get(), block, sizeof block);
  if (got <= 0) {
    if (got == 0 || (errno != EINTR && errno != EAGAIN)) from.close();
    return;
  }
  const std::size_t room = limit - std::min(limit, to.size());
  to.append(block, std::min(room, static_cast<std::size_t>(got)));
  cut = cut || static_cast<std::size_t>(got) > room;
}

void feed(Descriptor& to, const std::string& input, std::size_t& sent) {
  const ssize_t got = write(to.get(), input.data() + sent, std::min<std::size_t>(input.size() - sent, 1 << 14));
  if (got > 0) sent += static_cast<std::size_t>(got);
  if (sent == input.size() || (got < 0 && errno != EINTR && errno != EAGAIN)) to.close();
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const std::string& input,
                          const ProcessLimits& limits) {
  Pipe in, out, err, failed;
  const auto old_handler = signal(SIGPIPE, SIG_IGN);
  const pid_t child = fork();
  if (child < 0) fail(ErrorKind::kIo, std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become(command, limits, in, out, err, failed);
  (void)setpgid(child, child);
  in.read.close(), out.write.close(), err.write.close(), failed.write.close();
  (void)fcntl(in.write.get(), F_SETFL, O_NONBLOCK);

  ProcessResult result;
  std::size_t sent = 0;
  if (input.empty()) in.write.close();
  const auto end = Clock::now() + std::chrono::duration<double>(limits.seconds);
  while (out.read.get() >= 0 || err.read.get() >= 0) {
    pollfd waits[3] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}, {in.write.get(), POLLOUT, 0}};
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0 || (limits.ends_when_interrupted && interrupt_signal() != 0)) {
      result.timed_out = true;
      break;
    }
    if (poll(waits, 3, static_cast<int>(std::min(left * 1000 + 1, 1000.0))) < 0 && errno != EINTR) break;
    if (waits[0].revents != 0) drain(out.read, result.output, limits.output_bytes, result.cut);
    if (waits[1].revents != 0) drain(err.read, result.errors, limits.output_bytes, result.cut);
    if (waits[2].revents != 0) feed(in.write, input, sent);
  }
  int status = 0;
  pid_t ended = 0;
  while (!result.timed_out && (ended = waitpid(child, &status, WNOHANG)) == 0) {  // it closed its outputs and lives on
    result.timed_out = Clock::now() >= end;
    (void)usleep(2000);
  }
  (void)kill(-child, SIGKILL);  // what it left running, or itself
  if (ended != child) (void)waitpid(child, &status, 0);
  (void)signal(SIGPIPE, old_handler);
  int code = 0;
  if (read(failed.read.get(), &code, sizeof code) == static_cast<ssize_t>(sizeof code))
    fail(ErrorKind::kNoInput, "cannot start " + command[0] + ": " + std::strerror(code));
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

std::optional<std::string> limit_met(const ProcessResult& result, const ProcessLimits& limits) {
  const auto whole = [](double value) { return std::to_string(static_cast<long long>(value)); };
  if (result.timed_out) return "more than " + whole(limits.seconds) + " seconds";
  const auto says = [&](const char* what) { return result.errors.find(what) != std::string::npos; };
  if (limits.cpu_seconds > 0 && (result.exit_code == 128 + SIGXCPU || says("CPU time limit exceeded")))
    return "more than " + whole(limits.cpu_seconds) + " seconds of processor time";
  if (limits.file_bytes > 0 &&
      (result.exit_code == 128 + SIGXFSZ || says("File size limit exceeded") || says("File too large")))
    return "a file of more than " + whole(static_cast<double>(limits.file_bytes >> 20)) + " MiB";
  if (limits.memory_bytes > 0 &&
      (says("out of memory") || says("memory exhausted") || says("Cannot allocate memory") || says("bad_alloc")))
    return "more than " + whole(static_cast<double>(limits.memory_bytes >> 30)) + " GiB of memory";
  return std::nullopt;
}

std::string without_folder(std::string text, const std::string& folder) {
  for (std::size_t at = text.find(folder + "/"); at != std::string::npos; at = text.find(folder + "/", at))
    text.erase(at, folder.size() + 1);
  return text;
}

}  // namespace salient::workbench
