// engine/comm/make_communicator.cpp - see make_communicator.h.
#include "engine/comm/make_communicator.h"

#include <cstdlib>
#include <utility>

#include "core/console/log.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/comm/nccl_communicator.h"
#include "engine/comm/staged_communicator.h"

namespace salient {
namespace {

struct Choice {
  CommBackend backend;
  const char* why;
};

Choice choose(const CommunicatorOptions& options, const Launch& launch) {
  if (options.wanted) return {*options.wanted, "as chosen by the user"};
  if (launch.size == 1) return {CommBackend::kSelf, "one rank"};
  if (!options.is_data_on_gpu) return {CommBackend::kMpi, "the model is in host memory"};
  if (has_nccl()) return {CommBackend::kNccl, "the model is on GPUs"};
  return {CommBackend::kMpi, "this build has no NCCL; gradients are copied through the host, slowly"};
}

RowBackend choose_rows(const CommunicatorOptions& options, CommBackend backend, const Launch& launch) {
  if (!options.moves_rows || launch.size == 1) return RowBackend::kMpi;
  if (options.rows == RowBackend::kNccl && backend != CommBackend::kNccl)
    fail_on_all_ranks(launch, ErrorKind::kUsage,
                      options.is_data_on_gpu
                          ? "feature rows by NCCL need NCCL for the gradients, too, and these move by MPI"
                          : "feature rows by NCCL need a GPU for each rank, and this run computes on CPUs");
  return options.rows.value_or(backend == CommBackend::kNccl ? RowBackend::kNccl : RowBackend::kMpi);
}

std::unique_ptr<Communicator> make(const Choice& choice, const CommunicatorOptions& options, const Launch& launch) {
  const RowBackend rows = choose_rows(options, choice.backend, launch);
  if (choice.backend == CommBackend::kSelf) {
    if (launch.size > 1)
      fail_on_all_ranks(launch, ErrorKind::kUsage,
                        "communication by self is for one rank, and " + std::to_string(launch.size) + " were started",
                        Topic::kCommBackend);
    return make_self_communicator();
  }
  if (choice.backend == CommBackend::kNccl) {
    if (!options.is_data_on_gpu)
      fail_on_all_ranks(launch, ErrorKind::kUsage, "NCCL needs data on GPUs, and this run computes on CPUs",
                        Topic::kCommBackend);
    auto control = launch.size > 1 ? make_mpi_communicator(launch, options.timeout_seconds) : make_self_communicator();
    return make_nccl_communicator(std::move(control), options.timeout_seconds, rows);
  }
  auto host = make_mpi_communicator(launch, options.timeout_seconds);
  return options.is_data_on_gpu ? make_staged_communicator(std::move(host)) : std::move(host);
}

}  // namespace

std::unique_ptr<Communicator> make_communicator(const CommunicatorOptions& options, const Launch& launch) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing writes the environment
  const std::string problem = lone_rank_problem(launch, [](const char* name) { return std::getenv(name); });
  const bool may_be_alone = !launch.has_mpi;  // whether a single rank is an answer
  if (!problem.empty() && !(may_be_alone && options.wanted == CommBackend::kSelf))
    fail(ErrorKind::kUsage, problem, may_be_alone ? Topic::kCommBackend : Topic::kNone);
  const Choice choice = choose(options, launch);
  auto comm = make(choice, options, launch);
  if (launch.rank == 0 && (launch.size > 1 || options.wanted.has_value())) {
    const auto counted = [](int n, const char* noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); };
    log_info("communication: " + std::string(comm->name()) + " between " + counted(launch.size, "rank") + " on " +
             counted(launch.num_hosts, "host") + " (" + choice.why + ")" +
             (options.moves_rows ? "; feature rows by " + std::string(comm->rows().name()) : ""));
  }
  return comm;
}

}  // namespace salient
