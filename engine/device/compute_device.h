// engine/device/compute_device.h - where a model computes: the CPU, or one GPU and the stream of all its work.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/device_kind.h"
#include "engine/device/gpu.h"

struct CUstream_st;

namespace salient {

/// Value type. Chosen once per process, before the first tensor.
class ComputeDevice {
 public:
  /// @param wanted      none: a GPU when there is one
  /// @param local_rank  which GPU of this host, modulo their number.
  /// @param cpu_threads threads of LibTorch's own operators on a CPU; on a GPU the host needs one.
  /// @throws Error{kNoDevice} for kCuda without a usable GPU or in a CPU build.
  static ComputeDevice choose(std::optional<DeviceKind> wanted, int local_rank, int cpu_threads);

  c10::Device torch_device() const { return device_; }
  bool is_cuda() const { return device_.is_cuda(); }

  /// The stream that LibTorch's operators run on, for this thread; null on a CPU.
  CUstream_st* stream() const { return stream_; }

  /// Blocks until the stream has passed everything enqueued so far; nothing to do on a CPU.
  void wait() const;

  /// "cpu" or the GPU's name.
  std::string name() const;

  /// Device memory in use by this process' tensors at their peak; nullopt on a CPU.
  std::optional<std::int64_t> peak_bytes() const;

  /// Device memory now; nullopt on a CPU.
  using Memory = gpu::Memory;
  std::optional<Memory> memory() const;

  /// Of it what is free; nullopt on a CPU.
  std::optional<std::int64_t> free_bytes() const {
    const auto now = memory();
    return now ? std::optional(now->free_bytes) : std::nullopt;
  }

 private:
  ComputeDevice(c10::Device device, CUstream_st* stream) : device_(device), stream_(stream) {}
  c10::Device device_;
  CUstream_st* stream_;
};

/// While it lives, LibTorch operators that would make the host wait for the GPU throw instead: a training step holds
/// one, so that the rule "no host synchronisation inside a step" cannot be broken unnoticed. Has no effect on a CPU.
class NoHostWait {
 public:
  explicit NoHostWait(const ComputeDevice& device);
  ~NoHostWait();
  NoHostWait(const NoHostWait&) = delete;
  NoHostWait& operator=(const NoHostWait&) = delete;

 private:
  bool is_active_;
};

}  // namespace salient
