// workbench/referee/system_calls.cpp - see system_calls.h.
#include "workbench/referee/system_calls.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace salient::workbench {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#endif

/// A call that is allowed: always, or where argument & mask == value.
struct CallRule {
  long call = 0;
  int argument = -1;
  unsigned mask = 0, value = 0;
};

constexpr unsigned kWhole = 0xFFFFFFFF, kWrites = O_ACCMODE | O_CREAT | O_TRUNC;

constexpr CallRule kLoading[] = {{SYS_read},
                                 {SYS_pread64},
                                 {SYS_write},
                                 {SYS_close},
                                 {SYS_fstat},
                                 {SYS_newfstatat},
                                 {SYS_lseek},
                                 {SYS_fcntl, 1, kWhole, F_SETFD},
                                 {SYS_readlinkat},
#if defined(__x86_64__)
                                 {SYS_readlink},
                                 {SYS_access},
                                 {SYS_open, 1, kWrites, O_RDONLY},
#endif
                                 {SYS_faccessat},
                                 {SYS_openat, 2, kWrites, O_RDONLY},
                                 {SYS_getcwd},
                                 {SYS_getrandom},
                                 {SYS_mmap},
                                 {SYS_mprotect},
                                 {SYS_munmap},
                                 {SYS_mremap},
                                 {SYS_madvise},
                                 {SYS_brk},
                                 {SYS_futex},
                                 {SYS_clock_gettime},
                                 {SYS_getpid},
                                 {SYS_gettid},
                                 {SYS_sched_yield},
                                 {SYS_sched_getaffinity},
                                 {SYS_rt_sigaction},
                                 {SYS_rt_sigprocmask},
                                 {SYS_sigaltstack},
                                 {SYS_prctl, 0, kWhole, PR_SET_NO_NEW_PRIVS},
                                 {SYS_prctl, 0, kWhole, PR_SET_SECCOMP},
                                 {SYS_prctl, 0, kWhole, PR_SET_TSC},
                                 {SYS_exit},
                                 {SYS_exit_group}};
constexpr CallRule kRunning[] = {{SYS_brk}, {SYS_clock_gettime}, {SYS_exit}, {SYS_exit_group}};
constexpr CallRule kSanitized[] = {{SYS_mmap},           {SYS_munmap},      {SYS_madvise},     {SYS_futex},
                                   {SYS_getpid},         {SYS_gettid},      {SYS_sched_yield}, {SYS_rt_sigaction},
                                   {SYS_rt_sigprocmask}, {SYS_sigaltstack}, {SYS_rt_sigreturn}};
/// What the runtime of a sanitizer asks for in a report, and does without.
constexpr long kRefused[] = {SYS_ioctl, SYS_readlinkat, SYS_prlimit64,
#if defined(__x86_64__)
                             SYS_readlink,
#endif
                             SYS_sched_getaffinity};

sock_filter statement(unsigned short code, std::size_t value) { return {code, 0, 0, static_cast<unsigned>(value)}; }

class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    program_.push_back({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture});
    leave(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
  }

  Filter& allow(const CallRule& rule) {
    const bool is_always = rule.argument < 0;
    program_.push_back(unless(rule.call, is_always ? 1 : 5));
    if (!is_always) {
      load(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(rule.argument));  // its low half
      program_.push_back(statement(BPF_ALU | BPF_AND | BPF_K, rule.mask));
      program_.push_back(unless(static_cast<long>(rule.value), 1));
    }
    leave(SECCOMP_RET_ALLOW);
    if (!is_always) load(offsetof(seccomp_data, nr));
    return *this;
  }
  template <class List>
  Filter& allow_all(const List& rules) {
    for (const CallRule& rule : rules) allow(rule);
    return *this;
  }
  template <class List>
  Filter& refuse_all(const List& calls) {
    for (const long call : calls) {
      program_.push_back(unless(call, 1));
      leave(SECCOMP_RET_ERRNO | EPERM);
    }
    return *this;
  }
  CallFilter end() {
    leave(SECCOMP_RET_KILL_PROCESS);
    return std::move(program_);
  }

 private:
  /// Leaves out the next `count` statements unless the word that was loaded is `value`.
  static sock_filter unless(long value, unsigned char count) {
    return {BPF_JMP | BPF_JEQ | BPF_K, 0, count, static_cast<unsigned>(value)};
  }
  void load(std::size_t offset) { program_.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offset)); }
  void leave(unsigned with) { program_.push_back(statement(BPF_RET | BPF_K, with)); }

  CallFilter program_{};
};

Filter running(int in, int out) {
  Filter filter;
  filter.allow({SYS_read, 0, kWhole, static_cast<unsigned>(in)});
  filter.allow({SYS_write, 0, kWhole, static_cast<unsigned>(out)});
  filter.allow_all(kRunning);
  return filter;
}

}  // namespace

CallFilter loading_filter() { return Filter().allow_all(kLoading).refuse_all(kRefused).end(); }

CallFilter running_filter(int in, int out) { return running(in, out).end(); }

CallFilter sanitized_filter(int in, int out) {
  Filter filter = running(in, out);
  return filter.allow({SYS_write, 0, kWhole, STDERR_FILENO}).allow_all(kSanitized).refuse_all(kRefused).end();
}

bool take_filter(const CallFilter& filter) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void give_up_time_stamps() {
#if defined(__x86_64__)
  (void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
#endif
}

bool give_up_capabilities() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capset, &head, none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

std::string text_of(const CallFilter& filter) {
  std::string text = "{";
  for (const sock_filter& one : filter)
    text += "{" + std::to_string(one.code) + "," + std::to_string(one.jt) + "," + std::to_string(one.jf) + "," +
            std::to_string(one.k) + "u},";
  return text + "}";
}

}  // namespace salient::workbench
