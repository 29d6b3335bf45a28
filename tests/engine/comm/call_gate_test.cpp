// tests/engine/comm/call_gate_test.cpp - a thread waits until another one has left a call, or until its time is over.
#include "engine/comm/call_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace salient {
namespace {

TEST(CallGate, IsOpenBeforeAndAfterACall) {
  CallGate gate;
  EXPECT_TRUE(gate.wait_until_left(std::chrono::seconds(0)));
  gate.enter();
  EXPECT_FALSE(gate.wait_until_left(std::chrono::milliseconds(10)));
  gate.leave();
  EXPECT_TRUE(gate.wait_until_left(std::chrono::seconds(0)));
}

TEST(CallGate, WaitsForACallThatGoesOn) {
  CallGate gate;
  std::atomic<bool> is_over{false};
  gate.enter();
  std::jthread caller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    is_over = true;
    gate.leave();
  });
  EXPECT_TRUE(gate.wait_until_left(std::chrono::seconds(120)));
  EXPECT_TRUE(is_over);
}

}  // namespace
}  // namespace salient
