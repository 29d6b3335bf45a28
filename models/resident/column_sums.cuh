// models/resident/column_sums.cuh - vectors with an element per column, and sums over rows: one share of a block, then
// all shares. Fixed order, no atomics.
#pragma once

#include <cstdint>

#include "models/kernels/launch.cuh"

namespace salient {

/// Eight columns of a vector; 0 behind its end. A parameter lies at any float of a flat buffer.
__device__ inline void load_columns(const float* from, std::int64_t chunk, std::int64_t columns, float (&values)[8]) {
#pragma unroll
  for (int c = 0; c < 8; ++c) values[c] = chunk * 8 + c < columns ? from[chunk * 8 + c] : 0.0f;
}

/// What a thread adds up of its chunk: two sums for each column.
struct ColumnSums {
  float first[8] = {}, second[8] = {};
};

/// Writes a block's sums to sums[blockIdx.x][2][width]; all threads of the block come here. Threads t, t + kChunks, ...
/// have the same chunk, blockIdx.y * kChunks + t.
template <int kChunks>
__device__ void write_share(const ColumnSums& mine, std::int64_t width, float* __restrict__ sums) {
  constexpr int kRows = kThreadsPerBlock / kChunks, kColumns = 8 * kChunks;
  __shared__ float partial[kRows][2][kColumns];
  const int chunk = static_cast<int>(threadIdx.x) % kChunks, row = static_cast<int>(threadIdx.x) / kChunks;
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    partial[row][0][chunk * 8 + c] = mine.first[c];
    partial[row][1][chunk * 8 + c] = mine.second[c];
  }
  __syncthreads();
  for (int t = static_cast<int>(threadIdx.x); t < 2 * kColumns; t += kThreadsPerBlock) {
    const std::int64_t at = std::int64_t{blockIdx.y} * kColumns + t % kColumns;
    if (at >= width) continue;
    float sum = 0;
    for (const auto& of_row : partial) sum += of_row[t / kColumns][t % kColumns];
    sums[(std::int64_t{blockIdx.x} * 2 + t / kColumns) * width + at] = sum;
  }
}

struct ColumnTotals {
  double first = 0, second = 0;
};

constexpr int kTotalsThreads = 1024;  // of a block that calls totals_of()

/// Both sums over all shares of column 32 * blockIdx.x + threadIdx.x % 32, true for the first warp of the block; all
/// its threads come here.
__device__ inline ColumnTotals totals_of(const float* __restrict__ sums, int shares, std::int64_t width) {
  constexpr int kAdders = kTotalsThreads / 32;
  __shared__ ColumnTotals partial[kAdders][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, adder = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + lane;
  ColumnTotals mine;
#pragma unroll 8
  for (int share = adder; share < shares && column < width; share += kAdders) {
    mine.first += sums[std::int64_t{share} * 2 * width + column];
    mine.second += sums[(std::int64_t{share} * 2 + 1) * width + column];
  }
  partial[adder][lane] = mine;
  __syncthreads();
  for (int other = 1; other < kAdders && adder == 0; ++other) {
    mine.first += partial[other][lane].first;
    mine.second += partial[other][lane].second;
  }
  return mine;
}

}  // namespace salient
