// workbench/referee/timing.h - times of kernels as medians, and the rule by which a candidate becomes the best.
#pragma once

#include <string>
#include <vector>

#include "workbench/referee/verdict.h"

namespace salient::workbench {

/// Of inputs with one pattern of values; all else is alike.
struct ValueTimes {
  std::string values{};
  std::vector<double> start{}, candidate{};
  double clock = 0;  ///< of the multiprocessors while the candidate ran, in hertz; 0 = not known
};

/// Of one public shape. Samples are seconds of one run, all kernels interleaved in one process.
struct ShapeTimes {
  std::string shape{};
  double bytes = 0, flops = 0;  ///< the least work of the case
  double copy_rate = 0;         ///< bytes per second, measured beside the samples
  double flop_rate = 0;         ///< operations per second, likewise
  double floor = 0;             ///< seconds below which 0.9 is impossible
  std::vector<double> start{}, best{}, best_again{}, candidate{};
  std::vector<ValueTimes> by_values{};  ///< the last are values that are not timed otherwise; empty = not measured
  double start_joules = 0, joules = 0;  ///< of one run, of the start kernel and of the candidate; 0 = not measured
};

struct Timing {
  std::vector<ShapeTimes> shapes{};
};

struct Spread {
  double median = 0, low = 0, high = 0;  ///< and quartiles
};
/// @param samples  at least one
Spread spread_of(std::vector<double> samples);

/// What the samples say; a pure function of them, so that a recorded run gives the same again.
struct Decision {
  Verdict verdict = Verdict::kNoise;
  std::string reason{};
  double gain = 1;      ///< geometric mean over the shapes of best / candidate
  double of_start = 1;  ///< the same of start / candidate
  double noise = 0;     ///< mean over the shapes, as a share
};

/// IMPOSSIBLE below 0.9 of a floor; INPUT_DEPENDENT where value_dependence() is above 1.1 and three times the error of
/// the medians; NOISE where the quartiles of the candidate are more than half its median and ten
/// times those of the best apart; ACCEPTED if the gain is above max(2 %, 3 noise) and no shape is more than 5 %
/// slower than
/// the best; SLOWER if a shape is, or if the loss is above the same limit; else NOISE.
Decision decide(const Timing& timing);

/// How much longer the candidate takes for the last values of `by_values` than for others, by its own times, by the
/// cycles of its multiprocessors and beside the start kernel's times, whichever is least; the largest over the other
/// values. 1 where nothing was measured.
double value_dependence(const ShapeTimes& times);

/// Geometric mean over the shapes of floor / candidate: 1 is as fast as can be measured. 0 without shapes.
double share_of_floor(const Timing& timing);

/// A shape's noise: how far two timings of the same kernel are apart, at least the error of their medians.
double noise_of(const ShapeTimes& times);

/// One line per shape: time, share of the ceiling, x of start and best.
std::string timing_text(const Timing& timing);

}  // namespace salient::workbench
