// workbench/referee/timing.cpp - see timing.h.
#include "workbench/referee/timing.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/number_text.h"

namespace salient::workbench {
namespace {

constexpr double kLeastGain = 0.02, kMostLoss = 0.05, kNoiseFactor = 3, kImpossible = 0.9;
constexpr double kModesFactor = 10, kModesSpread = 0.5;
constexpr double kMostDependence = 0.1;

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

double median(const std::vector<double>& samples) { return spread_of(samples).median; }

double relative(const Spread& spread) { return (spread.high - spread.low) / spread.median; }

/// A kernel does not the same work in every sample where its times are much farther apart than the best's.
bool has_two_modes(const ShapeTimes& times) {
  const double candidate = relative(spread_of(times.candidate));
  const double best = std::max(relative(spread_of(times.best)), relative(spread_of(times.best_again)));
  return candidate > kModesSpread && candidate > kModesFactor * best;
}

/// Error of the median of a pattern's times, as a share.
double error_of(const std::vector<double>& samples) {
  return relative(spread_of(samples)) / std::sqrt(static_cast<double>(samples.size()));
}

std::string percent(double share) { return fixed(share * 100, 1) + " %"; }

}  // namespace

Spread spread_of(std::vector<double> samples) {
  require(!samples.empty(), "a spread has samples");
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75)};
}

double noise_of(const ShapeTimes& times) {
  const Spread a = spread_of(times.best), b = spread_of(times.best_again);
  const double apart = std::abs(a.median / b.median - 1);
  const double of_median = (a.high - a.low) / a.median / std::sqrt(static_cast<double>(times.best.size()));
  return std::max(apart, of_median);
}

double value_dependence(const ShapeTimes& times) {
  if (times.by_values.empty()) return 1;
  const ValueTimes& last = times.by_values.back();
  double most = 1;
  for (const ValueTimes& one : times.by_values) {
    const double own = median(last.candidate) / median(one.candidate);
    const double beside = own / (median(last.start) / median(one.start));
    const double cycles = last.clock > 0 && one.clock > 0 ? own * last.clock / one.clock : own;
    most = std::max(most, std::min({own, beside, cycles}));
  }
  return most;
}

namespace {

/// Beyond three times what the medians may be wrong by.
double dependence_above_noise(const ShapeTimes& times) {
  double error = 0;
  for (const ValueTimes& one : times.by_values) error = std::max({error, error_of(one.candidate), error_of(one.start)});
  return value_dependence(times) - 1 - kNoiseFactor * error;
}

}  // namespace

Decision decide(const Timing& timing) {
  Decision made;
  if (timing.shapes.empty()) return {Verdict::kAccepted, "correct; not timed"};
  double log_gain = 0, log_start = 0;
  const ShapeTimes *slower = nullptr, *uneven = nullptr, *dependent = nullptr;
  for (const ShapeTimes& times : timing.shapes) {
    const double candidate = median(times.candidate), best = median(times.best);
    if (candidate < kImpossible * times.floor)
      return {Verdict::kImpossible, times.shape + ": " + fixed(candidate * 1e6, 2) + " us, the measured floor is " +
                                        fixed(times.floor * 1e6, 2) + " us; a person must look"};
    const auto count = static_cast<double>(timing.shapes.size());
    log_gain += std::log(best / candidate) / count;
    log_start += std::log(median(times.start) / candidate) / count;
    made.noise += noise_of(times) / count;
    if (candidate > best * (1 + kMostLoss)) slower = &times;
    if (has_two_modes(times)) uneven = &times;
    if (dependence_above_noise(times) > kMostDependence) dependent = &times;
  }
  made.gain = std::exp(log_gain);
  made.of_start = std::exp(log_start);
  const double needed = std::max(kLeastGain, kNoiseFactor * made.noise);
  const std::string facts = fixed(made.gain, 3) + "x of the best, " + fixed(made.of_start, 3) +
                            "x of the start kernel, noise " + percent(made.noise);
  if (dependent != nullptr) {
    made.verdict = Verdict::kInputDependent;
    made.reason = facts + ", but " + percent(value_dependence(*dependent) - 1) + " slower at " + dependent->shape +
                  " for " + dependent->by_values.back().values + " values than for others";
  } else if (made.gain > 1 + needed && uneven != nullptr) {
    made.verdict = Verdict::kNoise;
    made.reason =
        facts + ", but its samples at " + uneven->shape + " are more than ten times as far apart as the best's";
  } else if (made.gain > 1 + needed && slower == nullptr) {
    made.verdict = Verdict::kAccepted;
    made.reason = facts;
  } else if (slower != nullptr && made.gain > 1 + needed) {
    made.verdict = Verdict::kSlower;
    made.reason = facts + ", but more than 5 % slower at " + slower->shape;
  } else if (made.gain < 1 - std::min(0.5, needed)) {
    made.verdict = Verdict::kSlower;
    made.reason = facts;
  } else {
    made.verdict = Verdict::kNoise;
    made.reason = facts + "; a gain above " + percent(needed) + " would count";
  }
  return made;
}

double share_of_floor(const Timing& timing) {
  if (timing.shapes.empty()) return 0;
  double sum = 0;
  for (const ShapeTimes& times : timing.shapes) sum += std::log(times.floor / spread_of(times.candidate).median);
  return std::exp(sum / static_cast<double>(timing.shapes.size()));
}

std::string timing_text(const Timing& timing) {
  std::string text;
  for (const ShapeTimes& times : timing.shapes) {
    const Spread candidate = spread_of(times.candidate);
    text += times.shape + ": " + fixed(candidate.median * 1e6, 2) + " us (" + fixed(candidate.low * 1e6, 2) + " to " +
            fixed(candidate.high * 1e6, 2) + "), " + percent(times.floor / candidate.median) + " of the ceiling, " +
            fixed(median(times.start) / candidate.median, 2) + "x of the start kernel, " +
            fixed(median(times.best) / candidate.median, 2) + "x of the best, " +
            fixed(times.bytes / candidate.median * 1e-9, 1) + " GB/s, " +
            fixed(times.flops / candidate.median * 1e-9, 1) + " GFLOP/s";
    if (times.joules > 0)
      text += ", " + fixed(times.joules * 1e3, 2) + " mJ, " + fixed(times.start_joules / times.joules, 2) +
              "x less than the start kernel";
    text += "\n";
  }
  return text;
}

}  // namespace salient::workbench
