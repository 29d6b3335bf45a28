// engine/comm/mpi_wait.cpp - see mpi_wait.h.
#include "engine/comm/mpi_wait.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "core/timer.h"
#include "engine/comm/launch.h"
#include "engine/comm/mpi_call.h"

namespace salient {
namespace {

constexpr int kLooksBeforeSleep = 50;
constexpr double kRollCallSeconds = 2;

bool has_message(MPI_Comm comm) {
  int flag = 0;
  mpi_check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
  return flag != 0;
}

}  // namespace

MpiWait::MpiWait(MPI_Comm roll, int rank, std::vector<std::string> hosts, double timeout_seconds)
    : rank_(rank), hosts_(std::move(hosts)), timeout_seconds_(timeout_seconds), roll_(roll) {}

void MpiWait::operator()(std::span<MPI_Request> requests) {
  until([requests] {
    int done = 0;
    mpi_check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    return done != 0;
  });
}

void MpiWait::until(const std::function<bool()>& is_done) {
  const Timer timer;
  auto pause = std::chrono::microseconds(20);
  for (int look = 0; !is_done(); ++look) {
    if (look < kLooksBeforeSleep) {
      (void)sched_yield();
      continue;
    }
    if (timer.seconds() > timeout_seconds_ || has_message(roll_))
      give_up("ranks waited " + std::to_string(std::lround(timeout_seconds_)) + " s for others", Topic::kCommTimeout);
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(250));
  }
}

/// @return [ranks] whether it answered; true for this rank
std::vector<bool> MpiWait::call_the_roll() {
  std::vector<bool> is_present(hosts_.size(), false);
  is_present[static_cast<std::size_t>(rank_)] = true;
  static const char here = 1;
  for (int other = 0; other < static_cast<int>(hosts_.size()); ++other) {
    MPI_Request request =
        MPI_REQUEST_NULL;  // never completed: a dead rank takes no message, and this process ends soon
    if (other != rank_) mpi_check(MPI_Isend(&here, 1, MPI_CHAR, other, 0, roll_, &request), "MPI_Isend");
  }
  for (const Timer timer; timer.seconds() < kRollCallSeconds;) {
    if (!has_message(roll_)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    char byte = 0;
    MPI_Status status{};
    mpi_check(MPI_Recv(&byte, 1, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, roll_, &status), "MPI_Recv");
    is_present[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
  }
  return is_present;
}

void MpiWait::give_up(const std::string& why, Topic topic) {
  const std::vector<bool> is_present = call_the_roll();
  std::string silent;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank)
    if (!is_present[rank])
      silent.append(silent.empty() ? "rank " : ", rank ")
          .append(std::to_string(rank))
          .append(" on ")
          .append(hosts_[rank]);
  const bool logs_here = std::ranges::find(is_present, true) == is_present.begin() + rank_;
  throw RankError(ErrorKind::kComm,
                  why + (silent.empty() ? "; all ranks are alive, but wait in different places"
                                        : "; no answer from " + silent + ": stopped, hanging, or cut off"),
                  RankError::Known::kToOneLogger, logs_here, topic);
}

}  // namespace salient
