// engine/comm/mpi_communicator.h - the host back end: MPI on host memory, any number of ranks on any machine.
#pragma once

#include <memory>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"

namespace salient {

/// Waits asleep, not spinning: docs/decisions/0003-waiting-in-mpi.md.
///
/// @param launch           of run_ranks(); MPI is started here if it is not, so that one rank may ask for it.
/// @param timeout_seconds  how long to wait for other ranks.
/// Collective. @throws Error{kComm}; kUsage in a build without MPI.
std::unique_ptr<Communicator> make_mpi_communicator(const Launch& launch, double timeout_seconds);

}  // namespace salient
