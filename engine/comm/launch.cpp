// engine/comm/launch.cpp - see launch.h. What needs MPI itself is in mpi_launch.cpp.
#include "engine/comm/launch.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <thread>

#include "core/host/interrupt.h"
#include "core/host/machine.h"
#include "core/host/threads.h"
#include "engine/comm/call_limit.h"
#include "engine/comm/mpi_launch.h"

namespace salient {
namespace {

Launch alone() {
  const int cores = num_usable_cores();
  return {.host = host_name(), .cores = cores, .cores_of_host = cores};
}

/// "rank 3 on node7: ..." if there are several.
Error with_rank(const Launch& launch, const Error& error) {
  if (launch.size == 1) return error;
  return {error.kind(), "rank " + std::to_string(launch.rank) + " on " + launch.host + ": " + error.what(),
          error.topic()};
}

/// This process' rank before MPI has said it.
int claimed_rank(const LookUp& look_up) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (look_up(name) != nullptr) return number_in(look_up, name);
  return 0;
}

Launch start_ranks(const RankProgram& program, const LookUp& look_up) {
  const CallLimit limit({.rank = claimed_rank(look_up), .host = host_name(), .program = program}, "the start of MPI",
                        program.start_seconds);
  require_threads(2);  // OpenMPI's own: without them MPI_Init ends the process
  return start_mpi();
}

void finish_ranks(const Launch& launch) noexcept {
  std::optional<CallLimit> limit;
  try {
    limit.emplace(launch, "the end of MPI", launch.program.start_seconds);
  } catch (const std::exception&) {  // no thread to be had: then without a limit
  }
  finish_mpi();
}

/// The current exception ends all ranks; returns only if they can leave together.
int end_all_ranks(const Launch& launch) {
  const auto& [program, advice, start_seconds] = launch.program;
  int code = static_cast<int>(ErrorKind::kInternal);
  try {
    throw;
  } catch (const RankError& error) {
    code = static_cast<int>(error.kind());
    if (error.logs_here()) report(program, error, advice);
    if (error.known() == RankError::Known::kOnAllRanks) return code;
    if (!error.logs_here()) std::this_thread::sleep_for(std::chrono::seconds(5));  // the logger ends us before that
  } catch (...) {
    const Error error = as_error(std::current_exception());
    code = static_cast<int>(error.kind());
    // When a rank fails, the launcher ends its peers by a signal; their broken connections are not the reason.
    const bool is_aftermath = error.kind() == ErrorKind::kComm && interrupt_signal().load() != 0;
    if (!is_aftermath) report(program, with_rank(launch, error), advice);
  }
  abort_mpi(code);
}

}  // namespace

int number_in(const LookUp& look_up, const char* name) {
  const char* const text = look_up(name);
  return text == nullptr ? 0 : std::atoi(text);
}

bool is_started_by_launcher(const LookUp& look_up) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"})
    if (look_up(name) != nullptr) return true;
  return false;
}

std::string lone_rank_problem(const Launch& launch, const LookUp& look_up) {
  if (launch.size > 1) return {};
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "WORLD_SIZE"}) {
    const int claimed = number_in(look_up, name);
    const bool is_of_launch = std::string_view(name) == "OMPI_COMM_WORLD_SIZE" || std::string_view(name) == "PMI_SIZE";
    if (claimed == 1 && is_of_launch) return {};  // the others may be of the allocation around this launch
    if (claimed <= 1) continue;
    return std::string(name) + " is " + std::to_string(claimed) +
           " but MPI knows one rank, so each process would train a copy of its own; start with mpirun, or srun "
           "--mpi=pmix, and the MPI that this program was built with";
  }
  return {};
}

std::string affinity_problem(const Launch& launch) {
  const int fair = launch.cores_of_host / launch.ranks_on_host;
  if (launch.cores >= fair || launch.size == 1) return {};
  return "rank " + std::to_string(launch.rank) + " on " + launch.host + " may use " + std::to_string(launch.cores) +
         " of " + std::to_string(launch.cores_of_host) + " cores, where " + std::to_string(fair) +
         " would be its share; start mpirun with --bind-to none, or srun with --cpu-bind=none";
}

int run_ranks(const RankProgram& program, const std::function<int(const Launch&)>& body) noexcept {
  Launch launch{};
  int code = 0;
  try {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing writes the environment
    const LookUp look_up = [](const char* name) { return std::getenv(name); };
    launch = is_started_by_launcher(look_up) ? start_ranks(program, look_up) : alone();
    launch.program = program;
    code = body(launch);
  } catch (...) {
    if (!is_mpi_running()) return report_current_exception(program.name, program.advice);
    code = end_all_ranks(launch);
  }
  if (is_mpi_running()) finish_ranks(launch);
  return code;
}

}  // namespace salient
