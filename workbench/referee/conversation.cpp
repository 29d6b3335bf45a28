// workbench/referee/conversation.cpp - see conversation.h.
#include "workbench/referee/conversation.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
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

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void make_pipe(Descriptor& read, Descriptor& write) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::kIo, std::string("cannot make a pipe: ") + std::strerror(errno));
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
}

[[noreturn]] void become(char* const* words, const char* folder, const int (&ends)[3]) {
  (void)setpgid(0, 0);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)dup2(ends[0], 0);
  (void)dup2(ends[1], 1);
  (void)close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  (void)signal(SIGPIPE, SIG_DFL);
  if (*folder == '\0' || chdir(folder) == 0) (void)execvp(words[0], words);
  const int code = errno;
  (void)!write(ends[2], &code, sizeof code);
  _exit(127);
}

}  // namespace

Conversation::Conversation(const std::vector<std::string>& command, const std::filesystem::path& folder)
    : name_(command.at(0)) {
  Descriptor in, out, failed_read, failed;
  make_pipe(in, to_child_);
  make_pipe(from_child_, out);
  make_pipe(failed_read, failed);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const std::string where = folder.string();
  child_ = fork();
  if (child_ < 0) fail(ErrorKind::kIo, std::string("cannot start a process: ") + std::strerror(errno));
  if (child_ == 0) become(words.data(), where.c_str(), {in.get(), out.get(), failed.get()});
  (void)setpgid(child_, child_);
  failed = Descriptor();
  int code = 0;
  if (::read(failed_read.get(), &code, sizeof code) == static_cast<ssize_t>(sizeof code)) {
    (void)waitpid(std::exchange(child_, -1), nullptr, 0);
    fail(ErrorKind::kNoInput, "cannot start " + name_ + ": " + std::strerror(code));
  }
  (void)fcntl(to_child_.get(), F_SETFL, O_NONBLOCK);
  (void)fcntl(from_child_.get(), F_SETFL, O_NONBLOCK);
}

Conversation::~Conversation() {
  if (child_ <= 0) return;
  to_child_ = Descriptor();
  (void)kill(-child_, SIGKILL);
  (void)waitpid(child_, nullptr, 0);
}

void Conversation::fail_with(const std::string& why) const { fail(ErrorKind::kBadData, name_ + ": " + why); }

void Conversation::exchange(std::string_view& question, double until) {
  pollfd waits[2] = {{from_child_.get(), POLLIN, 0}, {to_child_.get(), POLLOUT, 0}};
  const double left = until - now();
  if (left <= 0) fail_with("no answer within the time limit");
  stop_if_interrupted();
  if (poll(waits, question.empty() ? 1 : 2, static_cast<int>(std::min(left * 1000 + 1, 1000.0))) <= 0) return;
  if (!question.empty() && waits[1].revents != 0) {
    const auto old_handler = signal(SIGPIPE, SIG_IGN);
    const ssize_t sent = write(to_child_.get(), question.data(), question.size());
    const int code = errno;
    (void)signal(SIGPIPE, old_handler);
    if (sent < 0 && code != EAGAIN && code != EINTR) fail_with("it ended before it had answered");
    question.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
  if (waits[0].revents == 0) return;
  char block[1 << 16];
  const ssize_t got = ::read(from_child_.get(), block, sizeof block);
  if (got == 0) fail_with("it ended before it had answered");
  if (got < 0 && errno != EAGAIN && errno != EINTR)
    fail_with(std::string("its answer cannot be read: ") + std::strerror(errno));
  if (got > 0) came_.append(block, static_cast<std::size_t>(got));
}

void Conversation::send(std::string_view question, double seconds) {
  const double until = now() + seconds;
  while (!question.empty()) exchange(question, until);
}

std::string Conversation::line(double seconds, std::size_t most_bytes) {
  const double until = now() + seconds;
  std::string_view nothing;
  std::size_t end = 0;
  while ((end = came_.find('\n', used_)) == std::string::npos) {
    if (came_.size() - used_ > most_bytes) fail_with("a line of more than " + std::to_string(most_bytes) + " bytes");
    exchange(nothing, until);
  }
  std::string taken = came_.substr(used_, end - used_);
  used_ = end + 1;
  return taken;
}

void Conversation::read(std::span<std::byte> to, double seconds) {
  const double until = now() + seconds;
  std::string_view nothing;
  while (came_.size() - used_ < to.size()) exchange(nothing, until);
  std::memcpy(to.data(), came_.data() + used_, to.size());
  used_ += to.size();
  if (used_ == came_.size()) {
    came_.clear();
    used_ = 0;
  }
}

}  // namespace salient::workbench
