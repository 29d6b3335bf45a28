// models/kernels/class_counts.h - how many nodes are predicted right, of one class each.
#pragma once

#include <cstdint>

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

/// Row i begins at values + i * stride.
struct ClassLogits {
  const float* values;
  std::int64_t stride, num_nodes;
  std::int64_t num_classes;  ///< at least 1
};

/// What count_classes() adds to. Device memory.
struct ClassCounts {
  std::int64_t *nodes, *labelled, *correct, *not_finite;
};

/// Counts nodes, labels that are not negative, nodes whose greatest logit is that of their label, and nodes with a
/// logit that is infinite or not a number. Of equal logits the first one is the greatest, and what is not a number is
/// greater than others, as in at::argmax().
///
/// @param labels  [num_nodes]
/// Enqueues on `stream`, all memory is the device's.
/// Cost:          reads the logits once.
/// Oracle:        AccuracyCounter::add() on the host
void count_classes(const ClassLogits& logits, const std::int32_t* labels, const ClassCounts& counts,
                   CUstream_st* stream);

}  // namespace salient
