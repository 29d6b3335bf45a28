// engine/comm/nccl_watch.h - one NCCL communicator and the thread that notices when it is stuck.
#pragma once

#include <nccl.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/cuda/cuda.h"

namespace salient {

/// Owns the communicator. A kernel that waits for a dead peer never ends, and who waits for its stream neither; NCCL can
/// only be asked, so a thread asks it ten times a second.
///
/// Threads: one caller; the watching thread only reads state and aborts.
class NcclWatch {
 public:
  /// @param comm  created non-blocking on the current device, possibly not ready yet.
  NcclWatch(ncclComm_t comm, double timeout_seconds);
  ~NcclWatch();  ///< in order if nothing failed, else aborts
  NcclWatch(const NcclWatch&) = delete;
  NcclWatch& operator=(const NcclWatch&) = delete;

  /// Calls enqueue(comm), waits until NCCL has taken it, and watches `stream` until it is done.
  /// @return why it failed; empty = it did not
  template <class Enqueue>
  std::string watch(cudaStream_t stream, Enqueue&& enqueue) {
    const std::lock_guard lock(mutex_);
    if (comm_ == nullptr) return reason_or_cancelled();
    if (std::string problem = settle(enqueue(comm_)); !problem.empty()) return problem;
    CudaEvent event = spare_.empty() ? CudaEvent(CudaEvent::Kind::kOrder) : std::move(spare_.back());
    if (!spare_.empty()) spare_.pop_back();
    event.record(stream);
    if (in_flight_.empty()) last_progress_ = Clock::now();
    in_flight_.push_back(std::move(event));
    return {};
  }

  /// Waits until the communicator is ready. @return as watch()
  std::string wait_until_ready();

  /// What the watching thread found; empty = nothing. Whoever asks takes over: the thread no longer ends the process.
  std::string failure();

  void abort() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  void run(const std::stop_token& stop);  // the thread
  void look();                            // once
  std::string settle(ncclResult_t status);
  std::string reason_or_cancelled() const { return failure_.empty() ? "NCCL was cancelled on this rank" : failure_; }
  void abort_locked() noexcept;

  const std::chrono::duration<double> timeout_;
  int device_ = 0;
  std::mutex mutex_;
  ncclComm_t comm_;                  // null once aborted
  std::deque<CudaEvent> in_flight_;  // oldest first
  std::vector<CudaEvent> spare_;
  Clock::time_point last_progress_ = Clock::now();
  std::string failure_;
  bool is_failure_known_ = false;  // to the caller
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace salient
