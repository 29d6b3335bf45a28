// core/timer.h - wall-clock seconds since a start.
#pragma once

#include <chrono>
#include <utility>

namespace salient {

class Timer {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  /// Seconds since the start or the last lap; starts the next lap.
  double lap() {
    const auto now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace salient
