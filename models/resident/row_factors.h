// models/resident/row_factors.h - what rows of a sum over neighbours are multiplied by.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "sampler/device_hop.h"

namespace salient {

/// The sum over the k kept entries j of node i, and the node itself. With d = entries of i in the whole graph:
enum class SumKind : std::uint8_t {
  kMean,       ///< h_j / k                                        models/sage_ri.h
  kRowMean,    ///< (h_j + h_i) / (k + 1)                          models/gcn.h, GcnNorm::kRow
  kSymmetric,  ///< h_j root_j * d / k * root_i + h_i own_i        models/gcn.h, GcnNorm::kSymmetric
  kPlain,      ///< h_j + (1 + eps) h_i                            models/gin.h, GinSum::kPlain
  kScaled,     ///< h_j d / k + (1 + eps) h_i                      models/gin.h, GinSum::kScaled
};

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
