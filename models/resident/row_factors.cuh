// models/resident/row_factors.cuh - row_factors.h for kernels.
#pragma once

#include "models/resident/row_factors.h"

namespace salient {

struct RowWeights {
  float around, own;
};

/// @param kept  entries that the hop kept of the node's row
__device__ inline RowWeights row_weights(const SumRule& rule, NodeId node, int kept) {
  const float share = kept == 0 ? 0.0f : 1.0f / static_cast<float>(kept);
  switch (rule.kind) {
    case SumKind::kMean: return {share, 1};
    case SumKind::kRowMean: return {1.0f / static_cast<float>(kept + 1), 1.0f / static_cast<float>(kept + 1)};
    case SumKind::kSymmetric: {
      const NodeFactor factor = rule.factors[node];
      return {share * static_cast<float>(rule.graph.degree(node)) * factor.root, factor.own};
    }
    case SumKind::kPlain: return {1, 1 + *rule.eps};
    case SumKind::kScaled: return {share * static_cast<float>(rule.graph.degree(node)), 1 + *rule.eps};
  }
  return {};
}

/// Of an entry of the sum, before RowWeights::around.
__device__ inline float entry_factor(const SumRule& rule, NodeId entry) {
  return rule.kind == SumKind::kSymmetric ? rule.factors[entry].root : 1.0f;
}

}  // namespace salient
