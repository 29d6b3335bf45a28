// core/bounded_queue.h - fixed-capacity queue between two stages. It blocks and never polls.
//
// By hand: oneTBB's bounded queue cannot be closed, nor end with an error.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "core/error.h"

namespace salient {

/// Any number of producers and consumers. A stage stops because its queue was closed, not because a flag was set:
/// closing wakes everybody, and what was pushed before is still delivered.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {
    require(capacity >= 1, "a queue holds at least one item");
  }

  /// Blocks while the queue is full. Returns false, and drops `item`, once the queue is closed.
  [[nodiscard]] bool push(T item) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    lock.unlock();
    not_empty_.notify_one();
    return true;
  }

  /// Blocks while the queue is empty and open. After the last item of a closed queue: nullopt, or, at every call,
  /// the error that close() was given.
  [[nodiscard]] std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return std::nullopt;
    }
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    not_full_.notify_one();
    return item;
  }

  /// Ends the stream; a worker that failed passes std::current_exception(). The first call decides.
  void close(std::exception_ptr error = nullptr) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      closed_ = true;
      error_ = std::move(error);
    }
    not_full_.notify_all();
    not_empty_.notify_all();
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<T> items_;
  std::exception_ptr error_;
  bool closed_ = false;
};

}  // namespace salient
