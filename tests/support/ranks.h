// tests/support/ranks.h - what a test that runs as several ranks needs from its main(), support/mpi_main.cpp.
#pragma once

#include <algorithm>

#include "engine/comm/agreement.h"  // on_all_ranks(): no rank may leave a test early, so assert on its result
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

}  // namespace salient
