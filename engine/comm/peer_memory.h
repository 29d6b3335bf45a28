// engine/comm/peer_memory.h - memory in the GPU of every rank of a host, for kernels of all of them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/cuda/cuda.h"
#include "engine/comm/communicator.h"

namespace salient {

/// By CUDA's interprocess handles.
class PeerMemory {
 public:
  /// `bytes` of zeros on every rank's current device. Collective over `control`.
  /// @return null, on all ranks, where one of them cannot address another's: they are on several hosts, or their GPUs
  ///         have no access to each other
  static std::unique_ptr<PeerMemory> make(Communicator& control, std::size_t bytes);

  std::size_t bytes() const { return bytes_; }
  /// [ranks] as this rank addresses them.
  std::span<std::byte* const> of_ranks() const { return of_ranks_; }
  /// Lets go of the other ranks' memory, which no work in flight uses. Their own goes when all have done so.
  void close() noexcept { others_.clear(); }

 private:
  struct Close {
    void operator()(std::byte* memory) const noexcept { (void)cudaIpcCloseMemHandle(memory); }
  };
  PeerMemory(std::size_t bytes, DeviceArray<std::byte> own) : bytes_(bytes), own_(std::move(own)) {}
  bool open(std::size_t rank, const cudaIpcMemHandle_t& handle);

  const std::size_t bytes_;
  const DeviceArray<std::byte> own_;
  std::vector<std::unique_ptr<std::byte, Close>> others_;
  std::vector<std::byte*> of_ranks_;
};

}  // namespace salient
