// apps/passive_openmp.h - keeps LibTorch's OpenMP threads from spinning.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace salient {

/// LibTorch's OpenMP threads spin after each region and take the cores from the batch workers. The variable that stops
/// them is read when the library is loaded, before main: so sets it and starts the program over, once. For the first
/// line of main().
inline void restart_with_passive_openmp(char** argv) {
  // NOLINTBEGIN(concurrency-mt-unsafe): no other thread runs yet
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  (void)setenv("OMP_WAIT_POLICY", "passive", 1);
  // NOLINTEND(concurrency-mt-unsafe)
  (void)execv("/proc/self/exe", argv);  // returns only if it failed: then run on, a little slower
}

}  // namespace salient
