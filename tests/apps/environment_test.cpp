// tests/apps/environment_test.cpp - a misspelt SALIENT_ variable is noticed, and others are left alone.
#include "apps/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

namespace salient {
namespace {

std::vector<std::string> warnings(std::vector<std::string> names) { return misspelt_variables(names); }

TEST(Environment, AMisspeltOptionIsNamedWithItsNearest) {
  EXPECT_EQ(warnings({"SALIENT_EPOCH"}),
            std::vector<std::string>{"SALIENT_EPOCH is not read; did you mean SALIENT_EPOCHS?"});
  EXPECT_EQ(warnings({"HOME", "SALIENT_BATCHSIZE", "SALIENT_HIDEN"}).size(), 2U);
}

TEST(Environment, WhatAProgramReadsAndWhatIsSomethingElseIsLeftAlone) {
  EXPECT_TRUE(warnings({"SALIENT_EPOCHS", "SALIENT_TRACE", "SALIENT_DATA", "SALIENT_DATA_ROOT"}).empty());
  EXPECT_TRUE(warnings({"SALIENT_OGB_URL", "SALIENT_TORCH_DIR", "EPOCH", "salient_epoch"}).empty());
}

TEST(Environment, TheNamesAreThoseOfTheProcess) {
  ASSERT_EQ(setenv("SALIENT_EPOCH", "a=b", 1), 0);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  const std::vector<std::string> names = names_in_environment();
  EXPECT_EQ(std::ranges::count(names, "SALIENT_EPOCH"), 1);
}

}  // namespace
}  // namespace salient
