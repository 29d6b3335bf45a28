// engine/comm/call_limit.h - a limit on calls of MPI that block and that nothing can give up: its start and its end.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/comm/launch.h"

namespace salient {

/// When the time is over and this is still there, the process ends with exit code 75 after one line on standard error;
/// the launcher then ends the other ranks. A rank that is stopped would else leave them waiting for ever.
///
/// Threads: one of its own, which makes no call of MPI.
class CallLimit {
 public:
  /// @param launch   rank, host, program and advice, for the line
  /// @param what     is limited: "the start of MPI"
  /// @param seconds  0 = no limit. Higher ranks wait up to 10 s longer, so that one line is printed and not all.
  CallLimit(const Launch& launch, const char* what, double seconds);
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
  ~CallLimit() = default;  // wakes the thread and joins it

 private:
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread watch_;
};

}  // namespace salient
