// engine/comm/make_communicator.h - picks the back end that fits this run, and logs which and why.
#pragma once

#include <memory>
#include <optional>

#include "engine/comm/comm_options.h"
#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"

namespace salient {

struct CommunicatorOptions {
  std::optional<CommBackend> wanted{};
  double timeout_seconds = 300;  ///< for other ranks to answer
  bool is_data_on_gpu = false;   ///< the data of all_reduce_sum(float) is on the current device
  bool moves_rows = false;       ///< feature rows are partitioned
  std::optional<RowBackend> rows{};
};

/// Collective. auto: self for one rank, nccl when the data is on GPUs, else mpi. On GPUs, mpi copies through the host.
/// Rows move as the data does, or by mpi where that is chosen. Logs the choice, on rank 0.
///
/// @throws Error{kUsage} when the choice is not possible, when this is one of several processes that MPI does not know
///         of, or when two ranks share a GPU under nccl; kComm.
std::unique_ptr<Communicator> make_communicator(const CommunicatorOptions& options, const Launch& launch);

}  // namespace salient
