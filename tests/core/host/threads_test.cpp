// tests/core/host/threads_test.cpp - threads that cannot be started, that fail, and their stacks.
#include "core/host/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/host/program.h"
#include "core/host/timed_threads.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(RunOnThreads, CallsEachOnce) {
  std::vector<std::atomic<int>> calls(5);
  run_on_threads(5, [&](int t) { ++calls[static_cast<std::size_t>(t)]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

TEST(RunOnThreads, TheFirstExceptionGoesToTheCaller) {
  std::atomic<int> num_over = 0;
  const auto work = [&](int t) {
    ++num_over;
    if (t == 1) fail(ErrorKind::kHostMemory, "thread 1 has no memory");
  };
  EXPECT_COMPLAINT(run_on_threads(3, work), 71, "thread 1 has no memory");
  EXPECT_EQ(num_over, 3);
  EXPECT_THROW((void)time_on_threads(2, [](int) { throw std::bad_alloc(); }), std::bad_alloc);
}

/// In a process that may have no further thread than its first `num_threads`: the exit code of starting three.
[[noreturn]] void start_three_where_there_is_room_for(rlim_t num_threads) {
  if (geteuid() == 0 && setreuid(54321, 54321) != 0) std::exit(99);  // root has no limit; no one else is this user
  const rlimit limit{num_threads, num_threads};
  if (setrlimit(RLIMIT_NPROC, &limit) != 0) std::exit(98);
  std::atomic<int> num_calls = 0;
  try {
    run_on_threads(3, [&](int) { ++num_calls; });
  } catch (const std::system_error&) {
    std::exit(num_calls == 0 ? report_current_exception("test") : 97);
  }
  std::exit(0);
}

TEST(RunOnThreads, NoneBeginsWhereOneIsRefused) {  // and none waits for ever
  if (geteuid() != 0) GTEST_SKIP() << "needs a user of its own";
  for (const rlim_t room : {1U, 2U, 3U})
    EXPECT_EXIT(start_three_where_there_is_room_for(room), testing::ExitedWithCode(71),
                "^test: error: no further thread can be started");
  EXPECT_EXIT(start_three_where_there_is_room_for(4), testing::ExitedWithCode(0), "");
}

std::size_t stack_of_a_new_thread() {
  std::size_t bytes = 0;
  std::thread([&] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    (void)pthread_attr_getstacksize(&attributes, &bytes);
    (void)pthread_attr_destroy(&attributes);
  }).join();
  return bytes;
}

TEST(ThreadStacks, AreOfAKnownSizeWhateverTheLimit) {
  const auto measure = [] {
    pthread_attr_t small;
    (void)pthread_attr_init(&small);
    (void)pthread_attr_setstacksize(&small, 256 << 10);  // what `ulimit -s 256` makes of the default
    (void)pthread_setattr_default_np(&small);
    if (stack_of_a_new_thread() > std::size_t{1} << 20) std::exit(1);
    start_program();
    std::exit(stack_of_a_new_thread() >= std::size_t{8} << 20 ? 0 : 2);
  };
  EXPECT_EXIT(measure(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace salient
