// loaders/release_gate.h - lets the pipeline wait until the consumer has given enough batches back.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace salient {

/// A count that only grows, and a way to wait for it. It blocks and never polls.
class ReleaseGate {
 public:
  /// Starts counting at 0 again. No thread may be waiting.
  void reset() {
    const std::lock_guard lock(mutex_);
    released_ = 0;
    closed_ = false;
  }

  /// One more batch was given back; they come back in order.
  void release() {
    {
      const std::lock_guard lock(mutex_);
      ++released_;
    }
    changed_.notify_all();
  }

  /// Ends every wait, now and later; the epoch has been given up.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  /// Blocks until `count` batches were given back. False once the gate is closed.
  [[nodiscard]] bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || released_ >= count; });
    return !closed_;
  }

  [[nodiscard]] bool is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t released_ = 0;
  bool closed_ = false;
};

}  // namespace salient
