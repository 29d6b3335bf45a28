// sampler/batch_sampler.cpp - see batch_sampler.h.
#include "sampler/batch_sampler.h"

#include <algorithm>

namespace salient {

const MfgShape& HostBatchSampler::sample(std::span<const NodeId> seeds, BatchKey key) {
  sampler_.sample(seeds, key, mfg_);
  set_shape(mfg_, shape_);
  return shape_;
}

void HostBatchSampler::copy_to(const MfgMemory& memory) {
  std::ranges::copy(mfg_.nodes, memory.nodes);
  if (memory.degrees != nullptr) read_degrees(graph_, mfg_.nodes, memory.degrees);
  for (std::size_t h = 0; h < mfg_.hops.size(); ++h) {
    std::ranges::copy(mfg_.hops[h].indptr, memory.hops[h].indptr);
    std::ranges::copy(mfg_.hops[h].indices, memory.hops[h].indices);
  }
}

}  // namespace salient
