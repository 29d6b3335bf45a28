// workbench/referee/process_clock.h - what the kernel says of a child process, read by its parent: out of the child's
// reach.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <string>
#include <vector>

namespace salient::workbench {

/// Of a process since its start, but for `wall`.
struct ProcessTimes {
  double wall = 0;    ///< seconds of this process' steady clock
  double cpu = 0;     ///< seconds of all its threads
  double queued = 0;  ///< seconds that its first thread could have run, but other work had the core
  long waits = 0;     ///< how often its first thread gave up the core: for a pipe, a lock, a sleep
  int threads = 0;
};

class ProcessClock {
 public:
  explicit ProcessClock(pid_t process) : process_(process) {}
  /// Zeros for a process that has ended. Reads two files of /proc, about 30 us.
  ProcessTimes read() const;

 private:
  pid_t process_;
};

/// A sample of a worker: from when the outputs of the one before were taken until its own were.
struct Usage {
  double cpu = 0;   ///< all that the process used, also before it was asked and behind its answer
  double away = 0;  ///< seconds between question and answer in which it neither had a core nor waited for one
  long waits = 0;   ///< one is for the next request
  int threads = 0;
};

/// Why the candidate's CPU time is not the work that it did, or "". Both have an element per sample.
///
/// It must have one thread, wait for nothing but requests, and not be away from the core for longer than the best
/// kernel is. `Spread`s are compared, so that a busy machine is no fault of a candidate.
std::string hidden_work(const std::vector<Usage>& candidate, const std::vector<Usage>& best);

}  // namespace salient::workbench
