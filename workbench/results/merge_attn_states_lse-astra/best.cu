// merge_attn_states_lse.cu - flat float4 kernel: every warp owns 32*VPT consecutive float4, all loads go out first.
// launch merge block=256 grid=ceil(n*h*max(d,1),1024*VPT)
// param VPT=2 values=1,2,4
// param STREAM=1 values=0,1
#ifndef VPT
#define VPT 2
#endif
#ifndef STREAM
#define STREAM 1
#endif

struct MergeWeights {
  float wa, wb, sum, top;
};

__device__ __forceinline__ MergeWeights merge_weights(float sa, float sb) {
  MergeWeights w;
  w.top = fmaxf(sa, sb);
  const float a = expf(sa - w.top);
  const float b = expf(sb - w.top);
  w.sum = a + b;
  const float inv = __frcp_rn(w.sum);
  w.wa = a * inv;
  w.wb = b * inv;
  return w;
}

// volatile: the loads stay in the order in which they are written
__device__ __forceinline__ float load1(const float* p) {
  float x;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(p));
  return x;
}

__device__ __forceinline__ float4 load4(const float4* p) {
  float4 x;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "l"(p));
  return x;
}

__device__ __forceinline__ void store4(float4* p, float4 x) {
#if STREAM
  __stcs(p, x);
#else
  *p = x;
#endif
}

__device__ __forceinline__ float4 blend4(const MergeWeights& w, const float4& a, const float4& b) {
  float4 o;
  o.x = fmaf(w.wa, a.x, w.wb * b.x);
  o.y = fmaf(w.wa, a.y, w.wb * b.y);
  o.z = fmaf(w.wa, a.z, w.wb * b.z);
  o.w = fmaf(w.wa, a.w, w.wb * b.w);
  return o;
}

extern "C" __global__ void __launch_bounds__(256)
merge(const float* __restrict__ v_a, const float* __restrict__ s_a, const float* __restrict__ v_b,
      const float* __restrict__ s_b, float* __restrict__ v_out, float* __restrict__ s_out, long long n, long long h,
      long long d) {
  const long long rows = n * h;

  const unsigned long long addresses = reinterpret_cast<unsigned long long>(v_a) |
                                       reinterpret_cast<unsigned long long>(v_b) |
                                       reinterpret_cast<unsigned long long>(v_out);
  const long long vectors = rows * (d >> 2);

  if (d > 0 && (d & 3) == 0 && (addresses & 15ull) == 0 && vectors + 256 * VPT < 2147483648ll) {
    const unsigned q = (unsigned)(d >> 2);
    const unsigned total = (unsigned)vectors;
    const unsigned tile = blockIdx.x * (256u * VPT);
    const unsigned base = tile + (threadIdx.x >> 5) * (32u * VPT) + (threadIdx.x & 31u);
    const float4* __restrict__ a4 = reinterpret_cast<const float4*>(v_a);
    const float4* __restrict__ b4 = reinterpret_cast<const float4*>(v_b);
    float4* __restrict__ o4 = reinterpret_cast<float4*>(v_out);

    unsigned row[VPT];
    if ((q & (q - 1u)) == 0u) {
      const int shift = 31 - __clz((int)q);
#pragma unroll
      for (int k = 0; k < VPT; ++k) row[k] = (base + 32u * k) >> shift;
    } else {
#pragma unroll
      for (int k = 0; k < VPT; ++k) row[k] = (base + 32u * k) / q;
    }

    if (tile + 256u * VPT <= total) {
      float sa[VPT], sb[VPT];
      float4 va[VPT], vb[VPT];
#pragma unroll
      for (int k = 0; k < VPT; ++k) {
        sa[k] = load1(s_a + row[k]);
        sb[k] = load1(s_b + row[k]);
      }
#pragma unroll
      for (int k = 0; k < VPT; ++k) {
        va[k] = load4(a4 + (base + 32u * k));
        vb[k] = load4(b4 + (base + 32u * k));
      }
      MergeWeights w = merge_weights(sa[0], sb[0]);
#pragma unroll
      for (int k = 0; k < VPT; ++k) {
        const unsigned idx = base + 32u * k;
        if (k > 0) {
          if (row[k] != row[k > 0 ? k - 1 : 0]) w = merge_weights(sa[k], sb[k]);
        }
        store4(o4 + idx, blend4(w, va[k], vb[k]));
        if (idx == row[k] * q) s_out[row[k]] = logf(w.sum) + w.top;
      }
    } else {
#pragma unroll
      for (int k = 0; k < VPT; ++k) {
        const unsigned idx = base + 32u * k;
        if (idx >= total) continue;
        const float sa = load1(s_a + row[k]);
        const float sb = load1(s_b + row[k]);
        const float4 va = load4(a4 + idx);
        const float4 vb = load4(b4 + idx);
        const MergeWeights w = merge_weights(sa, sb);
        store4(o4 + idx, blend4(w, va, vb));
        if (idx == row[k] * q) s_out[row[k]] = logf(w.sum) + w.top;
      }
    }
    return;
  }

  if (d <= 0) {
    const long long step = (long long)gridDim.x * 256;
#pragma unroll 1
    for (long long r = (long long)blockIdx.x * 256 + threadIdx.x; r < rows; r += step) {
      const MergeWeights w = merge_weights(s_a[r], s_b[r]);
      s_out[r] = logf(w.sum) + w.top;
    }
    return;
  }

  // any other width, unaligned pointers or huge sizes: element by element
  const long long total = rows * d;
  const bool narrow = total < 2147483648ll;
  const long long first = (long long)blockIdx.x * (1024 * VPT) + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 4 * VPT; ++k) {
    const long long e = first + (long long)k * 256;
    if (e >= total) break;
    const long long r = narrow ? (long long)((unsigned)e / (unsigned)d) : e / d;
    const MergeWeights w = merge_weights(s_a[r], s_b[r]);
    v_out[e] = fmaf(w.wa, v_a[e], w.wb * v_b[e]);
    if (e == r * d) s_out[r] = logf(w.sum) + w.top;
  }
}
