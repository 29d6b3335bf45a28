// apps/serve/rare_warning.h - a warning that clients can cause as often as they like, as a few lines of a log.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

namespace salient::serve {

/// Threads: any.
class RareWarning {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RareWarning(Clock::duration interval) : interval_(interval) {}

  /// @return what to say now, if the last line is an interval old: `what`, and how many were left out since
  std::optional<std::string> line(const std::string& what, Clock::time_point now = Clock::now());

 private:
  const Clock::duration interval_;
  std::mutex mutex_;
  std::optional<Clock::time_point> last_{};
  std::size_t num_left_out_ = 0;
};

}  // namespace salient::serve
