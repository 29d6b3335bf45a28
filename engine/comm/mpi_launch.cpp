// engine/comm/mpi_launch.cpp - see mpi_launch.h: the only place that starts and ends MPI.
#include "engine/comm/mpi_launch.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/host/machine.h"
#include "engine/comm/mpi_call.h"

namespace salient {
namespace {

/// Cores that several ranks may use are shared evenly among them: a rank bound to its own has all of these, unbound
/// ranks have 1 / ranks_on_host of the host's.
void share_cores(Launch& launch, MPI_Comm host) {
  const std::vector<int> mine = cores_of_process();
  int num_cores = mine.empty() ? 0 : mine.back() + 1;
  mpi_check(MPI_Allreduce(MPI_IN_PLACE, &num_cores, 1, MPI_INT, MPI_MAX, host), "MPI_Allreduce");
  std::vector<int> users(static_cast<std::size_t>(num_cores), 0);
  for (const int core : mine) users[static_cast<std::size_t>(core)] = 1;
  mpi_check(MPI_Allreduce(MPI_IN_PLACE, users.data(), num_cores, MPI_INT, MPI_SUM, host), "MPI_Allreduce");
  double share = 0;
  for (const int core : mine) share += 1.0 / users[static_cast<std::size_t>(core)];
  launch.cores = std::max(1, std::min(static_cast<int>(share + 1e-6), num_usable_cores()));
  // mpirun and srun bind the ranks they start, not themselves.
  const auto num_of_launcher = static_cast<int>(cores_of_process(getppid()).size());
  const auto num_of_ranks = static_cast<int>(std::ranges::count_if(users, [](int n) { return n > 0; }));
  const bool is_bound = num_of_ranks < num_of_launcher;
  launch.cores_of_host = is_bound ? num_of_launcher : launch.cores * launch.ranks_on_host;
}

}  // namespace

Launch start_mpi() {
  // Ranks that share cores give way to each other inside MPI. Read at MPI's start; a user's setting wins.
  (void)setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);  // NOLINT(concurrency-mt-unsafe): no other thread runs yet
  int level = 0;
  mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
  if (level < MPI_THREAD_FUNNELED)
    fail(ErrorKind::kComm, "this MPI does not allow threads beside it (MPI_THREAD_FUNNELED)");
  mpi_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  Launch launch{.host = host_name(), .has_mpi = true};
  mpi_check(MPI_Comm_rank(MPI_COMM_WORLD, &launch.rank), "MPI_Comm_rank");
  mpi_check(MPI_Comm_size(MPI_COMM_WORLD, &launch.size), "MPI_Comm_size");
  MPI_Comm host = MPI_COMM_NULL;
  mpi_check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, launch.rank, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  mpi_check(MPI_Comm_rank(host, &launch.local_rank), "MPI_Comm_rank");
  mpi_check(MPI_Comm_size(host, &launch.ranks_on_host), "MPI_Comm_size");
  mpi_check(MPI_Allreduce(&launch.rank, &launch.first_on_host, 1, MPI_INT, MPI_MIN, host), "MPI_Allreduce");
  share_cores(launch, host);
  const int is_first = launch.local_rank == 0 ? 1 : 0;
  mpi_check(MPI_Allreduce(&is_first, &launch.num_hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  mpi_check(MPI_Comm_free(&host), "MPI_Comm_free");
  return launch;
}

bool is_mpi_running() noexcept {
  int is_started = 0, is_over = 0;
  (void)MPI_Initialized(&is_started);
  (void)MPI_Finalized(&is_over);
  return is_started != 0 && is_over == 0;
}

void finish_mpi() noexcept {
  // All ranks meet before MPI_Finalize: where one leaves while others are inside, mpirun of OpenMPI 4.1 (PMIx 4.2) at
  // times crashes or hangs in PMIx_server_finalize.
  MPI_Request met = MPI_REQUEST_NULL;
  int is_done = 0;
  bool is_fine = MPI_Ibarrier(MPI_COMM_WORLD, &met) == MPI_SUCCESS;
  while (is_fine && is_done == 0) {
    is_fine = MPI_Test(&met, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (is_done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  (void)MPI_Finalize();
}

void abort_mpi(int exit_code) noexcept {
  (void)MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace salient
