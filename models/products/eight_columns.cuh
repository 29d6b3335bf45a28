// models/products/eight_columns.cuh - eight neighbouring activations as wide words: 16 bytes of bf16, 32 bytes of f32.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace salient {

using Bf16 = __nv_bfloat16;

__device__ inline void load_eight(const float* from, float (&values)[8]) {
  const float4 low = reinterpret_cast<const float4*>(from)[0], high = reinterpret_cast<const float4*>(from)[1];
  values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
  values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
}

__device__ inline void load_eight(const Bf16* from, float (&values)[8]) {
  const uint4 word = *reinterpret_cast<const uint4*>(from);
  const unsigned pairs[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 two = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&pairs[i]));
    values[2 * i] = two.x, values[2 * i + 1] = two.y;
  }
}

__device__ inline void store_eight(const float (&values)[8], float* to) {
  reinterpret_cast<float4*>(to)[0] = make_float4(values[0], values[1], values[2], values[3]);
  reinterpret_cast<float4*>(to)[1] = make_float4(values[4], values[5], values[6], values[7]);
}

/// Two values as one word, the first one low.
__device__ inline std::uint32_t pair_of(float low, float high) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&two);
}
__device__ inline std::uint32_t half_pair_of(float low, float high) {
  const __half2 two = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&two);
}

__device__ inline void store_eight(const float (&values)[8], Bf16* to) {
  std::uint32_t pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) pairs[i] = pair_of(values[2 * i], values[2 * i + 1]);
  *reinterpret_cast<uint4*>(to) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

__device__ inline void store_eight(const float (&values)[8], __half* to) {
  std::uint32_t pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) pairs[i] = half_pair_of(values[2 * i], values[2 * i + 1]);
  *reinterpret_cast<uint4*>(to) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

/// Eight neighbouring activations as they lie in memory: of bf16 they take half the registers of their values.
template <class T>
struct EightWords {
  uint4 words[sizeof(T) / 2];

  __device__ static EightWords load(const T* from) {
    EightWords result;
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 2; ++i) result.words[i] = reinterpret_cast<const uint4*>(from)[i];
    return result;
  }
  __device__ void unpack(float (&values)[8]) const {
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 2; ++i) {
      const unsigned bits[4] = {words[i].x, words[i].y, words[i].z, words[i].w};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if constexpr (std::is_same_v<T, float>) {
          values[4 * i + k] = __uint_as_float(bits[k]);
        } else {  // a bf16 is the upper half of an f32
          values[2 * k] = __uint_as_float(bits[k] << 16);
          values[2 * k + 1] = __uint_as_float(bits[k] & 0xFFFF0000);
        }
      }
    }
  }
};

}  // namespace salient
