// swish: UNROLL independent 16-byte vectors a thread, all loaded before anything is computed.
// launch swish_kernel block=256 grid=ceil(n, 1024 * UNROLL)
// param UNROLL=4 values=1,2,4,8

#ifndef UNROLL
#define UNROLL 4
#endif

__device__ __forceinline__ float swish(float x) {
  return x / (1.0f + expf(-x));
}

// No __restrict__: without it no load may sink below a store, so all loads stay ahead of the arithmetic.
extern "C" __global__ void __launch_bounds__(256)
swish_kernel(const float* values, float* out, long long n) {
  constexpr int tile = 1024 * UNROLL;  // 256 threads * 4 floats * UNROLL
  const long long base = static_cast<long long>(blockIdx.x) * tile;

  if (base + tile <= n) {  // full tile: the same for the whole block
    // Buffers begin at multiples of 256 bytes and base is a multiple of 1024 floats: 16-byte aligned.
    const float4* in4 = reinterpret_cast<const float4*>(values + base) + threadIdx.x;
    float4* out4 = reinterpret_cast<float4*>(out + base) + threadIdx.x;

    float4 v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
      v[k] = in4[k * 256];
    }
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
      v[k].x = swish(v[k].x);
      v[k].y = swish(v[k].y);
      v[k].z = swish(v[k].z);
      v[k].w = swish(v[k].w);
      out4[k * 256] = v[k];
    }
    return;
  }

  // Partial tile: only the last block gets here.
  for (long long i = base + threadIdx.x; i < n; i += 256) {
    out[i] = swish(values[i]);
  }
}
