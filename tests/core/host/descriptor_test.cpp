// tests/core/host/descriptor_test.cpp - a descriptor is closed once, by its last owner, and errno survives that.
#include "core/host/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace salient {
namespace {

Descriptor open_null() { return Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC)); }
bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

TEST(Descriptor, ClosesAtTheEnd) {
  int number = -1;
  {
    const Descriptor file = open_null();
    ASSERT_TRUE(file);
    number = file.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, MovesToOneOwner) {
  Descriptor first = open_null();
  const int number = first.get();
  Descriptor second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): what a move leaves is the claim
  EXPECT_EQ(second.get(), number);
  EXPECT_TRUE(is_open(number));
  second = {};
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, IsClosedOnceAndReportsIt) {
  Descriptor file = open_null();
  const int number = file.get();
  EXPECT_TRUE(file.close());
  EXPECT_FALSE(file);
  EXPECT_FALSE(is_open(number));
  EXPECT_TRUE(file.close()) << "nothing left to close";
  EXPECT_FALSE(Descriptor(-1));
  Descriptor stale(number);  // closed above
  EXPECT_FALSE(stale.close());
  EXPECT_EQ(errno, EBADF);
}

TEST(Descriptor, KeepsErrno) {
  {
    const Descriptor file = open_null();
    errno = ENOSPC;
  }
  EXPECT_EQ(errno, ENOSPC);
}

}  // namespace
}  // namespace salient
