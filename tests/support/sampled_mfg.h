// tests/support/sampled_mfg.h - what a BatchSampler gives, as vectors that can be compared with the reference's.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sampler/batch_sampler.h"

namespace salient::test {

inline Mfg sample_with(BatchSampler& sampler, std::span<const NodeId> seeds, BatchKey key) {
  const MfgShape shape = sampler.sample(seeds, key);
  Mfg mfg;
  mfg.nodes.resize(static_cast<std::size_t>(shape.num_nodes));
  mfg.hops.resize(shape.hops.size());
  std::vector<MfgMemory::Hop> memory;
  for (std::size_t h = 0; h < shape.hops.size(); ++h) {
    MfgHop& hop = mfg.hops[h];
    hop.num_dst = shape.hops[h].num_dst;
    hop.num_src = shape.hops[h].num_src;
    hop.indptr.resize(static_cast<std::size_t>(hop.num_dst) + 1);
    hop.indices.resize(static_cast<std::size_t>(shape.hops[h].num_edges));
    memory.push_back({hop.indptr.data(), hop.indices.data()});
  }
  sampler.copy_to({mfg.nodes.data(), memory});
  return mfg;
}

}  // namespace salient::test
