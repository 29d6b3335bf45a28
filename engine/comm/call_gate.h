// engine/comm/call_gate.h - whether a thread is inside a call, for another thread that must not free what it uses.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace salient {

/// Threads: any.
class CallGate {
 public:
  void enter() {
    const std::lock_guard lock(mutex_);
    is_inside_ = true;
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    is_inside_ = false;
    left_.notify_all();
  }

  /// Blocks while a call goes on. @return false if it still does when the time is over
  bool wait_until_left(std::chrono::duration<double> limit) {
    std::unique_lock lock(mutex_);
    return left_.wait_for(lock, limit, [this] { return !is_inside_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  bool is_inside_ = false;
};

}  // namespace salient
