// tests/support/ranks.h - what a test that runs as several ranks needs from its main(), support/mpi_main.cpp.
#pragma once

#include <algorithm>
#include <span>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"

namespace salient {

/// How this test program was started.
const Launch& launch_of_test();

/// The same ranks as if every `ranks_on_host` of them were on a host of their own. All hosts have the same name, as
/// containers on different machines may have.
inline Launch on_hosts_of(int ranks_on_host) {
  Launch launch = launch_of_test();
  launch.host = "container";
  launch.local_rank = launch.rank % ranks_on_host;
  launch.first_on_host = launch.rank - launch.local_rank;
  launch.ranks_on_host = std::min(ranks_on_host, launch.size - launch.first_on_host);
  launch.num_hosts = (launch.size + ranks_on_host - 1) / ranks_on_host;
  return launch;
}

/// Collective: whether `holds` on every rank. No rank may leave a test early, so collect a verdict and assert on this.
inline bool on_all_ranks(Communicator& comm, bool holds) {
  double num_broken = holds ? 0 : 1;
  comm.all_reduce_sum(std::span<double>(&num_broken, 1));
  return num_broken == 0;
}

}  // namespace salient
