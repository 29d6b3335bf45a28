// models/resident/mapped_norm.cu - see mapped_norm.h.
//
// Work split  statistics: a block per eight columns of z, a thread per column of the map's input. Gradients of rows: a
//             lane per chunk of eight columns, which walks over rows. Gradients of weights: a block per column of z.
// Access      rows behind each other in words of 16 bytes, eight in flight; moments and weights are in the L2 cache.
// Limit       statistics: latency; gradients of rows: memory.
// Sync        sums of a block meet in shared memory; fixed order, no atomics.
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/batch_norm_rows.cuh"
#include "models/resident/mapped_norm.h"
#include "models/resident/masks.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// Sums over the block of kSums numbers of each thread, true for thread 0.
template <int kSums>
__device__ void add_up(double (&sums)[kSums]) {
  __shared__ double partial[kThreadsPerBlock / 32][kSums];
#pragma unroll
  for (double& sum : sums)
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, offset);
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (int k = 0; k < kSums; ++k) partial[threadIdx.x / 32][k] = sums[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kSums; ++k)
    for (int warp = 1; warp < kThreadsPerBlock / 32 && threadIdx.x == 0; ++warp) sums[k] += partial[warp][k];
}

constexpr int kColumns = 8;  // of z, of a block

__global__ void __launch_bounds__(kThreadsPerBlock) mapped_statistics_kernel(MappedNorm of) {
  __shared__ float weights[kColumns][kMostMomentColumns];
  const int width = static_cast<int>(of.width), first = static_cast<int>(blockIdx.x) * kColumns;
  const auto* const weight = static_cast<const Bf16*>(of.weight) + std::int64_t{first} * width;
  for (int t = static_cast<int>(threadIdx.x); t < kColumns * width; t += kThreadsPerBlock)
    weights[t / width][t % width] = static_cast<float>(weight[t]);
  __syncthreads();
  double sums[2 * kColumns] = {};  // variances, then means, times the number of nodes
  for (int k = static_cast<int>(threadIdx.x); k < width; k += kThreadsPerBlock) {
    float mapped[kColumns] = {};
#pragma unroll 8
    for (int i = 0; i < width; ++i) {
      const float moment = of.moments[i * width + k];
#pragma unroll
      for (int c = 0; c < kColumns; ++c) mapped[c] += weights[c][i] * moment;
    }
    const float sum = of.moments[width * width + k];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      of.mapped[(first + c) * width + k] = mapped[c];
      sums[c] += static_cast<double>(mapped[c]) * weights[c][k];
      sums[kColumns + c] += static_cast<double>(sum) * weights[c][k];
    }
  }
  add_up(sums);
  if (threadIdx.x != 0) return;
  const LocalId count = *of.norm.num_distinct;
  for (int c = 0; c < kColumns; ++c)
    if (first + c < of.norm.columns)
      set_statistics(of.norm, first + c, count, sums[kColumns + c] / count, max(0.0, sums[c] / count));
}

/// The gradient behind dropout and leaky_relu, from the bits of the forward pass.
__global__ void __launch_bounds__(kThreadsPerBlock)
    masked_gradient_kernel(NormLayer layer, Matrix gradient, Matrix masked, std::int64_t rows) {
  constexpr int kRows = 8;  // in flight
  const std::int64_t chunks = layer.z.width / 8;
  const LocalId count = *layer.num_nodes;
  const bool has_mask = layer.dropout.threshold != 0;
  const float scale = has_mask ? layer.dropout.scale : 1.0f;
  for (RowWalk walk = RowWalk::over_grid(chunks, rows); walk.first < rows; walk.first += kRows * walk.step) {
    EightWords<Bf16> words[kRows] = {};
    unsigned kept[kRows] = {}, positive[kRows] = {};
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const std::int64_t row = walk.first + k * walk.step, at = row * chunks + walk.chunk;
      if (row >= count) continue;
      words[k] = EightWords<Bf16>::load(gradient.as<const Bf16>() + row * gradient.width + walk.chunk * 8);
      positive[k] = layer.positive[at];
      kept[k] = has_mask ? layer.kept[at] : 0xFF;
    }
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const std::int64_t row = walk.first + k * walk.step;
      if (row >= rows) continue;
      float values[8];
      words[k].unpack(values);
      keep(kept[k], scale, values);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        if ((positive[k] >> c & 1) == 0) values[c] *= layer.slope;
        if (walk.chunk * 8 + c >= layer.columns) values[c] = 0;
      }
      store_eight(values, masked.as<Bf16>() + (row * chunks + walk.chunk) * 8);
    }
  }
}

/// A block per column of z.
__global__ void __launch_bounds__(kThreadsPerBlock) mapped_gradient_kernel(MappedNorm of) {
  const NormLayer& norm = of.norm;
  const int width = static_cast<int>(of.width), column = static_cast<int>(blockIdx.x);
  const auto* const weight = static_cast<const Bf16*>(of.weight) + std::int64_t{column} * width;
  float* const gradient = of.gradient + std::int64_t{column} * width;
  double sums[1] = {};
  for (int k = static_cast<int>(threadIdx.x); k < width; k += kThreadsPerBlock)
    sums[0] += static_cast<double>(gradient[k]) * static_cast<float>(weight[k]);
  add_up(sums);
  __shared__ float of_bias, of_weight;
  const float mean = norm.statistics[column], scale = norm.statistics[norm.z.width + column];
  if (threadIdx.x == 0) {
    of_bias = gradient[of.ones];
    of_weight = static_cast<float>((sums[0] - static_cast<double>(mean) * of_bias) * scale);
    norm.tensors.bias_gradient[column] = of_bias;
    norm.tensors.weight_gradient[column] = of_weight;
  }
  __syncthreads();
  const LocalId count = *norm.num_distinct;
  const float each = count < 2 ? 0.0f : 1.0f / static_cast<float>(count), factor = norm.tensors.weight[column] * scale;
  for (int k = static_cast<int>(threadIdx.x); k < width; k += kThreadsPerBlock)
    gradient[k] = factor * (gradient[k] - of_bias * each * of.moments[width * width + k] -
                            of_weight * each * scale * of.mapped[column * width + k]);
}

// ---- host code -------------------------------------------------------------------------------------------

}  // namespace

void mapped_statistics(const MappedNorm& of, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(of.norm.z.width / kColumns);
  mapped_statistics_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(of);
  cuda_check(cudaGetLastError());
}

void masked_gradient(const NormLayer& layer, const Matrix& gradient, const Matrix& masked, std::int64_t rows,
                     cudaStream_t stream) {
  masked_gradient_kernel<<<walkers_of(rows, layer.z.width), kThreadsPerBlock, 0, stream>>>(layer, gradient, masked,
                                                                                           rows);
  cuda_check(cudaGetLastError());
}

void finish_mapped_gradient(const MappedNorm& of, cudaStream_t stream) {
  mapped_gradient_kernel<<<static_cast<unsigned>(of.norm.columns), kThreadsPerBlock, 0, stream>>>(of);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
