// engine/comm/mpi_progress.cpp - see mpi_progress.h.
#include "engine/comm/mpi_progress.h"

#include <algorithm>
#include <chrono>

#include "engine/comm/mpi_call.h"

namespace salient {
namespace {

constexpr auto kLookEvery = std::chrono::microseconds(250);

/// Leaves the request to its owner, who also finds out what failed.
/// @param request  a reference: its owner may complete and change it until it is this thread's turn
bool is_over(const MPI_Request& request) {
  const std::unique_lock turn(mpi_turn(), std::try_to_lock);
  if (!turn.owns_lock()) return false;  // the other thread inside MPI moves the messages
  int flag = 0;
  return MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
}

}  // namespace

MpiProgress::MpiProgress() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

void MpiProgress::add(std::span<MPI_Request> requests) {
  if (requests.empty()) return;
  const std::lock_guard lock(mutex_);
  under_way_.push_back(requests);
  added_.notify_one();
}

void MpiProgress::remove(std::span<MPI_Request> requests) {
  const std::lock_guard lock(mutex_);
  std::erase_if(under_way_, [&](std::span<MPI_Request> other) { return other.data() == requests.data(); });
}

void MpiProgress::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (added_.wait(lock, stop, [this] { return !under_way_.empty(); }) && !stop.stop_requested()) {
    if (std::ranges::all_of(under_way_.front(), is_over)) {
      under_way_.pop_front();
      continue;
    }
    lock.unlock();
    std::this_thread::sleep_for(kLookEvery);
    lock.lock();
  }
}

}  // namespace salient
