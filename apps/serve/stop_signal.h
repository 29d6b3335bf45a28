// apps/serve/stop_signal.h - SIGTERM and SIGINT as something to wait for.
#pragma once

namespace salient::serve {

/// From its construction on, those signals end no process, but the wait. One at a time in a process.
class StopSignal {
 public:
  StopSignal();   ///< @throws Error{kIo} without descriptors
  ~StopSignal();  ///< what the signals did before
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Sleeps until a signal has come.
  void wait() const;
};

}  // namespace salient::serve
