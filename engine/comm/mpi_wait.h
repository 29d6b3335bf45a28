// engine/comm/mpi_wait.h - waiting for MPI without using a core, and which ranks are missing after a time-out.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"

namespace salient {

/// Completes MPI requests. Between tests it yields, then sleeps, for 20 us at first and up to 250 us: MPI makes
/// progress only when it is called, and its own blocking calls spin and have no time-out
/// (docs/decisions/0003-waiting-in-mpi.md).
///
/// Threads: the one that started MPI.
class MpiWait {
 public:
  /// @param roll   for the roll call and nothing else; lives as long as MPI.
  /// @param hosts  of all its ranks, for messages.
  MpiWait(MPI_Comm roll, int rank, std::vector<std::string> hosts, double timeout_seconds);

  /// Blocks until all requests are done.
  ///
  /// @throws RankError{kComm} when the time is over on this rank or on another one. The ranks that still wait then call
  ///         the roll, and the lowest of them logs which ranks did not answer. Error{kComm} when MPI fails.
  void operator()(std::span<MPI_Request> requests);
  /// The same for anything else: blocks until is_done() holds.
  void until(const std::function<bool()>& is_done);
  void operator()(MPI_Request& request) { (*this)(std::span<MPI_Request>(&request, 1)); }

  /// As Communicator::give_up().
  [[noreturn]] void give_up(const std::string& why, Topic topic);

 private:
  std::vector<bool> call_the_roll();

  int rank_;
  std::vector<std::string> hosts_;
  double timeout_seconds_;
  MPI_Comm roll_;
};

}  // namespace salient
