// tests/engine/device/step_clock_test.cpp - on a CPU: every part of a step counts where it belongs, and nothing twice.
#include "engine/device/step_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/console/trace.h"
#include "core/timer.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

/// What each part of a step takes at least, in milliseconds.
struct Step {
  int wait = 1, forward = 1, exchange = 1, update = 1;
  bool has_exchange = true;
};

void run(StepClock& clock, const Step& step) {
  sleep_ms(step.wait);
  clock.batch_arrived();
  sleep_ms(step.forward);
  if (step.has_exchange) clock.exchange_begins();
  sleep_ms(step.exchange);
  if (step.has_exchange) clock.exchange_ends();
  sleep_ms(step.update);
  clock.step_done();
}

const ComputeDevice cpu = ComputeDevice::choose(DeviceKind::kCpu, 0, 1);

/// One epoch of two steps; a busy machine may take longer over each part, so lower bounds alone are exact.
struct Epoch {
  Epoch(StepClock& clock, const Step& first, const Step& second) {
    const Timer wall;
    clock.start_epoch();
    run(clock, first);
    run(clock, second);
    wall_seconds = wall.seconds();
    totals = clock.totals();
    EXPECT_LE(totals.blocked_seconds + totals.train_seconds, wall_seconds) << "nothing counts twice";
    EXPECT_LE(totals.exchange_seconds.value_or(0), totals.train_seconds) << "the exchange is a part of it";
  }
  StepClock::Totals totals{};
  double wall_seconds = 0;
};

TEST(StepClock, AnEpochIsWaitingAndTraining) {
  StepClock clock(cpu);
  const StepClock::Totals totals =
      Epoch(clock, {.wait = 20, .forward = 30}, {.wait = 10, .forward = 15, .exchange = 5, .update = 25}).totals;
  EXPECT_GE(totals.blocked_seconds, 0.030);
  EXPECT_GE(totals.train_seconds, 0.077);
  EXPECT_GE(totals.exchange_seconds.value(), 0.006);
  EXPECT_LE(totals.exchange_seconds.value(), totals.train_seconds - 0.071);
}

TEST(StepClock, EachPartCountsWhereItBelongs) {  // the part under test is by far the longest
  StepClock clock(cpu);
  EXPECT_GE(Epoch(clock, {.wait = 60}, {.wait = 60}).totals.blocked_seconds, 0.120);
  for (const Step& step : {Step{.forward = 60}, Step{.update = 60}}) {
    const StepClock::Totals totals = Epoch(clock, step, step).totals;
    EXPECT_GE(totals.train_seconds - totals.exchange_seconds.value(), 0.120);
  }
  EXPECT_GE(Epoch(clock, {.exchange = 60}, {.exchange = 60}).totals.exchange_seconds.value(), 0.120);
}

TEST(StepClock, AnExchangeInsideTheStepIsTraining) {
  StepClock clock(cpu);
  const Step step{.exchange = 60, .has_exchange = false};
  const StepClock::Totals totals = Epoch(clock, step, step).totals;
  EXPECT_FALSE(totals.exchange_seconds.has_value());
  EXPECT_GE(totals.train_seconds, 0.120);
}

TEST(StepClock, APauseBetweenStepsIsNeitherWaitingNorTraining) {
  for (const bool has_exchange : {false, true}) {
    StepClock clock(cpu);
    const Timer wall;
    clock.start_epoch();
    run(clock, {.forward = 60, .has_exchange = has_exchange});
    sleep_ms(200);
    clock.pause_ends();
    run(clock, {.wait = 60, .has_exchange = has_exchange});
    run(clock, {.forward = 60, .has_exchange = has_exchange});
    const double wall_seconds = wall.seconds();
    const StepClock::Totals totals = clock.totals();
    EXPECT_LE(totals.blocked_seconds + totals.train_seconds, wall_seconds - 0.200);
    EXPECT_GE(totals.blocked_seconds, 0.060) << "what comes behind it counts where it belongs";
    EXPECT_GE(totals.train_seconds, 0.120);
  }
}

TEST(StepClock, EveryEpochStartsAtZero) {
  StepClock clock(cpu);
  (void)Epoch(clock, {.wait = 200, .forward = 200}, {});
  (void)Epoch(clock, {}, {});  // compares its sums with its own wall time
  clock.start_epoch();
  const StepClock::Totals none = clock.totals();
  EXPECT_EQ(none.blocked_seconds + none.train_seconds, 0);
  EXPECT_FALSE(none.exchange_seconds.has_value());
}

TEST(StepClock, TracesEveryPartButTheWaiting) {
  const test::Scratch scratch;
  Trace::global().open(scratch / "trace.json", 0);
  StepClock clock(cpu);
  const StepClock::Totals totals = Epoch(clock, {.forward = 5}, {.exchange = 5}).totals;
  Trace::global().close();
  const nlohmann::json root = nlohmann::json::parse(test::read_bytes(scratch / "trace.json"));
  double compute_seconds = 0, exchange_seconds = 0;
  int num_events = 0;
  for (const nlohmann::json& event : root["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_EQ(event["args"]["batch"], num_events / 3) << event;  // compute, all-reduce, compute
    (event["name"] == "all-reduce" ? exchange_seconds : compute_seconds) += event["dur"].get<double>() * 1e-6;
    ++num_events;
  }
  EXPECT_EQ(num_events, 6);
  EXPECT_NEAR(exchange_seconds, totals.exchange_seconds.value(), 1e-5);
  EXPECT_NEAR(compute_seconds, totals.train_seconds - totals.exchange_seconds.value(), 1e-5);
}

}  // namespace
}  // namespace salient
