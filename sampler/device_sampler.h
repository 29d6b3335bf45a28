// sampler/device_sampler.h - multi-hop neighbour sampling on the GPU, of plain and typed graphs. In a CUDA build only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sampler/batch_sampler.h"
#include "sampler/device_hop.h"

namespace salient {

/// By which times seeds see the graph.
struct SeedTimes {
  TimeRule rule{};
  std::span<const std::int64_t> of_nodes{};  ///< [V] in host memory: when each node is a seed
};

/// Samples on the current device, on a stream of its own; the caller's thread sleeps meanwhile. Results are those of
/// NeighborSampler to the last bit, as both draw from Draws and number nodes by first sight.
///
/// It holds one batch's scratch memory on the device: 40 to 70 bytes per destination and entry of the largest hop. Make
/// few and keep them; the first batches grow the buffers, later ones allocate nothing.
class DeviceSampler final : public BatchSampler {
 public:
  /// @param graph  device memory, outlives the sampler. The rest as NeighborSampler.
  /// @param slots  of a typed graph, in host memory; outlives the sampler
  /// @param times  of a plain graph whose entries have times: as TemporalBatchSampler, whose results these are then
  DeviceSampler(const DeviceValuedCsr& graph, SamplingRule rule, const SlotTable* slots = nullptr,
                const std::optional<SeedTimes>& times = {});
  ~DeviceSampler() override;
  DeviceSampler(const DeviceSampler&) = delete;
  DeviceSampler& operator=(const DeviceSampler&) = delete;

  /// As NeighborSampler::sample(). Waits for the device twice per hop, as sizes decide what is launched next; of typed
  /// graphs once more.
  /// @throws also Error{kDeviceMemory}
  /// Cost:    about ten launches per hop; bound by random reads of device memory, see device_hop.cu.
  /// Oracle:  reference_sample(), reference_temporal_sample(), reference_excluding_sample().
  const MfgShape& sample(std::span<const NodeId> seeds, BatchKey key) override;

  /// Results are those of ExcludingSampler. Of a graph whose rows ascend by neighbour.
  void leave_out(const std::vector<EntryKey>* entries) override;

  /// @param memory  pinned is several times faster. No degrees of a graph whose entries have times
  void copy_to(const MfgMemory& memory) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
