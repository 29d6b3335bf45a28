// engine/train/schedule.cpp - see schedule.h.
#include "engine/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace salient {

double Schedule::rate(std::int64_t step, const PlateauState& state) const {
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
  };
  if (step < warmup_steps) return lr * share(step + 1, warmup_steps);
  if (kind == ScheduleKind::kPlateau) return lr * std::pow(factor, state.reductions);
  if (kind == ScheduleKind::kCosine)
    return lr *
           (1 + std::cos(std::numbers::pi * std::min(1.0, share(step - warmup_steps, total_steps - warmup_steps)))) / 2;
  return lr;
}

PlateauState Schedule::after_epoch(PlateauState state, double value, Better better) const {
  if (kind != ScheduleKind::kPlateau) return state;
  constexpr double kThreshold = 1e-4, kLeastChange = 1e-8;
  const bool is_better = !state.has_best || (better == Better::kHigher ? value > state.best * (1 + kThreshold)
                                                                       : value < state.best * (1 - kThreshold));
  state.bad_epochs = is_better ? 0 : state.bad_epochs + 1;
  if (is_better) {
    state.best = value;
    state.has_best = true;
  }
  if (state.bad_epochs <= patience) return state;
  state.bad_epochs = 0;
  const double now = lr * std::pow(factor, state.reductions);
  if (now - now * factor > kLeastChange) ++state.reductions;
  return state;
}

}  // namespace salient
