// models/resident/attention_v2.h - gatv2's attention over a tree, of one head.
//
// out_i = sum of a_ij l_j over the kept entries j other than i, and i itself, + bias; a = softmax of
// <att, leaky_relu(l_j + r_i)>. Logits do not split into a part per node, so l = W_l x + b_l is made for every entry.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/describe/resident_limits.h"
#include "models/resident/neighbour_sum.h"
#include "models/resident/row_source.h"
#include "models/resident/step_memory.h"

namespace salient {

/// Which rows of l the entries of a node have. Of the last hop each entry of node i has one of its own, row
/// own_rows + i * fanout + k; otherwise they are rows of the grown level.
struct EntryRows {
  LastHop hop{};        ///< with is_last_hop
  TreeGrowth growth{};  ///< otherwise
  bool is_last_hop;
  const NodeId* nodes;
  const LocalId* num_nodes;  ///< [1] of the level
  std::int64_t capacity;     ///< nodes of the level at most; own_rows
  std::int64_t rows;         ///< of l
};

/// Device memory, f32 where nothing else is said. At most kMaxResidentGatv2Width columns.
struct AttentionV2 {
  const float *att, *bias;  ///< [columns]
  float *att_gradient, *bias_gradient;
  std::int64_t columns;
  std::int64_t fanout;
  Matrix l, r;  ///< [rows, padded(columns)], [capacity, padded(columns)]
  Matrix l_gradient, r_gradient;
  float* weights;  ///< [capacity, fanout + 2]: a of i itself and of its entries
  float* sums;     ///< [attention_v2_sums_size()] scratch
  TreeDropout dropout;
  Matrix out;  ///< is_hidden: (dropout(relu(out_i)) | 1); else out_i, which may be f32. Rows behind the end are zeros
  bool is_hidden;
};

std::int64_t attention_v2_sums_size(std::int64_t columns);

void attention_v2_forward(const AttentionV2& attention, const EntryRows& rows, cudaStream_t stream);

/// @param gradient  of out, in the activations' type     @param more  of its first `more_rows` rows
struct AttentionV2Gradient {
  Matrix gradient;
  RowAddend more{};
  std::int64_t more_rows = 0;
};
/// Gradients of l, r, att and bias; every row is written.
void attention_v2_backward(const AttentionV2& attention, const EntryRows& rows, const AttentionV2Gradient& gradient,
                           cudaStream_t stream);

/// The first layer's rows: (x | 1) of the nodes of the last level, then of the last hop's entries; zeros where there is
/// none.
/// @param out  [rows.rows, padded(width + 1)]
void gather_entries(const FeatureRows& features, const EntryRows& rows, const Matrix& out, cudaStream_t stream);
/// The same for the capacity among `choices` that the number of nodes asks for; rows.capacity is the largest.
void gather_entries(const FeatureRows& features, const EntryRows& rows, const RowChoices& choices, const Matrix& out,
                    cudaStream_t stream);

}  // namespace salient
