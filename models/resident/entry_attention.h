// models/resident/entry_attention.h - attention over a tree whose rows are mapped for every entry, of any number of
// heads: gat's, gatv2's and transformer's.
//
// out_i = sum of a_ij v_j over the kept entries j, and more; a = softmax over j of a score. Head by head, k, v and q
// being a head's columns of maps of x:
//
//   gat          k = v; the score is leaky_relu(<att_src, k_j> + <att_dst, k_i>); i itself is an entry, once
//   gatv2        k = v; <att, leaky_relu(k_j + q_i)>; i itself is an entry, once; out has a bias
//   transformer  <q_i, k_j> / sqrt(columns); out has a map of x_i beside the sum
//
// Of one head gat needs no rows of entries (attention.h), and gatv2 has attention_v2.h, which reads rows once.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/describe/layer_list.h"
#include "models/resident/attention_v2.h"
#include "models/resident/step_memory.h"

namespace salient {

/// Device memory, f32 where nothing else is said. All heads lie side by side.
struct EntryAttention {
  AttentionKind kind;    ///< kGat, kGatv2 or kDot
  std::int64_t heads;    ///< with several `columns` is a multiple of 8
  std::int64_t columns;  ///< of a head
  std::int64_t fanout;
  Matrix sources;       ///< [rows, width of parts]: k; of kDot (k | v)
  Matrix destinations;  ///< [capacity, likewise]: none; q; (q | the map of x_i)
  Matrix sources_gradient, destinations_gradient;
  std::int64_t part;              ///< columns from the first part of a row to the second: padded(heads * columns)
  Matrix out;                     ///< [capacity, part], which may be f32. Rows behind the level's end are zeros
  const float* first = nullptr;   ///< [heads * columns]: att_src; att; none
  const float* second = nullptr;  ///< likewise: att_dst; bias; none
  float* first_gradient = nullptr;
  float* second_gradient = nullptr;
  float* weights = nullptr;  ///< [capacity, heads, fanout + 1]: a of a node's entries, then its own; of kGat negative
                             ///< where leaky_relu is on its slope
  float* score_gradients = nullptr;  ///< likewise
  float* sums = nullptr;             ///< [entry_attention_sums_size()] scratch; of kDot none

  SALIENT_HOST_DEVICE bool has_vectors() const { return kind != AttentionKind::kDot; }
};

std::int64_t entry_attention_sums_size(std::int64_t part);

void entry_attention_forward(const EntryAttention& attention, const EntryRows& rows, cudaStream_t stream);

/// Gradients of sources, destinations and vectors; every row is written.
/// @param gradient  of out, in the activations' type
void entry_attention_backward(const EntryAttention& attention, const EntryRows& rows, const Matrix& gradient,
                              cudaStream_t stream);

}  // namespace salient
