// workbench/referee/worker.h - a child process that runs candidates: it may crash, hang or lie, the referee goes on.
//
// Forked, not started: the orders are made before the fork and need no serialisation; results come back through shared
// memory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "core/error.h"

namespace salient::workbench {

struct WorkerLimits {
  std::size_t memory_bytes = 0;  ///< of address space beyond what the parent has; 0 = no limit
  /// Candidates run in the worker's own process: it loads them without rights, runs them with hardly a system call (see
  /// system_calls.h), and what it says once one has run is not believed.
  bool is_sealed = false;
};

/// How one step ended.
struct Reply {
  enum class Kind { kOk, kError, kDied, kTimeout } kind = Kind::kOk;
  ErrorKind error = ErrorKind::kInternal;  ///< of kError; of a step of a sealed worker always this
  std::string text{};                      ///< why, one line; of a sealed worker printable and short
  int signal = 0;                          ///< of kDied, if it was one
};

/// One child. Its standard streams lead nowhere, its environment is empty, it dies with its parent.
///
/// Threads: the parent must have only one when it makes a worker.
class Worker {
 public:
  /// @param prepare  run first in the child; may throw   @param serve  run in the child once per step
  Worker(std::function<void()> prepare, std::function<void(std::size_t)> serve, WorkerLimits limits);
  ~Worker();  ///< kills the child
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Blocks until the child has prepared, at most `seconds`.
  Reply wait_until_ready(double seconds) { return receive(seconds); }
  /// Asks for serve(index), and blocks at most `seconds`. After kDied or kTimeout the child is gone; an answer that was
  /// written before the question is kDied.
  Reply run(std::size_t index, double seconds);

  pid_t process() const { return child_; }  ///< -1 when it is gone

 private:
  Reply receive(double seconds);
  Reply bury(Reply reply);

  pid_t child_ = -1;
  int to_child_ = -1, from_child_ = -1;
  bool is_sealed_ = false;
  std::uint64_t word_ = 0;  ///< of the last order, which its answer repeats: no candidate knows that of the next
};

}  // namespace salient::workbench
