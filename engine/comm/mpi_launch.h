// engine/comm/mpi_launch.h - MPI's start and end, behind which a build without MPI says so.
#pragma once

#include "engine/comm/launch.h"

namespace salient {

/// Starts MPI, once per process, on the thread that will make all calls.
/// @throws Error{kComm} when it does not start, kUsage when this build has no MPI.
Launch start_mpi();

bool is_mpi_running() noexcept;

/// Ends MPI. Collective.
void finish_mpi() noexcept;

/// Ends every rank of the job; mpirun and srun pass `exit_code` on.
[[noreturn]] void abort_mpi(int exit_code) noexcept;

}  // namespace salient
