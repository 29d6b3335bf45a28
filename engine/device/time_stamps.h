// engine/device/time_stamps.h - moments of an epoch, by the host's clock or along a stream of the GPU.
#pragma once

#include <cstddef>
#include <memory>

struct CUstream_st;

namespace salient {

/// Adding a stamp never waits; reading one needs it to be passed.
class TimeStamps {
 public:
  TimeStamps() = default;
  virtual ~TimeStamps() = default;
  TimeStamps(const TimeStamps&) = delete;
  TimeStamps& operator=(const TimeStamps&) = delete;

  virtual void clear() = 0;
  virtual void add() = 0;

  /// From stamp `index` - 1 to stamp `index`. @param index  from 1
  virtual double seconds_before(std::size_t index) const = 0;
};

std::unique_ptr<TimeStamps> make_host_stamps();

/// Events on the stream, kept from epoch to epoch. In a CUDA build only. @param stream  outlives the stamps
std::unique_ptr<TimeStamps> make_stream_stamps(CUstream_st* stream);

}  // namespace salient
