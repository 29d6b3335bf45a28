// tests/core/host/machine_test.cpp - the processors of hosts of any size.
#include "core/host/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

namespace salient {
namespace {

constexpr std::size_t kLastCore = 8191;

/// As the kernel of a host with 8192 possible processors: a smaller mask is refused.
int ask_large_host(pid_t process, std::size_t bytes, cpu_set_t* mask) {
  if (bytes * 8 <= kLastCore) return errno = EINVAL, -1;
  CPU_SET_S(static_cast<std::size_t>(process), bytes, mask);
  for (const std::size_t core : {std::size_t{3}, std::size_t{1024}, kLastCore}) CPU_SET_S(core, bytes, mask);
  return 0;
}

int calls = 0;
int ask_in_vain(pid_t /*process*/, std::size_t /*bytes*/, cpu_set_t* /*mask*/) {
  ++calls;
  errno = EINVAL;
  return -1;
}
int ask_of_nobody(pid_t /*process*/, std::size_t /*bytes*/, cpu_set_t* /*mask*/) {
  ++calls;
  errno = ESRCH;
  return -1;
}

TEST(CoresOfProcess, ALargeHostHasMoreThanAFixedMaskHolds) {
  EXPECT_EQ(cores_of_process(77, ask_large_host), (std::vector<int>{3, 77, 1024, 8191}));
}

TEST(CoresOfProcess, AKernelThatDoesNotTellIsNotAskedForEver) {
  calls = 0;
  EXPECT_TRUE(cores_of_process(0, ask_in_vain).empty());
  EXPECT_LT(calls, 20);
  calls = 0;
  EXPECT_TRUE(cores_of_process(77, ask_of_nobody).empty());
  EXPECT_EQ(calls, 1) << "only a mask that is too small is a reason to ask again";
}

TEST(CoresOfProcess, ThisProcessMayRunOnTheCoreThatItIsOn) {
  const std::vector<int> cores = cores_of_process();
  EXPECT_TRUE(std::ranges::binary_search(cores, sched_getcpu()));
  EXPECT_LE(num_usable_cores(), static_cast<int>(cores.size()));
}

}  // namespace
}  // namespace salient
