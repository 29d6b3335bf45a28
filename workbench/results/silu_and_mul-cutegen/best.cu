// launch silu_and_mul_small block=64 grid=ceil(d,512)-ceil(d,512)*min(1,max(0,n*d-262144)) grid_y=max(1,min(n,65535))
// launch silu_and_mul_large block=256 grid=ceil(d,2048)*min(1,max(0,n*d-262144)) grid_y=max(1,min(n,65535))
//
// A block owns a tile of 8 * THREADS columns of a row (x: column tile, y: row, stepping by gridDim.y).
// A thread owns 8 neighbouring columns: two 16 byte loads (gate, up), one 16 byte store. If d is no multiple of 8
// the rows are not 16 byte aligned, and the same tile is done by single elements, coalesced.
// Exactly one of the launches has a grid that is not 0: small blocks spread a small problem over all
// multiprocessors, large blocks keep the number of blocks low.
#include <cuda_fp16.h>

static __device__ __forceinline__ float silu_mul(float z, float u) {
  // z * u / (1 + exp(-z)); exp overflows to inf for very negative z, its reciprocal is then 0.
  float e, r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(z * -1.4426950408889634f));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1.0f + e));
  return (z * r) * u;
}

static __device__ __forceinline__ uint4 load16(const __half* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

static __device__ __forceinline__ unsigned pair(unsigned a, unsigned b) {
  const float2 z = __half22float2(*reinterpret_cast<const __half2*>(&a));
  const float2 u = __half22float2(*reinterpret_cast<const __half2*>(&b));
  const __half2 h = __floats2half2_rn(silu_mul(z.x, u.x), silu_mul(z.y, u.y));
  return *reinterpret_cast<const unsigned*>(&h);
}

template <int THREADS>
static __device__ __forceinline__ void tile(const __half* __restrict__ x, __half* __restrict__ out, long long n,
                                            long long d) {
  const long long first = static_cast<long long>(blockIdx.x) * (8 * THREADS);
  if ((d & 7) == 0) {
    const long long j = first + threadIdx.x * 8;
    if (j >= d) return;
#pragma unroll 1
    for (long long i = blockIdx.y; i < n; i += gridDim.y) {
      const __half* const p = x + (2 * i * d + j);
      const uint4 a = load16(p);
      const uint4 b = load16(p + d);
      uint4 o;
      o.x = pair(a.x, b.x);
      o.y = pair(a.y, b.y);
      o.z = pair(a.z, b.z);
      o.w = pair(a.w, b.w);
      *reinterpret_cast<uint4*>(out + (i * d + j)) = o;
    }
  } else {
#pragma unroll 1
    for (long long i = blockIdx.y; i < n; i += gridDim.y) {
      const __half* const p = x + 2 * i * d;
      __half* const q = out + i * d;
#pragma unroll 4
      for (int k = 0; k < 8; ++k) {
        const long long j = first + k * THREADS + threadIdx.x;
        if (j < d) q[j] = __float2half_rn(silu_mul(__half2float(p[j]), __half2float(p[d + j])));
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(64) silu_and_mul_small(const __half* x, __half* out, long long n,
                                                                    long long d) {
  tile<64>(x, out, n, d);
}

extern "C" __global__ void __launch_bounds__(256, 8) silu_and_mul_large(const __half* x, __half* out, long long n,
                                                                        long long d) {
  tile<256>(x, out, n, d);
}
