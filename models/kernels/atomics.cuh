// models/kernels/atomics.cuh - adding a word of f32 values to memory that other threads add to as well.
#pragma once

namespace salient {

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

}  // namespace salient
