// engine/comm/in_time.h - a call that may never return, with a limit on the wait for it.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>

namespace salient {

/// Runs `work` on a thread of its own. When the time is over, thread and call are left behind until the process ends.
///
/// @param work  owns what it uses, since it may outlive the caller; on a GPU it chooses the device itself.
/// @return its result; nothing if it did not return in time.   @throws what it threw.
template <class Work>
auto in_time(std::chrono::duration<double> limit, Work work) -> std::optional<decltype(work())> {
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  if (result.wait_for(limit) != std::future_status::ready) return std::nullopt;
  return result.get();
}

}  // namespace salient
