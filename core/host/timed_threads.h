// core/host/timed_threads.h - the same work on n threads at once, timed; and what the machine can do at best.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/types.h"

namespace salient {

struct ThreadTimes {
  double wall_seconds = 0;  ///< from the common start until the last thread has finished
  double cpu_seconds = 0;   ///< of all threads together
};

/// Calls work(0) ... work(num_threads - 1), as run_on_threads() does. @throws as that
ThreadTimes time_on_threads(int num_threads, const std::function<void(int)>& work);

/// Best and middle of several measurements.
struct Spread {
  double best = 0;  ///< the largest
  double median = 0;
};
Spread spread_of(std::vector<double> rates);

/// 1, 2, 4, ... and `most` itself.
std::vector<int> thread_counts(int most);

/// Independent random 4-byte reads of `entries` per core-second while `num_threads` do so: what bounds a sampler. CPU
/// time counts, so that a busy machine disturbs it less.
/// @param round  each reads other positions, which no cache has yet
double random_reads_per_core_second(std::span<const NodeId> entries, int num_threads, std::uint32_t round);

/// Philox blocks per core-second while `num_threads` compute nothing else. It reads no memory, so where it falls from
/// one thread to all, the cores themselves are slower: lower clocks, shared execution units.
double arithmetic_per_core_second(int num_threads);

/// Bytes per second of plain memcpy between arrays far larger than the caches, all threads together, best of five.
double memory_copy_rate(int num_threads);

}  // namespace salient
