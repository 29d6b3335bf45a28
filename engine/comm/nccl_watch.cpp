// engine/comm/nccl_watch.cpp - see nccl_watch.h.
#include "engine/comm/nccl_watch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace salient {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(100);
constexpr auto kGrace = std::chrono::seconds(10);  // for the caller to notice an abort

std::string text_of(ncclResult_t status, ncclComm_t comm) {
  std::string text = std::string("NCCL: ") + ncclGetErrorString(status);
  const char* details = ncclGetLastError(comm);
  return details == nullptr || *details == '\0' ? text : text.append(": ").append(details);
}

}  // namespace

NcclWatch::NcclWatch(ncclComm_t comm, double timeout_seconds) : timeout_(timeout_seconds), comm_(comm) {
  cuda_check(cudaGetDevice(&device_));
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

NcclWatch::~NcclWatch() {
  thread_.request_stop();
  wake_.notify_all();
  thread_.join();
  if (comm_ == nullptr) return;
  if (std::uncaught_exceptions() == 0 && settle(ncclCommFinalize(comm_)).empty()) {
    (void)ncclCommDestroy(comm_);
  } else {
    abort_locked();
  }
}

std::string NcclWatch::wait_until_ready() {
  const std::lock_guard lock(mutex_);
  return comm_ == nullptr ? reason_or_cancelled() : settle(ncclInProgress);
}

std::string NcclWatch::failure() {
  const std::lock_guard lock(mutex_);
  is_failure_known_ = true;
  return failure_;
}

void NcclWatch::abort() noexcept {
  const std::lock_guard lock(mutex_);
  abort_locked();
}

void NcclWatch::abort_locked() noexcept {
  if (comm_ == nullptr) return;
  (void)ncclCommAbort(std::exchange(comm_, nullptr));
}

/// Polls until the communicator has taken the last call; ncclInProgress says that it has not yet.
std::string NcclWatch::settle(ncclResult_t status) {
  const auto start = Clock::now();
  auto pause = std::chrono::microseconds(10);
  while (status == ncclInProgress) {
    if (Clock::now() - start > timeout_)
      return "NCCL was not ready for " + std::to_string(std::lround(timeout_.count())) + " s (--comm-timeout)";
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(1000));
    if (const ncclResult_t asked = ncclCommGetAsyncError(comm_, &status); asked != ncclSuccess) status = asked;
  }
  return status == ncclSuccess ? std::string() : text_of(status, comm_);
}

void NcclWatch::look() {
  if (comm_ == nullptr) return;
  while (!in_flight_.empty() && cudaEventQuery(in_flight_.front().get()) == cudaSuccess) {
    spare_.push_back(std::move(in_flight_.front()));
    in_flight_.pop_front();
    last_progress_ = Clock::now();
  }
  ncclResult_t status = ncclSuccess;
  if (const ncclResult_t asked = ncclCommGetAsyncError(comm_, &status); asked != ncclSuccess) status = asked;
  if (status != ncclSuccess && status != ncclInProgress) {
    failure_ = text_of(status, comm_);
  } else if (!in_flight_.empty() && Clock::now() - last_progress_ > timeout_) {
    failure_ = "an exchange between GPUs did not end in " + std::to_string(std::lround(timeout_.count())) +
               " s (--comm-timeout)";
  }
  if (!failure_.empty()) abort_locked();
}

void NcclWatch::run(const std::stop_token& stop) {
  (void)cudaSetDevice(device_);
  std::unique_lock lock(mutex_);
  while (failure_.empty()) {
    wake_.wait_for(lock, stop, kLookEvery, [] { return false; });
    if (stop.stop_requested()) return;
    look();
  }
  is_failure_known_ = false;
  wake_.wait_for(lock, stop, kGrace, [this] { return is_failure_known_; });
  if (stop.stop_requested() || is_failure_known_) return;
  std::fprintf(stderr, "error: %s\n", failure_.c_str());
  std::_Exit(static_cast<int>(ErrorKind::kComm));
}

}  // namespace salient
