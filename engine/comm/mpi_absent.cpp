// engine/comm/mpi_absent.cpp - a build without MPI: one rank, and an error where several are started.
#include <cstdlib>

#include "engine/comm/mpi_communicator.h"
#include "engine/comm/mpi_launch.h"

namespace salient {
namespace {

constexpr const char* kAbsent =
    "this build has no MPI; install libopenmpi-dev and build again (scripts/setup.sh does), or start one process";

}  // namespace

Launch start_mpi() { fail(ErrorKind::kUsage, kAbsent); }
bool is_mpi_running() noexcept { return false; }
void finish_mpi() noexcept {}
void abort_mpi(int exit_code) noexcept { std::_Exit(exit_code); }
std::unique_ptr<Communicator> make_mpi_communicator(const Launch&, double) { fail(ErrorKind::kUsage, kAbsent); }
BareAllReduce make_bare_mpi_all_reduce(const Launch&) { fail(ErrorKind::kUsage, kAbsent); }

}  // namespace salient
