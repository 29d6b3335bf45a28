// models/resident/row_factors.h - what rows of a sum over neighbours are multiplied by.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/describe/sum_kind.h"
#include "sampler/device_csr.h"

namespace salient {

/// Of a node in the whole graph. A self loop of the graph takes the place of the one that gcn adds.
struct NodeFactor {
  float root;  ///< 1 / sqrt(entries - self loops + 1)
  float own;   ///< root^2 * (1 - self loops)
};

/// Device memory.
struct SumRule {
  SumKind kind = SumKind::kMean;
  DeviceCsr graph{};
  const NodeFactor* factors = nullptr;  ///< [num_nodes] for kSymmetric
  const float* eps = nullptr;           ///< [1] for kPlain and kScaled
};

/// factors[v] of every node. @param graph  ascending rows. Enqueues and returns.
void find_node_factors(const DeviceCsr& graph, NodeFactor* factors, cudaStream_t stream);

}  // namespace salient
