// models/resident/attention.h - gat's attention over a tree, of one head.
//
// out_i = sum of a_ij W x_j over the kept entries j other than i, and i itself; a = softmax of leaky_relu(s_j + t_i),
// s_j = <att_src, W x_j>, t_i = <att_dst, W x_i>. That is W (sum of a_ij x_j), and s_j = <W^T att_src, x_j>: rows are
// weighted and added up before the product, which then has a row per node instead of one per entry.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/row_source.h"

namespace salient {

/// Device memory, f32 where nothing else is said.
struct Attention {
  const float *weight, *att_src, *att_dst;  ///< [out_dim, in_dim], [out_dim], [out_dim]
  float *weight_gradient, *att_src_gradient, *att_dst_gradient;
  std::int64_t in_dim, out_dim;
  std::int64_t fanout;
  float* vectors;         ///< [4, padded(in_dim)], zeros behind in_dim: W^T att_src, W^T att_dst, and their gradients
  float* weights;         ///< [capacity, fanout + 2]: a of i itself and of its entries; negative: on the slope
  float* edge_gradients;  ///< likewise: of s_j + t_i; behind them their sum
  float* sums;            ///< [attention_sums_size()] scratch
  void* operand;          ///< [capacity, padded(in_dim)]: the weighted sums; rows behind the level's end are zeros
  ActivationType type;    ///< of the operand
};

std::int64_t attention_sums_size(std::int64_t in_dim);

/// The vectors, from the parameters.
void attention_vectors(const Attention& attention, cudaStream_t stream);

void attention_forward(const Attention& attention, const TableRows& rows, cudaStream_t stream);
void attention_forward(const Attention& attention, const LevelRows& rows, cudaStream_t stream);

/// Shares of the vectors' gradients, and dz where there are rows of a layer.
/// @param gradient  [capacity, padded(in_dim)] in the activations' type: of the operand
/// @param dz        [grown_capacity, width]: every row is written
void attention_backward(const Attention& attention, const TableRows& rows, const void* gradient, cudaStream_t stream);
void attention_backward(const Attention& attention, const LevelRows& rows, const void* gradient, void* dz,
                        cudaStream_t stream);

/// The vectors' gradients, from their shares.
void attention_vector_gradients(const Attention& attention, cudaStream_t stream);

/// The gradients of att_src and att_dst, and what they add to that of the weight, which is there already.
void attention_parameter_gradients(const Attention& attention, cudaStream_t stream);

}  // namespace salient
