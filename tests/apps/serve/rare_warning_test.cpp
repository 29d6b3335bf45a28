// tests/apps/serve/rare_warning_test.cpp - one line an interval, which counts the others.
#include "apps/serve/rare_warning.h"

#include <gtest/gtest.h>

namespace salient::serve {
namespace {

using namespace std::chrono_literals;

TEST(RareWarning, SaysOneLineAnIntervalAndHowManyItLeftOut) {
  RareWarning warning(60s);
  const RareWarning::Clock::time_point begin{};
  EXPECT_EQ(warning.line("first", begin), "first");
  for (int i = 1; i < 60; ++i) EXPECT_EQ(warning.line("more", begin + std::chrono::seconds(i)), std::nullopt);
  EXPECT_EQ(warning.line("later", begin + 60s), "later (and 59 more since the last such line)");
  EXPECT_EQ(warning.line("much later", begin + 200s), "much later");
}

}  // namespace
}  // namespace salient::serve
