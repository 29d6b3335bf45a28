// workbench/referee/system_calls.cpp - see system_calls.h: a seccomp filter.
#include "workbench/referee/system_calls.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <vector>

namespace salient::workbench {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#endif

constexpr long kAllowed[] = {SYS_read,    SYS_write, SYS_mmap, SYS_munmap,     SYS_mremap,       SYS_brk,
                             SYS_madvise, SYS_futex, SYS_exit, SYS_exit_group, SYS_clock_gettime};

sock_filter statement(unsigned short code, unsigned value) { return {code, 0, 0, value}; }
/// Goes on behind the next one unless the word that was loaded is `value`.
sock_filter unless(unsigned value) { return {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value}; }

}  // namespace

bool give_up_system_calls() {
#if defined(__x86_64__)
  (void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
#endif
  const auto load = [](std::size_t offset) {
    return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
  };
  const sock_filter allow = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_filter kill = statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  std::vector<sock_filter> program = {load(offsetof(seccomp_data, arch)),
                                      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture},
                                      kill,
                                      load(offsetof(seccomp_data, nr))};
  for (const long number : kAllowed) {
    program.push_back(unless(static_cast<unsigned>(number)));
    program.push_back(allow);
  }
  program.push_back(kill);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace salient::workbench
