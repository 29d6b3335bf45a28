// models/kernels/words.cuh - arithmetic on words of one or four f32 values, and atomic sums of them.
#pragma once

#include <cstdint>

namespace salient {

__device__ inline float multiply_add(float factor, float x, float sum) { return fmaf(factor, x, sum); }
__device__ inline float4 multiply_add(float factor, float4 x, float4 sum) {
  return make_float4(fmaf(factor, x.x, sum.x), fmaf(factor, x.y, sum.y), fmaf(factor, x.z, sum.z),
                     fmaf(factor, x.w, sum.w));
}

__device__ inline float scaled(float value, float scale) { return value * scale; }
__device__ inline float4 scaled(float4 v, float scale) {
  return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}

__device__ inline float sum_of(float x, float y) { return x + y; }
__device__ inline float4 sum_of(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }

__device__ inline float product(float x, float y) { return x * y; }
__device__ inline float4 product(float4 x, float4 y) { return make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w); }

__device__ inline float product_sum(float x, float y) { return x * y; }
__device__ inline float product_sum(float4 x, float4 y) { return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; }

__device__ inline void add_atomically(float* target, float value) { atomicAdd(target, value); }

/// One 16-byte transaction from sm_90 on.
__device__ inline void add_atomically(float4* target, float4 value) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(target, value);
#else
  float* values = reinterpret_cast<float*>(target);
  atomicAdd(values, value.x), atomicAdd(values + 1, value.y);
  atomicAdd(values + 2, value.z), atomicAdd(values + 3, value.w);
#endif
}

template <class Word>
const Word* as_words(const float* values) {
  return reinterpret_cast<const Word*>(values);
}
template <class Word>
Word* as_words(float* values) {
  return reinterpret_cast<Word*>(values);
}

}  // namespace salient
