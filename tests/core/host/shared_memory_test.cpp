// tests/core/host/shared_memory_test.cpp - arrays that another process maps: the same bytes, read-only, then gone.
#include "core/host/shared_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "core/error.h"
#include "core/host/huge_vector.h"

namespace salient {
namespace {

TEST(SharedMemory, GivesZeros) {
  SharedMemory memory;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, (std::size_t{5} << 20) + 3}) {
    const std::span<const std::byte> all{static_cast<const std::byte*>(memory.allocate(bytes)), bytes};
    EXPECT_TRUE(std::ranges::all_of(all, [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(SharedMemory, AnotherMappingHasTheSameBytesAndOutlivesTheFirst) {
  std::shared_ptr<const std::byte> other;
  {
    SharedMemory memory;
    UnsetHugeVector<int> numbers{UnsetHugePageAllocator<int>(&memory)};
    numbers.resize(3'000'001);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(7 * i);
    other = map_shared(memory.handle_of(numbers.data()));
    numbers[1] = 5;  // one memory, not a copy
  }
  const auto* numbers = reinterpret_cast<const int*>(other.get());
  EXPECT_EQ(numbers[1], 5);
  EXPECT_EQ(numbers[3'000'000], 21'000'000);
}

TEST(SharedMemory, AnotherProcessReadsAndCannotWrite) {
  SharedMemory memory;
  auto* const made = static_cast<char*>(memory.allocate(10'000));
  std::strcpy(made + 9000, "from the first rank");
  const SharedHandle handle = memory.handle_of(made);
  const auto in_child = [&](auto&& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work() ? 0 : 1);
    int status = 0;
    (void)waitpid(child, &status, 0);
    return status;
  };
  EXPECT_EQ(in_child([&] {
              return std::strcmp(reinterpret_cast<const char*>(map_shared(handle).get()) + 9000,
                                 "from the first rank") == 0;
            }),
            0);
  const int status = in_child([&] {
    const auto mapped = map_shared(handle);
    *const_cast<volatile std::byte*>(mapped.get()) = std::byte{1};
    return true;
  });
  EXPECT_TRUE(WIFSIGNALED(status) || status != 0);  // a sanitizer turns the signal into an exit code
}

TEST(SharedMemory, WhatIsNotThereIsRefused) {
  SharedMemory memory;
  int elsewhere = 0;
  EXPECT_THROW((void)memory.handle_of(&elsewhere), Error);
  void* const freed = memory.allocate(100);
  const SharedHandle handle = memory.handle_of(freed);
  memory.deallocate(freed);
  EXPECT_THROW((void)map_shared(handle), Error);
}

}  // namespace
}  // namespace salient
