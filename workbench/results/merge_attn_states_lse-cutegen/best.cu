// merge_attn_states_lse: flat tiles of VPT*1024 consecutive floats a block of 256 threads. With d a multiple of 4 every
// thread handles VPT float4 of each input (all loads issued first), and the weights come from the row's two scores
// (a broadcast within a warp). Other d take scalar, still coalesced, accesses. s_out is written by the first n*h threads.
// HINT: 0 = default caching, 1 = streaming stores, 2 = streaming loads, 3 = both.
// param VPT=2 values=1,2,4
// param HINT=0 values=0,1,2,3
// launch merge block=256 grid=max(ceil(n*h*d,VPT*1024),ceil(n*h,256))
#ifndef VPT
#define VPT 2
#endif
#ifndef HINT
#define HINT 0
#endif

static __device__ __forceinline__ float4 load_vec(const float4* p) {
#if HINT == 2 || HINT == 3
  return __ldcs(p);
#else
  return __ldg(p);
#endif
}

static __device__ __forceinline__ void store_vec(float4* p, float4 v) {
#if HINT == 1 || HINT == 3
  __stcs(p, v);
#else
  *p = v;
#endif
}

static __device__ __forceinline__ void weights(float sa, float sb, float& wa, float& wb) {
  const float e = expf(-fabsf(sa - sb));         // the larger score has weight 1, the other one e
  const float big = __fdividef(1.0f, 1.0f + e);  // 1 + e is in [1, 2]
  const float small_w = e * big;
  const bool first = sa >= sb;
  wa = first ? big : small_w;
  wb = first ? small_w : big;
}

static __device__ __forceinline__ float4 mix(float wa, float4 a, float wb, float4 b) {
  float4 o;
  o.x = fmaf(wa, a.x, wb * b.x);
  o.y = fmaf(wa, a.y, wb * b.y);
  o.z = fmaf(wa, a.z, wb * b.z);
  o.w = fmaf(wa, a.w, wb * b.w);
  return o;
}

extern "C" __global__ void __launch_bounds__(256)
merge(const float* __restrict__ v_a, const float* __restrict__ s_a, const float* __restrict__ v_b,
      const float* __restrict__ s_b, float* __restrict__ v_out, float* __restrict__ s_out, long long n, long long h,
      long long d) {
  const unsigned tid = threadIdx.x;
  const long long rows = n * h;
  const long long total = rows * d;

  // Scores of the row whose s_out this thread writes (the grid has at least n*h threads).
  const long long my_row = (long long)blockIdx.x * 256 + tid;
  const bool has_row = my_row < rows;
  float ra = 0.0f, rb = 0.0f;
  if (has_row) {
    ra = __ldg(s_a + my_row);
    rb = __ldg(s_b + my_row);
  }

  const long long tile = (long long)blockIdx.x * (VPT * 1024);  // first float of this block
  if (tile < total) {
    if (total <= 0x7fffffffLL) {
      if ((d & 3) == 0) {
        const unsigned d4 = (unsigned)d >> 2;
        const unsigned nvec = (unsigned)total >> 2;
        const unsigned base = (unsigned)(tile >> 2) + tid;
        const float4* pa = reinterpret_cast<const float4*>(v_a);
        const float4* pb = reinterpret_cast<const float4*>(v_b);
        float4* po = reinterpret_cast<float4*>(v_out);
        const bool pow2 = (d4 & (d4 - 1)) == 0;
        const unsigned shift = 31 - __clz((int)d4);
        if (tile + VPT * 1024 <= total) {
          float4 a[VPT], b[VPT];
          float sa[VPT], sb[VPT];
#pragma unroll
          for (int i = 0; i < VPT; ++i) {
            a[i] = load_vec(pa + (base + i * 256u));
            b[i] = load_vec(pb + (base + i * 256u));
          }
          if (pow2) {
#pragma unroll
            for (int i = 0; i < VPT; ++i) {
              const unsigned row = (base + i * 256u) >> shift;
              sa[i] = __ldg(s_a + row);
              sb[i] = __ldg(s_b + row);
            }
          } else {
#pragma unroll
            for (int i = 0; i < VPT; ++i) {
              const unsigned row = (base + i * 256u) / d4;
              sa[i] = __ldg(s_a + row);
              sb[i] = __ldg(s_b + row);
            }
          }
#pragma unroll
          for (int i = 0; i < VPT; ++i) {
            float wa, wb;
            weights(sa[i], sb[i], wa, wb);
            store_vec(po + (base + i * 256u), mix(wa, a[i], wb, b[i]));
          }
        } else {
          for (int i = 0; i < VPT; ++i) {
            const unsigned k = base + i * 256u;
            if (k < nvec) {
              const float4 a = load_vec(pa + k);
              const float4 b = load_vec(pb + k);
              const unsigned row = k / d4;
              float wa, wb;
              weights(__ldg(s_a + row), __ldg(s_b + row), wa, wb);
              store_vec(po + k, mix(wa, a, wb, b));
            }
          }
        }
      } else {
        const unsigned du = (unsigned)d;
        const unsigned tot = (unsigned)total;
        const unsigned base = (unsigned)tile + tid;
#pragma unroll 4
        for (int i = 0; i < VPT * 4; ++i) {
          const unsigned k = base + i * 256u;
          if (k < tot) {
            const float a = __ldg(v_a + k);
            const float b = __ldg(v_b + k);
            const unsigned row = k / du;
            float wa, wb;
            weights(__ldg(s_a + row), __ldg(s_b + row), wa, wb);
            v_out[k] = fmaf(wa, a, wb * b);
          }
        }
      }
    } else {
      for (int i = 0; i < VPT * 4; ++i) {
        const long long k = tile + tid + i * 256LL;
        if (k < total) {
          const long long row = k / d;
          float wa, wb;
          weights(__ldg(s_a + row), __ldg(s_b + row), wa, wb);
          v_out[k] = fmaf(wa, __ldg(v_a + k), wb * __ldg(v_b + k));
        }
      }
    }
  }

  if (has_row) s_out[my_row] = log1pf(expf(-fabsf(ra - rb))) + fmaxf(ra, rb);
}
