// engine/device/host_stamps.cpp - time stamps of the host's clock.
#include <chrono>
#include <vector>

#include "engine/device/time_stamps.h"

namespace salient {
namespace {

class HostStamps final : public TimeStamps {
 public:
  void clear() override { stamps_.clear(); }
  void add() override { stamps_.push_back(std::chrono::steady_clock::now()); }
  double seconds_before(std::size_t index) const override {
    return std::chrono::duration<double>(stamps_[index] - stamps_[index - 1]).count();
  }

 private:
  std::vector<std::chrono::steady_clock::time_point> stamps_;
};

}  // namespace

std::unique_ptr<TimeStamps> make_host_stamps() { return std::make_unique<HostStamps>(); }

}  // namespace salient
