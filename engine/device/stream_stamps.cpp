// engine/device/stream_stamps.cpp - time stamps along a stream: events, of which the driver keeps the times.
#include <vector>

#include "core/cuda/cuda.h"
#include "engine/device/time_stamps.h"

namespace salient {
namespace {

/// The times are taken beside the stream: an event with a time holds up what comes behind it for some microseconds.
class StreamStamps final : public TimeStamps {
 public:
  explicit StreamStamps(CUstream_st* stream) : stream_(stream) {}

  void clear() override { used_ = 0; }
  void add() override {
    if (used_ == events_.size()) events_.emplace_back(CudaEvent::Kind::kStamp);
    passed_.record(stream_);
    passed_.make_wait(beside_.get());
    events_[used_++].record(beside_.get());
  }
  double seconds_before(std::size_t index) const override {
    events_[index].wait();
    return events_[index].seconds_since(events_[index - 1]);
  }

 private:
  CUstream_st* stream_;
  CudaStream beside_;
  CudaEvent passed_{CudaEvent::Kind::kOrder};
  std::size_t used_ = 0;
  std::vector<CudaEvent> events_;  // the first `used_` are of this epoch
};

}  // namespace

std::unique_ptr<TimeStamps> make_stream_stamps(CUstream_st* stream) { return std::make_unique<StreamStamps>(stream); }

}  // namespace salient
