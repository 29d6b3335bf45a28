// tests/engine/train/schedule_test.cpp - step sizes at known steps, and plateau as torch's ReduceLROnPlateau.
#include "engine/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace salient {
namespace {

TEST(Schedule, ConstantIsConstantAfterTheWarmUp) {
  const Schedule schedule{.kind = ScheduleKind::kConstant, .lr = 0.1, .warmup_steps = 4, .total_steps = 100};
  EXPECT_DOUBLE_EQ(schedule.rate(0, {}), 0.025);
  EXPECT_DOUBLE_EQ(schedule.rate(3, {}), 0.1);
  EXPECT_EQ(schedule.rate(4, {}), 0.1);
  EXPECT_EQ(schedule.rate(99, {}), 0.1);
}

TEST(Schedule, CosineFallsFromTheEndOfTheWarmUpToZero) {
  const Schedule schedule{.kind = ScheduleKind::kCosine, .lr = 0.1, .warmup_steps = 10, .total_steps = 110};
  EXPECT_DOUBLE_EQ(schedule.rate(9, {}), 0.1);
  EXPECT_DOUBLE_EQ(schedule.rate(10, {}), 0.1);
  EXPECT_NEAR(schedule.rate(60, {}), 0.05, 1e-12);
  EXPECT_NEAR(schedule.rate(35, {}), 0.1 * (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_NEAR(schedule.rate(110, {}), 0, 1e-12);
  EXPECT_GE(schedule.rate(500, {}), 0);  // a run that is continued past its end
}

std::vector<double> rates_after(const std::vector<double>& values, Schedule::Better better) {
  const Schedule schedule{.kind = ScheduleKind::kPlateau, .lr = 0.01, .factor = 0.5, .patience = 2};
  PlateauState state;
  std::vector<double> rates;
  for (const double value : values) {
    state = schedule.after_epoch(state, value, better);
    rates.push_back(schedule.rate(0, state));
  }
  return rates;
}

// The expected lists are what torch.optim.lr_scheduler.ReduceLROnPlateau(factor=0.5, patience=2) of torch 2.11 gives.
TEST(Schedule, PlateauFollowsTorch) {
  EXPECT_EQ(rates_after({.5, .6, .60001, .59, .6, .7, .7, .7, .7, .7, .7, .7, .71}, Schedule::Better::kHigher),
            (std::vector<double>{.01, .01, .01, .01, .005, .005, .005, .005, .0025, .0025, .0025, .00125, .00125}));
  EXPECT_EQ(rates_after({2, 1.5, 1.5, 1.6, 1.4999, 1.4, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5}, Schedule::Better::kLower),
            (std::vector<double>{.01, .01, .01, .01, .005, .005, .005, .005, .0025, .0025, .0025, .00125, .00125}));
}

TEST(Schedule, PlateauStopsWhereAReductionWouldBeNothing) {
  const Schedule schedule{.kind = ScheduleKind::kPlateau, .lr = 4e-8, .factor = 0.5, .patience = 0};
  PlateauState state{.best = 1, .has_best = true};
  for (int epoch = 0; epoch < 10; ++epoch) state = schedule.after_epoch(state, 0, Schedule::Better::kHigher);
  EXPECT_EQ(state.reductions, 1);
}

TEST(Schedule, OnlyPlateauRemembersAnything) {
  const PlateauState state = Schedule{.kind = ScheduleKind::kCosine}.after_epoch({}, 1, Schedule::Better::kHigher);
  EXPECT_FALSE(state.has_best);
}

}  // namespace
}  // namespace salient
