// models/kernels/launch.cuh - sizes of grids, and wide words, shared by the operators' kernels.
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "core/types.h"
#include "models/kernels/half.h"

namespace salient {

constexpr int kThreadsPerBlock = 256;
constexpr std::int64_t kMaxBlocks = 1 << 16;  // kernels stride past this; it bounds the launch, not the work

/// Blocks for `threads` threads; 0 means that nothing is to be launched.
inline unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::min(kMaxBlocks, (threads + kThreadsPerBlock - 1) / kThreadsPerBlock));
}

/// Lanes that share one row: a power of two, at most a warp, so that a row of few words does not idle most of it.
struct RowGroup {
  int log_lanes;

  static RowGroup make(std::int64_t words_per_row) {
    int log_lanes = 0;
    while (log_lanes < 5 && (std::int64_t{1} << log_lanes) < words_per_row) ++log_lanes;
    return {log_lanes};
  }
  __host__ __device__ int lanes() const { return 1 << log_lanes; }
};

/// kCount neighbouring values of T, moved as one word, read as f32.
template <class T, int kCountOf>
struct Pack;

template <>
struct Pack<float, 1> {
  static constexpr int kCount = 1;
  using Word = float;
  static __device__ void unpack(Word w, float* values) { values[0] = w; }
};

template <>
struct Pack<float, 4> {
  static constexpr int kCount = 4;
  using Word = float4;
  static __device__ void unpack(Word w, float* values) {
    values[0] = w.x, values[1] = w.y, values[2] = w.z, values[3] = w.w;
  }
};

template <>
struct Pack<Half, 1> {
  static constexpr int kCount = 1;
  using Word = std::uint16_t;
  static __device__ void unpack(Word w, float* values) { values[0] = __half2float(__ushort_as_half(w)); }
};

template <>
struct Pack<Half, 4> {
  static constexpr int kCount = 4;
  using Word = uint2;
  static __device__ void unpack(Word w, float* values) {
    const float2 low = __half22float2(*reinterpret_cast<const __half2*>(&w.x));
    const float2 high = __half22float2(*reinterpret_cast<const __half2*>(&w.y));
    values[0] = low.x, values[1] = low.y, values[2] = high.x, values[3] = high.y;
  }
};

template <>
struct Pack<Half, 8> {
  static constexpr int kCount = 8;
  using Word = uint4;
  static __device__ void unpack(Word w, float* values) {
    const unsigned words[4] = {w.x, w.y, w.z, w.w};
    for (int i = 0; i < 4; ++i) {
      const float2 two = __half22float2(*reinterpret_cast<const __half2*>(&words[i]));
      values[2 * i] = two.x, values[2 * i + 1] = two.y;
    }
  }
};

/// Whether rows of `width` values of T at `x` consist of aligned words of kCount values.
template <class T, int kCount>
bool is_packable(const void* x, std::int64_t width) {
  return reinterpret_cast<std::uintptr_t>(x) % (sizeof(T) * kCount) == 0 && width % kCount == 0;
}

}  // namespace salient
