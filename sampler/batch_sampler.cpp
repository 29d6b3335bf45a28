// sampler/batch_sampler.cpp - see batch_sampler.h.
#include "sampler/batch_sampler.h"

#include <algorithm>

#include "core/error.h"

namespace salient {

const MfgShape& HostBatchSampler::sample(std::span<const NodeId> seeds, BatchKey key) {
  sampler_.sample(seeds, key, mfg_);
  set_shape(mfg_, shape_);
  if (graph_.slots != nullptr) types_.count(mfg_, *graph_.slots, shape_);
  return shape_;
}

void HostBatchSampler::copy_to(const MfgMemory& memory) {
  std::ranges::copy(mfg_.nodes, memory.nodes);
  require(memory.degrees == nullptr || graph_.slots == nullptr, "degrees are of the nodes of a plain graph");
  if (memory.degrees != nullptr) read_degrees(graph_, mfg_.nodes, memory.degrees);
  if (graph_.slots != nullptr) types_.copy_to(mfg_, shape_, memory.typed_hops, memory.nodes_of_type);
  for (std::size_t h = 0; h < mfg_.hops.size(); ++h) {
    std::ranges::copy(mfg_.hops[h].indptr, memory.hops[h].indptr);
    std::ranges::copy(mfg_.hops[h].indices, memory.hops[h].indices);
  }
}

}  // namespace salient
