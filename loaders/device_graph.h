// loaders/device_graph.h - a data set's graph in GPU memory, to be sampled there. Needs no CUDA toolkit to include.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "core/growth.h"
#include "sampler/batch_sampler.h"

namespace salient {

class GraphTiers;
struct DeviceCsr;

/// Owns a copy of a graph on one GPU.
class DeviceGraph {
 public:
  /// Copies the graph to the current device, as DeviceFeatures does, with the weights and times of its entries. Blocks
  /// until done; shows progress.
  /// @param host  host memory, such as a file mapping; slots of a typed graph outlive this.
  /// @throws Error{kDeviceMemory} if it does not fit; Error{kNoDevice} in a CPU build.
  explicit DeviceGraph(CsrGraph host);

  /// The same of hot rows of a plain graph alone; cold ones are copied to pinned host memory, which the GPU reads by
  /// itself. Weights and times are all in GPU memory.
  /// @param tiers   of `host`
  /// @throws also Error{kHostMemory}
  DeviceGraph(CsrGraph host, const GraphTiers& tiers);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// A sampler on the graph's device; the graph outlives it.
  /// @param time        of a graph whose entries have times: of every seed's past alone
  /// @param node_times  then [V] in host memory: when each node is a seed; outlives the sampler
  std::unique_ptr<BatchSampler> make_sampler(SamplingRule rule, const std::optional<TimeRule>& time = {},
                                             std::span<const std::int64_t> node_times = {}) const;

  /// The copy, for kernels; of a graph whose rows ascend by neighbour, and so without times. In a CUDA build only.
  DeviceCsr csr() const;

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
};

/// GPU memory for the bounds of rows of a graph in tiers; entries come on top.
constexpr std::int64_t tiered_bounds_bytes(std::size_t num_nodes) {
  return static_cast<std::int64_t>((2 * num_nodes + 1) * sizeof(EdgeOffset));
}

/// The most bytes of scratch memory of a sampler whose largest hop has so many destinations and entries: 32 per item
/// for the hash table, 24 for other arrays, 12 more where nodes are seen at times. Of a typed graph 28 more, for lists
/// by type and wider ranks, and 64 for each of its rows: where it is, its entries, and the lists by relation.
/// @param num_slot_rows  of the hop; 0 of a plain graph
inline std::int64_t device_sampler_bytes(std::int64_t num_dst, std::int64_t num_edges, std::int64_t num_slot_rows = 0,
                                         bool has_times = false) {
  const std::int64_t per_item = 32 + 24 + (num_slot_rows > 0 ? 28 : 0) + (has_times ? 12 : 0);
  return with_growth((num_dst + num_edges) * per_item + num_slot_rows * 64);
}

}  // namespace salient
