// loaders/device_ring.h - the GPU's side of the batch loader: slabs on the device, one copy stream, and the events that
// protect both. Needs no CUDA toolkit to include.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "loaders/batch.h"
#include "loaders/host_slab.h"
#include "loaders/residency.h"

struct CUstream_st;

namespace salient {

/// Batch b is made in pinned slab b mod num_host_slabs and is copied to device slab b mod num_device_slabs.
///
///   pinned slab:  worker writes -> copy reads it -> `copied` -> the next worker waits for that event, then writes
///   device slab:  copy waits for `computed` of its last user -> copy writes -> consumer's stream waits for `copied`
///                 -> compute reads -> `computed` is recorded on the consumer's stream
///
/// The host waits for the GPU in one place only, wait_until_copied(), and sleeps there.
class DeviceRing : public PagePinner {
 public:
  /// Blocks until the last copy out of pinned slab `host_slab` is over. Called by the worker that is to refill it.
  virtual void wait_until_copied(std::size_t host_slab) = 0;

  /// Enqueues the one copy of batch `batch`, and behind it the gather of x if that is the device's; returns the batch's
  /// device memory. Calls come one at a time, in order of batches, each after end_use() of batch - num_device_slabs.
  /// @param data  [layout.prepared_bytes] pinned
  virtual std::byte* copy(std::size_t batch, const std::byte* data, const BatchLayout& layout) = 0;

  /// What follows on `stream` sees the batch. Consumer's thread.
  virtual void begin_use(std::size_t batch, CUstream_st* stream) = 0;

  /// What was enqueued on `stream` until now is all that reads the batch. Consumer's thread.
  virtual void end_use(std::size_t batch, CUstream_st* stream) = 0;

  /// Begins an epoch, when no worker is active: batch numbers and the sum of transfer seconds start at 0 again.
  virtual void start_epoch() = 0;

  /// Blocks until no copy reads a pinned slab, so that they may go. For destructors: errors are dropped.
  virtual void quiesce() noexcept = 0;

  /// Seconds that the copies of this epoch, and gathers on the device, took on the copy stream. Waits for those not yet
  /// over. Consumer's thread, when no worker is active.
  virtual double transfer_seconds() = 0;
};

/// On the current device. @throws Error{kNoDevice} in a CPU build.
///
/// @param data  with the rows in device memory, for batches laid out with Residency::kDevice or kCached; outlive the
///              ring.
std::unique_ptr<DeviceRing> make_device_ring(std::size_t num_host_slabs, std::size_t num_device_slabs,
                                             const ResidentView& data = {});

}  // namespace salient
