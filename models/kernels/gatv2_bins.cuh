// models/kernels/gatv2_bins.cuh - what the gradients of GATv2's attention by source and by destination share.
#pragma once

#include "models/kernels/attention_bins.cuh"
#include "models/kernels/gatv2_bins.h"
#include "models/kernels/words.cuh"

namespace salient {

/// Rows in words of four values, and how warps share them: a warp has `heads_together` heads of `words` words.
struct Gatv2Shape {
  std::uint32_t heads, words, heads_together;
  float slope;

  __host__ __device__ std::uint32_t row_words() const { return heads * words; }
  __host__ __device__ std::uint32_t groups() const { return (heads + heads_together - 1) / heads_together; }
};

/// What the kernels read and write.
struct Gatv2Arrays {
  const float4 *z_src, *z_dst, *grad_out, *att;
  const float *weights, *row_dots;
  const std::uint8_t* signs;
  float* grad_logits;
  float4 *grad_src, *grad_dst, *grad_att;
};

/// `above` where the bit is set, else `below`.
__device__ inline float4 chosen(std::uint32_t signs, float above, float below) {
  return make_float4(signs & 1 ? above : below, signs & 2 ? above : below, signs & 4 ? above : below,
                     signs & 8 ? above : below);
}

/// Adds the rows of a block's warps to a part of att's gradient, whose words they all have.
template <int kWidth>
__device__ void add_block_part(float4 (&of_warps)[kWarpsPerBlock][kWidth], std::uint32_t words, float4* grad_att) {
  __syncthreads();
  for (std::uint32_t w = threadIdx.x; w < words; w += kThreadsPerBlock) {
    float4 sum = of_warps[0][w];
    for (int k = 1; k < kWarpsPerBlock; ++k) sum = sum_of(sum, of_warps[k][w]);
    add_atomically(grad_att + blockIdx.x % kGatv2AttParts * words + w, sum);
  }
}

/// Launched behind the gradient by source; see gatv2_rows.cu.
void gatv2_sum_rows(const HopEdges& hop, const AttentionBins& bins, const Gatv2Shape& shape, const Gatv2Arrays& arrays,
                    cudaStream_t stream);

}  // namespace salient
