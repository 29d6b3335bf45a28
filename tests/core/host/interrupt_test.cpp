// tests/core/host/interrupt_test.cpp - signals become flags, and the second one ends the process.
#include "core/host/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace salient {
namespace {

/// How a child process ends that installs the handlers and runs `work`, whose result is its exit code.
template <class Work>
int status_of_child(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    install_interrupt_handlers();
    _exit(work());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(Interrupt, TheFirstSignalSetsAFlagAndTheNextOneEndsTheProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int once = status_of_child([signal] {
      stop_if_interrupted();  // nothing came yet
      (void)raise(signal);
      if (interrupt_signal() != signal) return 1;
      try {
        stop_if_interrupted();
        return 2;
      } catch (const Interrupted& interrupted) {
        return interrupted.signal == signal ? 0 : 3;
      }
    });
    EXPECT_TRUE(WIFEXITED(once) && WEXITSTATUS(once) == 0) << signal << ": " << once;
    const int twice = status_of_child([signal] { return raise(signal) + raise(signal); });
    EXPECT_TRUE(WIFSIGNALED(twice) && WTERMSIG(twice) == signal) << signal << ": " << twice;
  }
}

TEST(Interrupt, ACheckpointIsAskedForOnceASignal) {
  const int status = status_of_child([] {
    if (take_checkpoint_request()) return 1;
    (void)raise(SIGUSR1);
    if (interrupt_signal() != 0 || !take_checkpoint_request()) return 2;
    return take_checkpoint_request() ? 3 : 0;
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Interrupt, HangUpStaysIgnoredUnderNohup) {
  (void)std::signal(SIGHUP, SIG_IGN);
  const int status = status_of_child([] { return raise(SIGHUP) + raise(SIGHUP) + interrupt_signal(); });
  (void)std::signal(SIGHUP, SIG_DFL);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Interrupt, AFileThatIsTooLongIsLeftToWrite) {
  const int status = status_of_child([] { return raise(SIGXFSZ); });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace salient
