// models/resident/seed_batch.cuh - the beginning of a tree, as the first threads of a launch write it.
#pragma once

#include "models/resident/seed_batch.h"

namespace salient {

/// The header, the number of seeds, and the edges of the batch before. @param thread  of the launch, with num_hops
__device__ inline void begin_tree(const SeedBatch& batch, std::uint32_t num_seeds, const TreeStart& tree,
                                  std::uint32_t thread) {
  if (thread == 0) {
    *tree.header = batch.header;
    tree.header->num_seeds = num_seeds;
    *tree.num_seeds = static_cast<LocalId>(num_seeds);
  }
  if (thread < tree.num_hops) {
    tree.num_edges[tree.num_hops + thread] += tree.num_edges[thread];
    tree.num_edges[thread] = 0;
  }
}

}  // namespace salient
