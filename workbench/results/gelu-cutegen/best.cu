// gelu: float4 streaming kernel, one tile of 1024 * UNROLL elements a block, all loads issued before the arithmetic.
// launch gelu_kernel block=256 grid=ceil(n, 1024 * UNROLL)
// param UNROLL=2 values=1,2,4,8
#ifndef UNROLL
#define UNROLL 2
#endif

__device__ __forceinline__ float gelu_one(float x) {
  const float h = 0.5f * x;
  return fmaf(h, erff(x * 0.70710678118654752f), h);
}

__device__ __forceinline__ float4 gelu_four(float4 v) {
  return make_float4(gelu_one(v.x), gelu_one(v.y), gelu_one(v.z), gelu_one(v.w));
}

extern "C" __global__ void __launch_bounds__(256) gelu_kernel(const float* __restrict__ x, float* __restrict__ out,
                                                              long long n) {
  constexpr int kThreads = 256;
  constexpr int kTile = kThreads * 4 * UNROLL;
  const long long base = static_cast<long long>(blockIdx.x) * kTile;
  if (base >= n) return;
  const long long left = n - base;
  const float* src = x + base;
  float* dst = out + base;
  const int t = static_cast<int>(threadIdx.x);
  const bool aligned =
      ((reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(out)) & 15ull) == 0;

  if (aligned && left >= kTile) {
    // Full tile: every load in flight first, then compute and stream out.
    const float4* src4 = reinterpret_cast<const float4*>(src) + t;
    float4* dst4 = reinterpret_cast<float4*>(dst) + t;
    float4 v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) v[k] = __ldcs(src4 + k * kThreads);
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) __stcs(dst4 + k * kThreads, gelu_four(v[k]));
    return;
  }

  // Last, partial tile (or pointers that are not 16-byte aligned).
  const int count = left < kTile ? static_cast<int>(left) : kTile;
  const int vectors = aligned ? count / 4 : 0;
#pragma unroll 1
  for (int i = t; i < vectors; i += kThreads) {
    const float4 v = __ldcs(reinterpret_cast<const float4*>(src) + i);
    __stcs(reinterpret_cast<float4*>(dst) + i, gelu_four(v));
  }
#pragma unroll 1
  for (int i = vectors * 4 + t; i < count; i += kThreads) dst[i] = gelu_one(src[i]);
}
