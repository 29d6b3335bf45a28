// models/resident/fp8_pack.cuh - words of neighbouring fp8 numbers, read as f32 without the table's scale.
#pragma once

#include <cuda_fp8.h>

#include "models/kernels/launch.cuh"

namespace salient {

/// As Half is for f16.
struct Fp8 {
  std::uint8_t bits;
};

template <>
struct Pack<Fp8, 1> {
  static constexpr int kCount = 1;
  using Word = std::uint8_t;
  static __device__ void unpack(Word w, float* values) {
    values[0] = __half2float(__half{__nv_cvt_fp8_to_halfraw(w, __NV_E4M3)});
  }
};

template <>
struct Pack<Fp8, 4> {
  static constexpr int kCount = 4;
  using Word = std::uint32_t;
  static __device__ void unpack(Word w, float* values) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const auto pair = static_cast<__nv_fp8x2_storage_t>(w >> 16 * i);
      const float2 two = __half22float2(__half2{__nv_cvt_fp8x2_to_halfraw2(pair, __NV_E4M3)});
      values[2 * i] = two.x, values[2 * i + 1] = two.y;
    }
  }
};

template <>
struct Pack<Fp8, 8> {
  static constexpr int kCount = 8;
  using Word = uint2;
  static __device__ void unpack(Word w, float* values) {
    Pack<Fp8, 4>::unpack(w.x, values);
    Pack<Fp8, 4>::unpack(w.y, values + 4);
  }
};

}  // namespace salient
