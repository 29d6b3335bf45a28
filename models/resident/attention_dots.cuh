// models/resident/attention_dots.cuh - for attention.cu: which lanes work on a node, and products of its rows with a
// vector.
#pragma once

#include <cstdint>

#include "models/kernels/launch.cuh"
#include "models/resident/attention_slots.cuh"
#include "models/resident/row_source.cuh"

namespace salient {

constexpr int kBatch = StepMask::kShared;  // rows of a node that are requested together

__device__ inline float dot(const float (&a)[8], const float (&b)[8]) {
  float sum = 0;
#pragma unroll
  for (int c = 0; c < 8; ++c) sum += a[c] * b[c];
  return sum;
}

/// Lanes that work on one node, and the groups of them in a row of blocks.
template <int kLanes>
struct Group {
  static __device__ int lane() { return static_cast<int>(threadIdx.x) & (kLanes - 1); }
  static __device__ std::int64_t of_grid() {
    return (std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x) / kLanes;
  }
  static __device__ std::int64_t in_grid() { return std::int64_t{gridDim.x} * (kThreadsPerBlock / kLanes); }
  template <class T>
  static __device__ T from(int lane, T value) {
    return __shfl_sync(lanes_of_group<kLanes>(), value, lane, kLanes);
  }
};

/// Of node i's entries, lane by lane: the product of its row with what factor(chunk, ...) gives.
template <int kLanes, bool kFirst, class Reader, class Factor>
__device__ float entry_dots(const Reader& reader, std::int64_t i, std::int64_t chunks, const Factor& factor) {
  const int lane = Group<kLanes>::lane(), kept = reader.num_entries(i);
  float result = 0;
  for (int first = 0; first < kept; first += kBatch) {
    RowRef refs[kBatch] = {};
    float partial[kBatch] = {};
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (first + k < kept) refs[k] = reader.entry(i, first + k);
    for (std::int64_t chunk = lane; (chunk - lane) < chunks; chunk += kLanes) {
      typename Reader::Raw raws[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        if (first + k < kept) raws[k] = reader.load(refs[k], chunk);
      float by[8] = {};
      if (chunk < chunks) factor(chunk, by);
      unsigned bits = 0;  // of the layer's dropout
      if constexpr (kFirst && Reader::kIsLevel)
        if (Reader::kIsRelu)
          bits = reader.mask.kept_of_four(
              {lane, kLanes, lanes_of_group<kLanes>()}, chunk, [&](int k) {  // no indices: refs stay in registers
                return k < 2 ? (k == 0 ? refs[0].node : refs[1].node) : (k == 2 ? refs[2].node : refs[3].node);
              });
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (first + k >= kept) continue;
        float values[8];
        if constexpr (kFirst && Reader::kIsLevel)
          reader.first_values(raws[k], refs[k], chunk, bits >> 8 * k & 0xFF, values);
        else if constexpr (kFirst)
          reader.first_values(raws[k], refs[k], chunk, values);
        else
          reader.values_again(raws[k], refs[k], chunk, values);
        partial[k] += dot(values, by);
      }
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const float sum = warp_sum<kLanes>(partial[k]);
      if (lane == first + k) result = sum;
    }
  }
  return result;
}

}  // namespace salient
