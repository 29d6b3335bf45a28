// silu_and_mul - one 16-byte vector of gate and of up a thread, 2-D grid (columns, rows).
// launch silu_and_mul block=128 grid=ceil(d, 1024 * ITEMS) grid_y=min(n, 65535)
// param ITEMS=1 values=1,2,4
#include <cuda_fp16.h>

#ifndef ITEMS
#define ITEMS 1
#endif

static __device__ __forceinline__ float silu_mul_one(float z, float u) {
  float e, r;
  const float t = z * -1.4426950408889634f;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(t));
  const float s = 1.0f + e;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(s));
  return (z * r) * u;
}

static __device__ __forceinline__ unsigned int silu_mul_word(unsigned int g, unsigned int u) {
  const float2 gf = __half22float2(*reinterpret_cast<const __half2*>(&g));
  const float2 uf = __half22float2(*reinterpret_cast<const __half2*>(&u));
  const __half2 h = __floats2half2_rn(silu_mul_one(gf.x, uf.x), silu_mul_one(gf.y, uf.y));
  return *reinterpret_cast<const unsigned int*>(&h);
}

static __device__ __forceinline__ uint4 load_vec(const __half* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

extern "C" __global__ void __launch_bounds__(128, 16 / ITEMS)
silu_and_mul(const __half* x, __half* out, long long n, long long d) {
  const unsigned long long bits =
      reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(out);

  if ((d & 7) == 0 && (bits & 15ULL) == 0) {
    const long long nv = d >> 3;
    const long long v0 = static_cast<long long>(blockIdx.x) * (128 * ITEMS) + threadIdx.x;
#pragma unroll 1
    for (long long row = blockIdx.y; row < n; row += gridDim.y) {
      const __half* const gate = x + row * 2 * d + v0 * 8;
      const __half* const up = gate + d;
      __half* const dst = out + row * d + v0 * 8;

      uint4 g[ITEMS];
      uint4 u[ITEMS];
#pragma unroll
      for (int k = 0; k < ITEMS; ++k) {
        g[k] = make_uint4(0u, 0u, 0u, 0u);
        u[k] = make_uint4(0u, 0u, 0u, 0u);
        if (v0 + k * 128 < nv) {
          g[k] = load_vec(gate + k * 1024);
          u[k] = load_vec(up + k * 1024);
        }
      }
#pragma unroll
      for (int k = 0; k < ITEMS; ++k) {
        if (v0 + k * 128 < nv) {
          uint4 o;
          o.x = silu_mul_word(g[k].x, u[k].x);
          o.y = silu_mul_word(g[k].y, u[k].y);
          o.z = silu_mul_word(g[k].z, u[k].z);
          o.w = silu_mul_word(g[k].w, u[k].w);
          *reinterpret_cast<uint4*>(dst + k * 1024) = o;
        }
      }
    }
  } else {
    const long long start = static_cast<long long>(blockIdx.x) * (1024 * ITEMS);
    const long long stop = start + 1024 * ITEMS;
    const long long end = stop < d ? stop : d;
#pragma unroll 1
    for (long long row = blockIdx.y; row < n; row += gridDim.y) {
      const __half* const gate = x + row * 2 * d;
      const __half* const up = gate + d;
      __half* const dst = out + row * d;
#pragma unroll 4
      for (long long j = start + threadIdx.x; j < end; j += 128) {
        const float z = __half2float(__ldg(gate + j));
        const float w = __half2float(__ldg(up + j));
        dst[j] = __float2half_rn(silu_mul_one(z, w));
      }
    }
  }
}
