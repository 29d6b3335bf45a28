// models/resident/row_factors.cuh - row_factors.h for kernels.
#pragma once

#include "models/resident/row_factors.h"

namespace salient {

struct RowWeights {
  float around, own;
};

/// What a node's weights come from: read long before they are needed.
struct NodeFacts {
  NodeFactor factor{};           ///< of kSymmetric
  std::uint32_t begin{}, end{};  ///< of kSymmetric and kScaled: their difference is the node's degree
  float eps{};                   ///< of kPlain and kScaled
};

__device__ inline NodeFacts facts_of(const SumRule& rule, NodeId node) {
  NodeFacts facts;
  if (rule.kind == SumKind::kSymmetric) facts.factor = rule.factors[node];
  if (rule.kind == SumKind::kSymmetric || rule.kind == SumKind::kScaled) {
    facts.begin = static_cast<std::uint32_t>(rule.graph.indptr[node]);
    facts.end = static_cast<std::uint32_t>(rule.graph.indptr[node + std::size_t{1}]);
  }
  if (rule.eps != nullptr) facts.eps = *rule.eps;
  return facts;
}

/// @param kept  entries that the hop kept of the node's row
__device__ inline RowWeights row_weights(const SumRule& rule, const NodeFacts& facts, int kept) {
  const float share = kept == 0 ? 0.0f : 1.0f / static_cast<float>(kept);
  const auto degree = static_cast<float>(facts.end - facts.begin);
  switch (rule.kind) {
    case SumKind::kMean: return {share, 1};
    case SumKind::kRowMean: return {1.0f / static_cast<float>(kept + 1), 1.0f / static_cast<float>(kept + 1)};
    case SumKind::kSymmetric: return {share * degree * facts.factor.root, facts.factor.own};
    case SumKind::kPlain: return {1, 1 + facts.eps};
    case SumKind::kScaled: return {share * degree, 1 + facts.eps};
  }
  return {};
}

/// Of an entry of the sum, before RowWeights::around.
__device__ inline float entry_factor(const SumRule& rule, NodeId entry) {
  return rule.kind == SumKind::kSymmetric ? rule.factors[entry].root : 1.0f;
}

}  // namespace salient
