// apps/serve/rare_warning.cpp - see rare_warning.h.
#include "apps/serve/rare_warning.h"

#include <utility>

namespace salient::serve {

std::optional<std::string> RareWarning::line(const std::string& what, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (last_ && now - *last_ < interval_) {
    ++num_left_out_;
    return std::nullopt;
  }
  last_ = now;
  const std::size_t count = std::exchange(num_left_out_, 0);
  return count == 0 ? what : what + " (and " + std::to_string(count) + " more since the last such line)";
}

}  // namespace salient::serve
