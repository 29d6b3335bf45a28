// engine/comm/nccl_watch.h - one NCCL communicator and the thread that notices when it is stuck.
#pragma once

#include <nccl.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/cuda/cuda.h"
#include "engine/comm/call_gate.h"
#include "engine/comm/stream_counter.h"

namespace salient {

/// NCCL's words for a failure, with what it knows beyond the status.
std::string nccl_problem(const char* call, ncclResult_t status);

struct NcclFailure {
  std::string what{};  ///< empty = none
  Topic topic = Topic::kNone;
};

/// Owns the communicator. A kernel that waits for a dead peer never ends, nor does a thread that waits for its stream,
/// and NCCL has no time-out: a thread looks ten times a second and aborts what is stuck.
///
/// The communicator is a blocking one: its calls enqueue and return. (A non-blocking one hands each call to a new
/// thread of NCCL's and is then polled until it has taken it: 100 us where a small all-reduce takes 10.) They can block
/// all the same, when the GPU's queue is full behind a dead peer or while NCCL connects; the watching thread sees that,
/// too.
///
/// Threads: one caller, which uses one stream; the watching thread makes no CUDA call but the abort.
class NcclWatch {
 public:
  /// @param comm  of the current device, blocking (the default).
  NcclWatch(ncclComm_t comm, double timeout_seconds);
  ~NcclWatch();  ///< finalizes if nothing failed, else aborts
  NcclWatch(const NcclWatch&) = delete;
  NcclWatch& operator=(const NcclWatch&) = delete;

  /// Calls enqueue(comm), and watches `stream` until what it enqueued is done.
  template <class Enqueue>
  NcclFailure watch(cudaStream_t stream, Enqueue&& enqueue) {
    const ncclComm_t comm = begin_call();
    if (comm == nullptr) return reason_or_cancelled();
    const ncclResult_t status = enqueue(comm);
    gate_->leave();
    if (status == ncclSuccess) num_done_.set_when_done(num_enqueued_ + 1, stream);
    return end_call(status);
  }

  /// Calls of watch() that have enqueued, and how many of these are done. The former on the caller's thread only.
  std::uint32_t num_enqueued() const { return num_enqueued_; }
  std::uint32_t num_done() const { return num_done_.value(); }

  /// [1] pinned: not 0 once NCCL's work was aborted, for kernels that wait for other ranks without NCCL.
  const std::uint32_t* is_given_up() const { return is_given_up_.get(); }

  /// What the watching thread found. Once the caller knows, the thread does not end the process.
  NcclFailure failure();

  /// Ends NCCL's kernels on this GPU, and those that look at is_given_up(), unfinished.
  void abort() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  ncclComm_t begin_call();
  NcclFailure end_call(ncclResult_t status);
  NcclFailure reason_or_cancelled();
  ncclComm_t give_up();                   // under the mutex; what is to be aborted
  void run(const std::stop_token& stop);  // the thread
  NcclFailure problem();                  // one look

  const std::chrono::duration<double> timeout_;
  int device_ = 0;
  StreamCounter num_done_;
  const PinnedArray<std::uint32_t> is_given_up_ = make_pinned_array<std::uint32_t>(1);
  std::mutex mutex_;
  ncclComm_t comm_;                                                      // null once aborted
  std::optional<Clock::time_point> call_began_;                          // while the caller is inside NCCL
  const std::shared_ptr<CallGate> gate_ = std::make_shared<CallGate>();  // an abort that is left behind has it, too
  std::uint32_t num_enqueued_ = 0, last_num_done_ = 0;
  Clock::time_point last_progress_ = Clock::now();
  NcclFailure failure_;
  bool is_failure_known_ = false;  // to the caller
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace salient
