// swish: 16-byte streaming accesses, UNROLL independent vectors a thread, one tile of 1024 * UNROLL elements a block.
// launch swish_kernel block=256 grid=ceil(n, 1024 * UNROLL)
// param UNROLL=4 values=1,2,4,8
#ifndef UNROLL
#define UNROLL 4
#endif

// With e = exp(-|x|): x >= 0 gives x / (1 + e), x < 0 gives x * e / (1 + e). The denominator lies in [1, 2].
// e is kept scaled by 2^64, so that it is a normal number down to x = -131, where the result is below every denormal.
__device__ __forceinline__ float swish_one(float x) {
  const float a = fmaxf(-fabsf(x), -131.0f);
  // 12583103 = 1.5 * 2^23 + 127 + 64: the low bits of z hold the biased exponent of 2^(k + 64).
  const float z = __fmaf_rn(a, 1.44269502f, 12583103.0f);
  const float k = __fsub_rn(z, 12583103.0f);
  float f = __fmaf_rn(a, 1.44269502f, -k);
  f = __fmaf_rn(a, 1.925963033e-8f, f);
  float p;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(f));
  const float e64 = __fmul_rn(p, __uint_as_float(__float_as_uint(z) << 23));
  const float den = __fmaf_rn(e64, 5.42101086e-20f, 1.0f);  // 2^-64
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(den));
  const float xc = x < -131.0f ? -131.0f : x;  // a NaN stays a NaN
  const float q = __fmul_rn(xc, r);
  const float neg = __fmul_rn(__fmul_rn(q, e64), 5.42101086e-20f);
  return x < 0.0f ? neg : q;
}

__device__ __forceinline__ float4 swish_four(float4 v) {
  v.x = swish_one(v.x);
  v.y = swish_one(v.y);
  v.z = swish_one(v.z);
  v.w = swish_one(v.w);
  return v;
}

extern "C" __global__ void __launch_bounds__(256) swish_kernel(const float* __restrict__ x, float* __restrict__ out,
                                                               long long n) {
  constexpr int kThreads = 256;
  constexpr int kTile = kThreads * 4 * UNROLL;
  const long long base = static_cast<long long>(blockIdx.x) * kTile;
  const long long left = n - base;
  if (left <= 0) return;
  const float* src = x + base;
  float* dst = out + base;
  const int tid = static_cast<int>(threadIdx.x);
  const bool aligned =
      ((reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(out)) & 15ull) == 0;

  if (aligned && left >= kTile) {
    const float4* src4 = reinterpret_cast<const float4*>(src) + tid;
    float4* dst4 = reinterpret_cast<float4*>(dst) + tid;
    float4 v[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) v[u] = __ldcs(src4 + u * kThreads);
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) __stcs(dst4 + u * kThreads, swish_four(v[u]));
    return;
  }

  const int count = left < kTile ? static_cast<int>(left) : kTile;
  int done = 0;
  if (aligned) {
    const int vectors = count >> 2;
    const float4* src4 = reinterpret_cast<const float4*>(src);
    float4* dst4 = reinterpret_cast<float4*>(dst);
    for (int i = tid; i < vectors; i += kThreads) __stcs(dst4 + i, swish_four(__ldcs(src4 + i)));
    done = vectors << 2;
  }
  for (int i = done + tid; i < count; i += kThreads) dst[i] = swish_one(src[i]);
}
