// engine/device/stream_stamps.cpp - time stamps along a stream: events, of which the driver keeps the times.
#include <vector>

#include "core/cuda/cuda.h"
#include "engine/device/time_stamps.h"

namespace salient {
namespace {

class StreamStamps final : public TimeStamps {
 public:
  explicit StreamStamps(CUstream_st* stream) : stream_(stream) {}

  void clear() override { used_ = 0; }
  void add() override {
    if (used_ == events_.size()) events_.emplace_back(CudaEvent::Kind::kStamp);
    events_[used_++].record(stream_);
  }
  std::size_t size() const override { return used_; }
  double seconds_before(std::size_t index) const override { return events_[index].seconds_since(events_[index - 1]); }

 private:
  CUstream_st* stream_;
  std::size_t used_ = 0;
  std::vector<CudaEvent> events_;  // the first `used_` are of this epoch
};

}  // namespace

std::unique_ptr<TimeStamps> make_stream_stamps(CUstream_st* stream) { return std::make_unique<StreamStamps>(stream); }

}  // namespace salient
