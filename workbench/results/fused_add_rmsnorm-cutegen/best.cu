// fused_add_rmsnorm: a row a block of 512 threads; the row's sums stay in registers (16-byte accesses),
// so x and residual are read once and written once. Other widths: two passes over the row.
// launch rmsnorm_small block=512 grid=n-n*min(1,max(0,d-4096))
// launch rmsnorm_large block=512 grid=n*min(1,max(0,d-4096))
#include <cuda_fp16.h>

#define BLOCK 512
#define WARPS 16

__device__ __forceinline__ float2 unpack(unsigned v) {
  return __half22float2(*reinterpret_cast<const __half2*>(&v));
}

__device__ __forceinline__ unsigned pack(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<unsigned*>(&h);
}

// First half of the block's sum: each warp leaves its part in shared memory. A barrier must follow.
__device__ __forceinline__ void leave_partial(float v, float* partial) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = v;
}

// Second half: every thread gets the sum of the 16 parts.
__device__ __forceinline__ float gather_partials(const float* partial) {
  const float4 p = reinterpret_cast<const float4*>(partial)[threadIdx.x & 3];
  float v = (p.x + p.y) + (p.z + p.w);
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  v += __shfl_xor_sync(0xffffffffu, v, 2);
  return v;
}

__device__ __forceinline__ void add_vec(const uint4& a, const uint4& b, float* s) {
  float2 p, q;
  p = unpack(a.x); q = unpack(b.x); s[0] = p.x + q.x; s[1] = p.y + q.y;
  p = unpack(a.y); q = unpack(b.y); s[2] = p.x + q.x; s[3] = p.y + q.y;
  p = unpack(a.z); q = unpack(b.z); s[4] = p.x + q.x; s[5] = p.y + q.y;
  p = unpack(a.w); q = unpack(b.w); s[6] = p.x + q.x; s[7] = p.y + q.y;
}

__device__ __forceinline__ uint4 pack_sums(const float* s) {
  uint4 o;
  o.x = pack(s[0], s[1]);
  o.y = pack(s[2], s[3]);
  o.z = pack(s[4], s[5]);
  o.w = pack(s[6], s[7]);
  return o;
}

__device__ __forceinline__ uint4 pack_scaled(const float* s, const uint4& w, float scale) {
  uint4 o;
  float2 f;
  f = unpack(w.x); o.x = pack(s[0] * scale * f.x, s[1] * scale * f.y);
  f = unpack(w.y); o.y = pack(s[2] * scale * f.x, s[3] * scale * f.y);
  f = unpack(w.z); o.z = pack(s[4] * scale * f.x, s[5] * scale * f.y);
  f = unpack(w.w); o.w = pack(s[6] * scale * f.x, s[7] * scale * f.y);
  return o;
}

// The row in registers. Needs (VPT - 1) * BLOCK <= nvec <= VPT * BLOCK: only the last vector is guarded.
template <int VPT>
__device__ __forceinline__ void cached_row(uint4* __restrict__ xr, uint4* __restrict__ rr,
                                           const uint4* __restrict__ w, int nvec, float inv_d, float* partial) {
  const int t = threadIdx.x;
  const bool last = t + (VPT - 1) * BLOCK < nvec;
  uint4 a[VPT], b[VPT], wv[VPT];
  float s[VPT][8];

#pragma unroll
  for (int i = 0; i < VPT; i++) {
    a[i] = make_uint4(0u, 0u, 0u, 0u);
    b[i] = make_uint4(0u, 0u, 0u, 0u);
    if (i < VPT - 1 || last) {
      a[i] = __ldcg(xr + t + i * BLOCK);
      b[i] = __ldcg(rr + t + i * BLOCK);
    }
  }
#pragma unroll
  for (int i = 0; i < VPT; i++) {
    wv[i] = make_uint4(0u, 0u, 0u, 0u);
    if (i < VPT - 1 || last) wv[i] = __ldg(w + t + i * BLOCK);
  }

  float q0 = 0.0f, q1 = 0.0f;
#pragma unroll
  for (int i = 0; i < VPT; i++) {
    add_vec(a[i], b[i], s[i]);
#pragma unroll
    for (int k = 0; k < 8; k += 2) {
      q0 = fmaf(s[i][k], s[i][k], q0);
      q1 = fmaf(s[i][k + 1], s[i][k + 1], q1);
    }
  }
  leave_partial(q0 + q1, partial);

  // The sums go out while the other warps arrive.
#pragma unroll
  for (int i = 0; i < VPT; i++) {
    if (i < VPT - 1 || last) rr[t + i * BLOCK] = pack_sums(s[i]);
  }
  __syncthreads();

  const float scale = rsqrtf(fmaf(gather_partials(partial), inv_d, 1e-6f));
#pragma unroll
  for (int i = 0; i < VPT; i++) {
    if (i < VPT - 1 || last) xr[t + i * BLOCK] = pack_scaled(s[i], wv[i], scale);
  }
}

