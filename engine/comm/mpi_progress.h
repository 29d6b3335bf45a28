// engine/comm/mpi_progress.h - moves messages while the thread that started them computes.
#pragma once

#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>

namespace salient {

/// MPI may move a message only while some thread is inside it: a large one over TCP takes several turns, each of which
/// would wait for the next call. A thread looks at what is under way, sleeps in between, and waits asleep where nothing
/// is (docs/decisions/0020-feature-rows-over-hosts.md).
///
/// Threads: one caller, and its own.
class MpiProgress {
 public:
  MpiProgress();
  MpiProgress(const MpiProgress&) = delete;
  MpiProgress& operator=(const MpiProgress&) = delete;
  ~MpiProgress() = default;  // ends the thread

  /// @param requests  stay where they are until remove(); they are completed by the caller, not here.
  void add(std::span<MPI_Request> requests);
  void remove(std::span<MPI_Request> requests);

 private:
  void run(const std::stop_token& stop);  // the thread

  std::mutex mutex_;
  std::condition_variable_any added_;
  std::deque<std::span<MPI_Request>> under_way_;
  std::jthread thread_;
};

}  // namespace salient
