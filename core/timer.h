// core/timer.h - wall-clock seconds since a start.
#pragma once

#include <chrono>

namespace salient {

class Timer {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace salient
