// fused_add_rmsnorm: a row a block, the row kept in registers, 16-byte accesses, one barrier.
// launch rmsnorm_short block=512 grid=n*(1-min(1,d/4097))
// launch rmsnorm_long block=512 grid=n*min(1,d/4097)
// param EARLY_WEIGHT=0 values=0,1
#include <cuda_fp16.h>

#ifndef EARLY_WEIGHT
#define EARLY_WEIGHT 0
#endif

#define ROW_THREADS 512

__device__ __forceinline__ float2 unpack_pair(unsigned int bits) {
  const __half2 pair = *reinterpret_cast<const __half2*>(&bits);
  return __half22float2(pair);
}

__device__ __forceinline__ unsigned int pack_pair(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned int*>(&pair);
}

// The sum over the 512 threads of the block, in every thread. All threads of the block must call it, once.
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float partial[ROW_THREADS / 32];
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int warp = static_cast<int>(threadIdx.x) >> 5;
#pragma unroll
  for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  float total = partial[lane & (ROW_THREADS / 32 - 1)];
#pragma unroll
  for (int step = ROW_THREADS / 64; step > 0; step >>= 1) total += __shfl_xor_sync(0xffffffffu, total, step);
  return total;
}

template <int VECS>
__device__ __forceinline__ void body(__half* x, __half* residual, const __half* weight, long long d) {
  const int tid = static_cast<int>(threadIdx.x);
  const long long start = static_cast<long long>(blockIdx.x) * d;
  const unsigned long long addresses = reinterpret_cast<unsigned long long>(x) |
                                       reinterpret_cast<unsigned long long>(residual) |
                                       reinterpret_cast<unsigned long long>(weight);
  const bool fast = (d & 7) == 0 && (addresses & 15ull) == 0 && d <= static_cast<long long>(VECS * ROW_THREADS * 8);

  if (fast) {
    constexpr bool early = VECS == 1 || EARLY_WEIGHT != 0;
    const int vectors = static_cast<int>(d >> 3);
    uint4* const row = reinterpret_cast<uint4*>(x + start) + tid;
    uint4* const sums = reinterpret_cast<uint4*>(residual + start) + tid;
    const uint4* const scales = reinterpret_cast<const uint4*>(weight) + tid;

    uint4 xs[VECS];
    uint4 rs[VECS];
#pragma unroll
    for (int k = 0; k < VECS; ++k) {
      xs[k] = make_uint4(0u, 0u, 0u, 0u);
      rs[k] = make_uint4(0u, 0u, 0u, 0u);
      if (tid + k * ROW_THREADS < vectors) {
        xs[k] = row[k * ROW_THREADS];
        rs[k] = sums[k * ROW_THREADS];
      }
    }

    uint4 ws[VECS];
    if constexpr (VECS == 1) {
      ws[0] = make_uint4(0u, 0u, 0u, 0u);
      if (tid < vectors) ws[0] = __ldg(scales);
    }

    float sum[VECS][8];
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < VECS; ++k) {
      const float2 x0 = unpack_pair(xs[k].x), r0 = unpack_pair(rs[k].x);
      const float2 x1 = unpack_pair(xs[k].y), r1 = unpack_pair(rs[k].y);
      const float2 x2 = unpack_pair(xs[k].z), r2 = unpack_pair(rs[k].z);
      const float2 x3 = unpack_pair(xs[k].w), r3 = unpack_pair(rs[k].w);
      sum[k][0] = x0.x + r0.x;
      sum[k][1] = x0.y + r0.y;
      sum[k][2] = x1.x + r1.x;
      sum[k][3] = x1.y + r1.y;
      sum[k][4] = x2.x + r2.x;
      sum[k][5] = x2.y + r2.y;
      sum[k][6] = x3.x + r3.x;
      sum[k][7] = x3.y + r3.y;
#pragma unroll
      for (int i = 0; i < 8; ++i) squares += sum[k][i] * sum[k][i];
    }

#pragma unroll
    for (int k = 0; k < VECS; ++k) {
      if (tid + k * ROW_THREADS < vectors) {
        uint4 packed;
        packed.x = pack_pair(sum[k][0], sum[k][1]);
        packed.y = pack_pair(sum[k][2], sum[k][3]);
        packed.z = pack_pair(sum[k][4], sum[k][5]);
        packed.w = pack_pair(sum[k][6], sum[k][7]);
        sums[k * ROW_THREADS] = packed;
      }
    }

    if constexpr (VECS != 1 && early) {
#pragma unroll
      for (int k = 0; k < VECS; ++k) {
        ws[k] = make_uint4(0u, 0u, 0u, 0u);
        if (tid + k * ROW_THREADS < vectors) ws[k] = __ldg(scales + k * ROW_THREADS);
      }
    }

    const float total = block_sum(squares);

    if constexpr (!early) {
#pragma unroll
      for (int k = 0; k < VECS; ++k) {
        ws[k] = make_uint4(0u, 0u, 0u, 0u);
        if (tid + k * ROW_THREADS < vectors) ws[k] = __ldg(scales + k * ROW_THREADS);
      }
    }

    const float scale = rsqrtf(total / static_cast<float>(d) + 1e-6f);

#pragma unroll
    for (int k = 0; k < VECS; ++k) {
      if (tid + k * ROW_THREADS < vectors) {
        const float2 w0 = unpack_pair(ws[k].x);
        const float2 w1 = unpack_pair(ws[k].y);
        const float2 w2 = unpack_pair(ws[k].z);
        const float2 w3 = unpack_pair(ws[k].w);
        uint4 packed;
        packed.x = pack_pair(sum[k][0] * scale * w0.x, sum[k][1] * scale * w0.y);
        packed.y = pack_pair(sum[k][2] * scale * w1.x, sum[k][3] * scale * w1.y);
        packed.z = pack_pair(sum[k][4] * scale * w2.x, sum[k][5] * scale * w2.y);
        packed.w = pack_pair(sum[k][6] * scale * w3.x, sum[k][7] * scale * w3.y);
        row[k * ROW_THREADS] = packed;
      }
    }
  } else {
    __half* const row = x + start;
    __half* const sums = residual + start;
    float squares = 0.0f;
#pragma unroll 2
    for (long long j = tid; j < d; j += ROW_THREADS) {
      const float sum = __half2float(row[j]) + __half2float(sums[j]);
      squares += sum * sum;
    }
    const float total = block_sum(squares);
    const float scale = rsqrtf(total / static_cast<float>(d) + 1e-6f);
#pragma unroll 1
    for (long long j = tid; j < d; j += ROW_THREADS) {
      const float sum = __half2float(row[j]) + __half2float(sums[j]);
      row[j] = __float2half_rn(sum * scale * __half2float(weight[j]));
      sums[j] = __float2half_rn(sum);
    }
  }
}

extern "C" __global__ void __launch_bounds__(512, 4)
rmsnorm_short(__half* x, __half* residual, const __half* weight, long long n, long long d) {
  body<1>(x, residual, weight, d);
}

extern "C" __global__ void __launch_bounds__(512, 2)
rmsnorm_long(__half* x, __half* residual, const __half* weight, long long n, long long d) {
  body<4>(x, residual, weight, d);
}
