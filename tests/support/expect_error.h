// tests/support/expect_error.h - "this fails, with this exit code, and the one line says this".
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/core/error.h"

namespace salient::testing {

template <class Action>
void expect_error(ErrorKind kind, const std::string& part_of_message, Action&& action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected: " << part_of_message;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), kind) << message;
    EXPECT_NE(message.find(part_of_message), std::string::npos) << message << "\n  does not say: " << part_of_message;
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0) << message;
  }
}

}  // namespace salient::testing
