// engine/comm/nccl_watch.cpp - see nccl_watch.h.
//
// Two threads and one communicator. The caller's calls on it and the watching thread's abort are ordered as follows:
//
//   1. The abort takes comm_ out under the mutex, and a call reads it under the same mutex: later calls get none.
//   2. A call that is inside NCCL at that moment keeps the pointer. ncclCommAbort does two things: it raises the flag
//      at which kernels and blocked calls end, and it frees the communicator. The first must happen while the call is
//      inside, because the call waits for it; the second must not. Inside an open group of NCCL's, ncclCommAbort raises
//      the flag at once and leaves the freeing to ncclGroupEnd (NCCL queues its commReclaim job there), so the group
//      ends when the call has left, as CallGate knows. A call that does not leave keeps its memory: the process is
//      about to end.
#include "engine/comm/nccl_watch.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <utility>

#include "core/printable.h"
#include "engine/comm/in_time.h"

namespace salient {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(100);
constexpr auto kGrace = std::chrono::seconds(10);  // for NCCL to abort, and for the caller to notice

/// Ends the work in flight, and frees the communicator once no call is inside NCCL. On the thread that calls it.
bool abort_then_free(ncclComm_t comm, int device, CallGate& gate) noexcept {
  (void)cudaSetDevice(device);
  (void)ncclGroupStart();
  (void)ncclCommAbort(comm);
  if (!gate.wait_until_left(kGrace)) return false;  // the group stays open, nothing is freed
  return ncclGroupEnd() == ncclSuccess;
}

/// NCCL's clean-up after an abort may hang: it is waited for no longer than kGrace.
void abort_nccl(ncclComm_t comm, int device, const std::shared_ptr<CallGate>& gate) noexcept {
  try {
    (void)in_time(kGrace, [comm, device, gate] { return abort_then_free(comm, device, *gate); });
  } catch (const std::system_error&) {  // the system has no thread left
    (void)abort_then_free(comm, device, *gate);
  }
}

}  // namespace

std::string nccl_problem(const char* call, ncclResult_t status) {
  std::string text = std::string(call) + ": " + ncclGetErrorString(status);
  const char* details = ncclGetLastError(nullptr);
  return details == nullptr || *details == '\0' ? text : text.append(": ").append(details);
}

NcclWatch::NcclWatch(ncclComm_t comm, double timeout_seconds) : timeout_(timeout_seconds), comm_(comm) {
  cuda_check(cudaGetDevice(&device_));
  is_given_up_[0] = 0;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

NcclWatch::~NcclWatch() {
  thread_.request_stop();
  wake_.notify_all();
  thread_.join();
  if (comm_ == nullptr) return;
  if (std::uncaught_exceptions() > 0) {
    abort();
    return;
  }
  (void)in_time(timeout_, [comm = comm_, device = device_] {  // waits for the peers
    (void)cudaSetDevice(device);
    (void)ncclCommFinalize(comm);
    return ncclCommDestroy(comm);
  });
}

NcclFailure NcclWatch::failure() {
  const std::lock_guard lock(mutex_);
  is_failure_known_ = true;
  return failure_;
}

ncclComm_t NcclWatch::give_up() {
  std::atomic_ref<std::uint32_t>(is_given_up_[0]).store(1);
  return std::exchange(comm_, nullptr);
}

void NcclWatch::abort() noexcept {
  std::unique_lock lock(mutex_);
  const ncclComm_t comm = give_up();
  lock.unlock();
  if (comm != nullptr) abort_nccl(comm, device_, gate_);
}

ncclComm_t NcclWatch::begin_call() {
  const std::lock_guard lock(mutex_);
  call_began_ = Clock::now();
  if (comm_ != nullptr) gate_->enter();  // under the mutex: an abort finds either no call, or this one inside
  return comm_;
}

NcclFailure NcclWatch::end_call(ncclResult_t status) {
  std::unique_lock lock(mutex_);
  if (last_num_done_ == num_enqueued_) last_progress_ = *call_began_;  // there was nothing to wait for until now
  call_began_.reset();
  if (status == ncclSuccess) ++num_enqueued_;
  const bool is_aborted = comm_ == nullptr;
  lock.unlock();
  if (is_aborted) return reason_or_cancelled();
  return status == ncclSuccess ? NcclFailure{} : NcclFailure{nccl_problem("NCCL", status)};
}

NcclFailure NcclWatch::reason_or_cancelled() {
  const std::lock_guard lock(mutex_);
  call_began_.reset();
  is_failure_known_ = true;
  return failure_.what.empty() ? NcclFailure{"NCCL was cancelled on this rank"} : failure_;
}

NcclFailure NcclWatch::problem() {
  if (comm_ == nullptr) return {};
  if (const std::uint32_t done = num_done_.value(); done != last_num_done_) {
    last_num_done_ = done;
    last_progress_ = Clock::now();
  }
  ncclResult_t status = ncclSuccess;
  if (const ncclResult_t asked = ncclCommGetAsyncError(comm_, &status); asked != ncclSuccess) status = asked;
  if (status != ncclSuccess && status != ncclInProgress) return {nccl_problem("NCCL", status)};
  const bool is_waiting = last_num_done_ != num_enqueued_ && Clock::now() - last_progress_ > timeout_;
  const bool is_blocked = call_began_.has_value() && Clock::now() - *call_began_ > timeout_;
  if (!is_waiting && !is_blocked) return {};
  return {"an exchange between GPUs did not end in " + std::to_string(std::lround(timeout_.count())) + " s",
          Topic::kCommTimeout};
}

void NcclWatch::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (failure_.what.empty()) {
    wake_.wait_for(lock, stop, kLookEvery, [] { return false; });
    if (stop.stop_requested()) return;
    failure_ = problem();
  }
  is_failure_known_ = false;
  const ncclComm_t stuck = give_up();
  lock.unlock();
  abort_nccl(stuck, device_, gate_);
  lock.lock();
  wake_.wait_for(lock, stop, kGrace, [this] { return is_failure_known_; });
  if (stop.stop_requested() || is_failure_known_) return;
  std::fprintf(stderr, "error: %s\n", printable(failure_.what).c_str());
  std::_Exit(static_cast<int>(ErrorKind::kComm));
}

}  // namespace salient
