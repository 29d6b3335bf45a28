// core/host/threads.cpp - see threads.h.
#include "core/host/threads.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
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

}  // namespace salient
