// benchmarks/measure.h - warm up, repeat, take the spread: what every benchmark does with the work that it times.
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/host/timed_threads.h"

namespace salient {

/// What is measured, and how often.
struct BenchCase {
  std::string name{};  ///< logged before the first round; empty = no line
  int warm_ups = 0;    ///< rounds that do not count
  int rounds = 1;
};

/// The simplest result of a round: some work in some time.
struct TimedWork {
  double amount = 0;
  double seconds = 0;
  double rate() const { return amount / seconds; }
};

template <class Round>
struct Measured {
  Spread rate{};  ///< over the rounds
  Round best{};   ///< the round of the highest rate
};

/// Does the work of one case again and again, one round after the other.
/// @param round  does the work once and returns what it found, with a rate(): the higher, the better
template <class Work>
auto measure(const BenchCase& bench_case, Work&& round) {
  using Round = std::invoke_result_t<Work&>;
  if (!bench_case.name.empty()) log_info(bench_case.name);
  for (int i = 0; i < bench_case.warm_ups; ++i) (void)round();
  Measured<Round> measured;
  std::vector<double> rates;
  double best_rate = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < bench_case.rounds; ++i) {
    Round found = round();
    rates.push_back(found.rate());
    if (found.rate() <= best_rate) continue;
    best_rate = found.rate();
    measured.best = std::move(found);
  }
  measured.rate = spread_of(std::move(rates));
  return measured;
}

/// "1 thread", "4 threads".
inline std::string counted(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace salient
