// models/resident/batch_norm_rows.cuh - for batch_norm.cu and mapped_norm.cu: the statistics of a column, what
// normalises a chunk, and which rows a thread walks over.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/kernels/launch.cuh"
#include "models/resident/batch_norm.h"
#include "models/resident/column_sums.cuh"

namespace salient {

constexpr int kInFlight = 4;  // rows
constexpr float kMomentum = 0.1f, kEpsilon = 1e-5f;

/// Mean and 1 / deviation of a column, and the running statistics; of fewer than two distinct nodes from those.
__device__ inline void set_statistics(const NormLayer& layer, std::int64_t column, LocalId count, double mean,
                                      double variance) {
  if (column == 0 && count >= 2) ++*layer.tensors.num_batches_tracked;
  float* const mean_of = layer.statistics;
  float* const scale_of = layer.statistics + layer.z.width;
  float& running_mean = layer.tensors.running_mean[column];
  float& running_var = layer.tensors.running_var[column];
  if (count < 2) {
    mean_of[column] = running_mean;
    scale_of[column] = 1.0f / sqrtf(running_var + kEpsilon);
    return;
  }
  mean_of[column] = static_cast<float>(mean);
  scale_of[column] = static_cast<float>(1 / sqrt(variance + kEpsilon));
  running_mean += kMomentum * (static_cast<float>(mean) - running_mean);
  running_var += kMomentum * (static_cast<float>(variance * count / (count - 1)) - running_var);
}

/// What normalises a chunk.
struct Columns {
  float mean[8], scale[8], weight[8], bias[8];

  __device__ static Columns of(const NormLayer& layer, std::int64_t chunk) {
    Columns result;
    load_columns(layer.statistics, chunk, layer.columns, result.mean);
    load_columns(layer.statistics + layer.z.width, chunk, layer.columns, result.scale);
    load_columns(layer.tensors.weight, chunk, layer.columns, result.weight);
    load_columns(layer.tensors.bias, chunk, layer.columns, result.bias);
    return result;
  }
};

/// One chunk, and the rows of a thread: first, first + step, ...
struct RowWalk {
  std::int64_t chunk, first, step;

  /// Over the grid: threads lie side by side, and so do the words of a warp, across the ends of rows. Threads that are
  /// too few for a row of their own begin behind all rows.
  __device__ static RowWalk over_grid(std::int64_t chunks, std::int64_t rows) {
    const std::int64_t step = std::int64_t{gridDim.x} * kThreadsPerBlock / chunks;
    const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x, row = thread / chunks;
    return {thread % chunks, row < step ? row : rows, step};
  }
};

/// Blocks of a RowWalk: threads for one row at least, and no more than fill any GPU, so that a thread has many rows.
inline unsigned walkers_of(std::int64_t rows, std::int64_t width) {
  constexpr unsigned kMost = 1024;
  return std::min(kMost, blocks_for(std::max(std::int64_t{1}, rows / kInFlight) * width / 8));
}

}  // namespace salient
