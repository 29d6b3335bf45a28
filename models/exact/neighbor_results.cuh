// models/exact/neighbor_results.cuh - where the gather of all_neighbors.cu puts a mean and what is a node's own.
#pragma once

#include <cfloat>
#include <cstdint>

#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"

namespace salient {

inline constexpr float kLargestHalf = 65504;

/// Every row of a table that is read is noted at the latest as the own row of its node: here, or in ExactLayer's
/// result.
__device__ inline void note_beyond(const float (&values)[8], float largest, std::int32_t* beyond) {
  bool is_within = true;
#pragma unroll
  for (const float value : values) is_within = is_within && fabsf(value) <= largest;  // false for a NaN
  if (!is_within) *beyond = 1;
}

/// A table of rows, and what its numbers are times.
template <class T>
struct Table {
  const T* rows;
  int width;
  float unit;
  __device__ const T* row(std::uint32_t i) const {  // one multiplication of 32 bits
    const unsigned row_bytes = static_cast<unsigned>(width) * static_cast<unsigned>(sizeof(T));
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(rows) + std::uint64_t{i} * row_bytes);
  }
};

/// Where a mean and what is a node's own go: beside each other into an operand.
template <class T>
struct ToOperand {
  static constexpr bool kHasOwn = true;
  Table<T> own;
  __half* out;
  std::int32_t* beyond;

  __device__ const T* own_row(std::int64_t, NodeId node) const { return own.row(node); }
  __device__ void store(std::int64_t i, int chunk, int chunks, const float (&mean)[8], float (&own_columns)[8]) const {
#pragma unroll
    for (float& value : own_columns) value *= own.unit;
    note_beyond(mean, kLargestHalf, beyond);
    note_beyond(own_columns, kLargestHalf, beyond);
    store_eight(mean, out + (i * 2 * chunks + chunk) * 8);
    store_eight(own_columns, out + ((i * 2 + 1) * chunks + chunk) * 8);
  }
};

/// ... or the mean alone.
struct ToMeans {
  static constexpr bool kHasOwn = false;
  __half* out;
  std::int32_t* beyond;

  __device__ const Half* own_row(std::int64_t, NodeId) const { return nullptr; }
  __device__ void store(std::int64_t i, int chunk, int chunks, const float (&mean)[8], float (&)[8]) const {
    note_beyond(mean, kLargestHalf, beyond);
    store_eight(mean, out + (i * chunks + chunk) * 8);
  }
};

/// ... or added up.
struct ToSums {
  static constexpr bool kHasOwn = true;
  Table<Half> own;
  bool is_of_nodes;
  float* sums;
  std::int32_t* beyond;

  __device__ const Half* own_row(std::int64_t i, NodeId node) const {
    return own.row(is_of_nodes ? node : static_cast<std::uint32_t>(i));
  }
  __device__ void store(std::int64_t i, int chunk, int chunks, const float (&mean)[8], float (&own_columns)[8]) const {
#pragma unroll
    for (int c = 0; c < 8; ++c) own_columns[c] += mean[c];
    note_beyond(own_columns, FLT_MAX, beyond);
    salient::store_eight(own_columns, sums + (i * chunks + chunk) * 8);
  }
};

/// Where sums of a run go: scaled to means to their rows, or as they are to the place of a piece.
template <class T, class To>
struct Sink {
  const To& to;
  float* piece;  ///< or null

  __device__ const T* own_row(std::int64_t i, NodeId node) const {
    return piece == nullptr ? to.own_row(i, node) : nullptr;
  }
  __device__ void store(std::int64_t i, int chunk, int chunks, float scale, float (&sums)[8], float (&own)[8]) const {
    if (piece != nullptr) return salient::store_eight(sums, piece + chunk * 8);
#pragma unroll
    for (float& sum : sums) sum *= scale;
    to.store(i, chunk, chunks, sums, own);
  }
};

template <class T>
__device__ float scale_of(const Table<T>& table, std::int64_t degree) {
  return degree == 0 ? 0.0f : table.unit / static_cast<float>(degree);
}

}  // namespace salient