// Any width, any alignment: two passes, each thread touches only its own elements.
__device__ __forceinline__ void scalar_row(__half* xr, __half* rr, const __half* w, long long d, float inv_d,
                                           float* partial) {
  float q = 0.0f;
  for (long long j = threadIdx.x; j < d; j += BLOCK) {
    const float s = __half2float(xr[j]) + __half2float(rr[j]);
    q = fmaf(s, s, q);
  }
  leave_partial(q, partial);
  __syncthreads();
  const float scale = rsqrtf(fmaf(gather_partials(partial), inv_d, 1e-6f));
#pragma unroll 1
  for (long long j = threadIdx.x; j < d; j += BLOCK) {
    const float s = __half2float(xr[j]) + __half2float(rr[j]);
    const float wj = __half2float(w[j]);
    xr[j] = __float2half(s * scale * wj);
    rr[j] = __float2half(s);
  }
}

// Wide rows whose width is a multiple of 8: two passes with 16-byte accesses.
__device__ __forceinline__ void vector_row(uint4* xr, uint4* rr, const uint4* w, long long nvec, float inv_d,
                                           float* partial) {
  float q0 = 0.0f, q1 = 0.0f;
#pragma unroll 2
  for (long long j = threadIdx.x; j < nvec; j += BLOCK) {
    float s[8];
    const uint4 a = xr[j];
    const uint4 b = rr[j];
    add_vec(a, b, s);
#pragma unroll
    for (int k = 0; k < 8; k += 2) {
      q0 = fmaf(s[k], s[k], q0);
      q1 = fmaf(s[k + 1], s[k + 1], q1);
    }
  }
  leave_partial(q0 + q1, partial);
  __syncthreads();
  const float scale = rsqrtf(fmaf(gather_partials(partial), inv_d, 1e-6f));
#pragma unroll 1
  for (long long j = threadIdx.x; j < nvec; j += BLOCK) {
    float s[8];
    const uint4 a = xr[j];
    const uint4 b = rr[j];
    const uint4 wv = w[j];
    add_vec(a, b, s);
    rr[j] = pack_sums(s);
    xr[j] = pack_scaled(s, wv, scale);
  }
}

// d <= 4096: at most one vector a thread, full occupancy.
extern "C" __global__ void __launch_bounds__(512, 4)
rmsnorm_small(__half* x, __half* residual, const __half* weight, long long n, long long d) {
  __shared__ __align__(16) float partial[WARPS];
  const long long start = static_cast<long long>(blockIdx.x) * d;
  __half* const xr = x + start;
  __half* const rr = residual + start;
  const float inv_d = __frcp_rn(static_cast<float>(d));
  if ((d & 7) == 0 && d <= 8 * BLOCK) {
    cached_row<1>(reinterpret_cast<uint4*>(xr), reinterpret_cast<uint4*>(rr),
                  reinterpret_cast<const uint4*>(weight), static_cast<int>(d >> 3), inv_d, partial);
  } else {
    scalar_row(xr, rr, weight, d, inv_d, partial);
  }
}

// d > 4096: two to four vectors a thread in registers, or two passes.
extern "C" __global__ void __launch_bounds__(512, 2)
rmsnorm_large(__half* x, __half* residual, const __half* weight, long long n, long long d) {
  __shared__ __align__(16) float partial[WARPS];
  const long long start = static_cast<long long>(blockIdx.x) * d;
  __half* const xr = x + start;
  __half* const rr = residual + start;
  const float inv_d = __frcp_rn(static_cast<float>(d));
  if ((d & 7) == 0) {
    uint4* const xv = reinterpret_cast<uint4*>(xr);
    uint4* const rv = reinterpret_cast<uint4*>(rr);
    const uint4* const wv = reinterpret_cast<const uint4*>(weight);
    const long long nvec = d >> 3;
    if (nvec <= BLOCK) {
      cached_row<1>(xv, rv, wv, static_cast<int>(nvec), inv_d, partial);
    } else if (nvec <= 2 * BLOCK) {
      cached_row<2>(xv, rv, wv, static_cast<int>(nvec), inv_d, partial);
    } else if (nvec <= 3 * BLOCK) {
      cached_row<3>(xv, rv, wv, static_cast<int>(nvec), inv_d, partial);
    } else if (nvec <= 4 * BLOCK) {
      cached_row<4>(xv, rv, wv, static_cast<int>(nvec), inv_d, partial);
    } else {
      vector_row(xv, rv, wv, nvec, inv_d, partial);
    }
  } else {
    scalar_row(xr, rr, weight, d, inv_d, partial);
  }
}
