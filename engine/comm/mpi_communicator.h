// engine/comm/mpi_communicator.h - the host back end: MPI on host memory, any number of ranks on any machine.
#pragma once

#include <memory>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"

namespace salient {

/// Waits asleep, not spinning: docs/decisions/0003-waiting-in-mpi.md.
///
/// @param launch           of run_ranks(); MPI is started here if it is not, so that one rank may ask for it. With a
///                         smaller size, a communicator of the first ranks, to which only these come.
/// @param timeout_seconds  how long to wait for other ranks.
/// Collective. @throws Error{kComm}; kUsage in a build without MPI.
std::unique_ptr<Communicator> make_mpi_communicator(const Launch& launch, double timeout_seconds);

/// MPI_Allreduce itself between the same ranks, for comparisons; up to 2^31 - 1 floats. Spins. Collective.
BareAllReduce make_bare_mpi_all_reduce(const Launch& launch);

}  // namespace salient
