// engine/comm/nccl_messages.h - messages between ranks by NCCL, which move while nobody waits for them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/cuda/cuda.h"
#include "engine/comm/communicator.h"
#include "engine/comm/nccl_watch.h"

namespace salient {

/// A NCCL communicator and a stream of their own, so that neither sums of gradients nor a step's kernels wait for
/// messages. The memory is pinned host memory. As with gradients, a thread watches the progress, and Transfer::wait()
/// throws what it found.
class NcclMessages final : public Messages {
 public:
  /// Collective; the ranks are connected when it returns.
  /// @param control  outlives this
  /// @throws as start_nccl()
  NcclMessages(Communicator& control, double timeout_seconds);

  std::string_view name() const override { return "nccl"; }
  std::unique_ptr<Transfer> transfer(std::span<const std::span<const std::byte>> out,
                                     std::span<const std::span<std::byte>> in) override;

  /// Ends what is on its way, unfinished.
  void abort() noexcept { nccl_.abort(); }

 private:
  class Started;
  void connect();
  void wait_for(std::uint32_t number);
  void end_if(const NcclFailure& failure);

  Communicator& control_;
  NcclWatch nccl_;
  CudaStream stream_;
};

}  // namespace salient
