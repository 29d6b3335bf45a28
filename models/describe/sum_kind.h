// models/describe/sum_kind.h - the sums over a row's kept entries that models have.
#pragma once

#include <cstdint>

namespace salient {

/// The sum over the k kept entries j of node i, and the node itself. With d = entries of i in the whole graph, and by
/// the weights of edges as models/edge_weights.h says:
enum class SumKind : std::uint8_t {
  kMean,       ///< h_j / k                                        models/sage.h, sage_ri.h
  kRowMean,    ///< (h_j + h_i) / (k + 1)                          models/gcn.h, GcnNorm::kRow
  kSymmetric,  ///< h_j root_j * d / k * root_i + h_i own_i        models/gcn.h, GcnNorm::kSymmetric
  kPlain,      ///< h_j + (1 + eps) h_i                            models/gin.h, GinSum::kPlain
  kScaled,     ///< h_j d / k + (1 + eps) h_i                      models/gin.h, GinSum::kScaled
};

}  // namespace salient
