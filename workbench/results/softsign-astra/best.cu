// softsign: UNROLL 16-byte vectors a thread, all loads issued before the first division.
// launch softsign_kernel block=256 grid=ceil(n, 1024 * UNROLL)
// param UNROLL=2 values=1,2,4
// param STREAM=1 values=0,1

#ifndef UNROLL
#define UNROLL 2
#endif
#ifndef STREAM
#define STREAM 1
#endif

__device__ __forceinline__ float softsign(float v) {
  return v / (1.0f + fabsf(v));
}

__device__ __forceinline__ float4 load_vector(const float4* p) {
#if STREAM
  return __ldcs(p);
#else
  return *p;
#endif
}

__device__ __forceinline__ void store_vector(float4* p, float4 v) {
#if STREAM
  __stcs(p, v);
#else
  *p = v;
#endif
}

extern "C" __global__ void __launch_bounds__(256) softsign_kernel(const float* x, float* out, long long n) {
  constexpr int THREADS = 256;
  constexpr int TILE = THREADS * 4 * UNROLL;  // floats a block
  const long long begin = static_cast<long long>(blockIdx.x) * TILE;

  if (n - begin >= TILE) {
    // Full tile: begin is a multiple of 1024 floats, so both pointers are 16-byte aligned.
    const float4* src = reinterpret_cast<const float4*>(x + begin) + threadIdx.x;
    float4* dst = reinterpret_cast<float4*>(out + begin) + threadIdx.x;

    float4 v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
      v[k] = load_vector(src + k * THREADS);
    }
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
      float4 r;
      r.x = softsign(v[k].x);
      r.y = softsign(v[k].y);
      r.z = softsign(v[k].z);
      r.w = softsign(v[k].w);
      store_vector(dst + k * THREADS, r);
    }
  } else {
    // Only the last block: element by element, nothing beyond n is touched.
    for (long long i = begin + threadIdx.x; i < n; i += THREADS) {
      out[i] = softsign(x[i]);
    }
  }
}
