// tests/core/console/leftovers_test.cpp - what an interrupted run left is named, and nothing else.
#include "core/console/leftovers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(Leftovers, EachIsNamedInAWarning) {
  const test::Scratch scratch;
  for (const char* name : {"out", "out.tmp-host-1", "out.old-2", "other.tmp-host-3"})
    std::filesystem::create_directory(scratch / name);
  ::testing::internal::CaptureStderr();
  warn_of_leftovers(scratch / "out");
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  EXPECT_NE(text.find("out.tmp-host-1 is what an interrupted run left"), std::string::npos) << text;
  EXPECT_NE(text.find("out.old-2 is"), std::string::npos) << text;
}

}  // namespace
}  // namespace salient
