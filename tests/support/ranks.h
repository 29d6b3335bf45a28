// tests/support/ranks.h - what a test that runs as several ranks needs from its main(), support/mpi_main.cpp.
#pragma once

#include <span>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"

namespace salient {

/// How this test program was started.
const Launch& launch_of_test();

/// Collective: whether `holds` on every rank. No rank may leave a test early, so collect a verdict and assert on this.
inline bool on_all_ranks(Communicator& comm, bool holds) {
  double num_broken = holds ? 0 : 1;
  comm.all_reduce_sum(std::span<double>(&num_broken, 1));
  return num_broken == 0;
}

}  // namespace salient
