// core/host/threads.cpp - see threads.h.
#include "core/host/threads.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

namespace salient {

namespace {

std::ptrdiff_t num_threads_now() {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  return std::distance(begin(tasks), end(tasks));
}

void start_and_end(int count) {
  std::mutex mutex;
  std::condition_variable_any over;
  std::vector<std::jthread> threads;  // asked to stop and joined at the end, or when one of them is refused
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&](const std::stop_token& stop) {
      std::unique_lock lock(mutex);
      (void)over.wait(lock, stop, [] { return false; });
    });
}

}  // namespace

void require_threads(int count) {
  const std::ptrdiff_t before = num_threads_now();
  start_and_end(count);
  // The kernel counts a thread for a moment longer than join() waits.
  for (int look = 0; look < 1000 && num_threads_now() > before; ++look)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void run_on_threads(int count, const std::function<void(int)>& work) {
  enum Word { kWait, kBegin, kLeave };
  std::atomic<Word> word = kWait;
  const auto say = [&](Word said) {
    word = said;
    word.notify_all();
  };
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  {
    std::vector<std::jthread> threads;
    threads.reserve(failures.size());
    try {
      for (int t = 0; t < count; ++t)
        threads.emplace_back([&, t] {
          word.wait(kWait);
          if (word == kLeave) return;
          try {
            work(t);
          } catch (...) {
            failures[static_cast<std::size_t>(t)] = std::current_exception();
          }
        });
    } catch (...) {
      say(kLeave);
      throw;
    }
    say(kBegin);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

void set_thread_stacks() noexcept {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  std::size_t bytes = 0;
  (void)pthread_attr_getstacksize(&attributes, &bytes);
  (void)pthread_attr_setstacksize(&attributes, std::max(bytes, kBytes));
  (void)pthread_setattr_default_np(&attributes);
  (void)pthread_attr_destroy(&attributes);
}

}  // namespace salient
