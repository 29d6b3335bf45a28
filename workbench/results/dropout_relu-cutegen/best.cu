// dropout_relu: one Philox block a thread and chunk. Two kernels, one of which has a grid of 0:
// columns % 8 == 0: x is one flat run of Philox blocks of 8 floats. A warp takes 32 blocks (1 KiB) in two fully
//   contiguous float4 accesses; lanes 2p and 2p+1 own blocks p and 16+p of the warp and swap half of their words.
// otherwise: a thread draws the 8 keep bits of one block, then the warp walks its 32 blocks with coalesced floats.
// launch dropout_relu block=256 grid=max(0, 1 - columns % 8)*ceil(rows*ceil(columns, 8), 256*CHUNKS)
// launch dropout_relu_ragged block=256 grid=min(1, columns % 8)*ceil(rows*ceil(columns, 8), 256)
// param CHUNKS=1 values=1,2,4
// param HINT=1 values=0,1
#ifndef CHUNKS
#define CHUNKS 1
#endif
#ifndef HINT
#define HINT 1
#endif

struct Draws {
  unsigned w0, w1, w2, w3;
};

__device__ __forceinline__ Draws philox(unsigned key0, unsigned key1, unsigned node, unsigned eight) {
  unsigned c0 = node, c1 = eight, c2 = 0, c3 = 0x44524F50u;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = static_cast<unsigned>(b >> 32) ^ c1 ^ key0;
    c2 = static_cast<unsigned>(a >> 32) ^ c3 ^ key1;
    c1 = static_cast<unsigned>(b);
    c3 = static_cast<unsigned>(a);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

// The row of Philox block t; 32 bits where they suffice, a shift where a row has a power of two of blocks.
__device__ __forceinline__ long long row_of(long long t, long long eights, long long total) {
  if (total < (1ll << 32)) {
    const unsigned u = static_cast<unsigned>(t), e = static_cast<unsigned>(eights);
    if ((e & (e - 1u)) == 0u) return static_cast<long long>(u >> (31 - __clz(static_cast<int>(e))));
    return static_cast<long long>(u / e);
  }
  return t / eights;
}

struct Rule {
  unsigned limit;  // threshold << 16: both halves are compared in the high 16 bits
  bool is_any;     // false: the threshold is above every draw
  float scale;
};

__device__ __forceinline__ Rule make_rule(long long threshold) {
  Rule rule;
  const int t = static_cast<int>(threshold);
  rule.is_any = threshold < 65536;
  rule.limit = rule.is_any && t > 0 ? static_cast<unsigned>(t) << 16 : 0u;
  const float left = static_cast<float>(rule.is_any ? 65536 - t : 1);
  rule.scale = 65536.0f * __frcp_rn(left);  // a power of two times a rounded reciprocal: the rounded quotient
  return rule;
}

__device__ __forceinline__ float relu(float v) {
  float r;
  asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(r) : "f"(v));
  return r;
}

__device__ __forceinline__ float apply(float v, unsigned draw_high, const Rule& rule) {
  const float r = relu(v) * rule.scale;
  return (draw_high >= rule.limit) && rule.is_any ? r : 0.0f;
}

__device__ __forceinline__ float4 apply4(float4 v, unsigned first, unsigned second, const Rule& rule) {
  float4 r;
  r.x = apply(v.x, first << 16, rule);
  r.y = apply(v.y, first, rule);  // the low half cannot change a comparison with a limit of 16 zero low bits
  r.z = apply(v.z, second << 16, rule);
  r.w = apply(v.w, second, rule);
  return r;
}

__device__ __forceinline__ float4 load4(const float4* p) {
#if HINT
  return __ldcs(p);
#else
  return __ldg(p);
#endif
}

__device__ __forceinline__ void store4(float4* p, float4 v) {
#if HINT
  __stcs(p, v);
#else
  *p = v;
#endif
}

extern "C" __global__ void __launch_bounds__(256, (CHUNKS == 1 ? 8 : (CHUNKS == 2 ? 6 : 4)))
    dropout_relu(const float* __restrict__ x, const unsigned* __restrict__ nodes, float* __restrict__ out,
                 long long rows, long long columns, long long seed, long long step, long long threshold) {
  const long long eights = columns >> 3, total = rows * eights, quads = total * 2;
  const unsigned lane = threadIdx.x & 31u;
  const bool is_odd = (lane & 1u) != 0u;
  const long long tile = static_cast<long long>(blockIdx.x) * (256 * CHUNKS) + (threadIdx.x & ~31u);
  const float4* const from = reinterpret_cast<const float4*>(x);
  float4* const to = reinterpret_cast<float4*>(out);

  float4 a[CHUNKS], b[CHUNKS];
  unsigned node[CHUNKS], eight[CHUNKS];
#pragma unroll
  for (int c = 0; c < CHUNKS; ++c) {
    const long long first = tile + c * 256, q = first * 2 + lane;
    const long long block = first + (lane >> 1) + (is_odd ? 16 : 0);
    a[c] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    b[c] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    node[c] = 0u;
    eight[c] = 0u;
    if (block < total) {
      const long long row = row_of(block, eights, total);
      node[c] = __ldg(nodes + row);
      eight[c] = static_cast<unsigned>(block) - static_cast<unsigned>(row) * static_cast<unsigned>(eights);
    }
    if (q < quads) a[c] = load4(from + q);
    if (q + 32 < quads) b[c] = load4(from + q + 32);
  }

  const Rule rule = make_rule(threshold);
  const unsigned key0 = static_cast<unsigned>(seed), key1 = static_cast<unsigned>(step);
#pragma unroll
  for (int c = 0; c < CHUNKS; ++c) {
    const long long q = (tile + c * 256) * 2 + lane;
    const Draws d = philox(key0, key1, node[c], eight[c]);
    // The even lane keeps words 0, 1 of its block (p) and gets words 0, 1 of block 16 + p; the odd one words 2, 3.
    const unsigned got0 = __shfl_xor_sync(0xFFFFFFFFu, is_odd ? d.w0 : d.w2, 1);
    const unsigned got1 = __shfl_xor_sync(0xFFFFFFFFu, is_odd ? d.w1 : d.w3, 1);
    const unsigned a0 = is_odd ? got0 : d.w0, a1 = is_odd ? got1 : d.w1;
    const unsigned b0 = is_odd ? d.w2 : got0, b1 = is_odd ? d.w3 : got1;
    if (q < quads) store4(to + q, apply4(a[c], a0, a1, rule));
    if (q + 32 < quads) store4(to + q + 32, apply4(b[c], b0, b1, rule));
  }
}

extern "C" __global__ void __launch_bounds__(256)
    dropout_relu_ragged(const float* __restrict__ x, const unsigned* __restrict__ nodes, float* __restrict__ out,
                        long long rows, long long columns, long long seed, long long step, long long threshold) {
  const long long eights = (columns + 7) / 8, total = rows * eights;
  const unsigned lane = threadIdx.x & 31u;
  const long long block = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  const Rule rule = make_rule(threshold);

  long long base = 0;
  unsigned bits = 0u;  // bits 0..7: the column exists; bits 8..15: it is kept
  if (block < total) {
    const long long row = row_of(block, eights, total), eight = block - row * eights;
    const long long left = columns - eight * 8;
    base = row * columns + eight * 8;
    const Draws d = philox(static_cast<unsigned>(seed), static_cast<unsigned>(step), __ldg(nodes + row),
                           static_cast<unsigned>(eight));
    bits = left >= 8 ? 0xFFu : (1u << static_cast<int>(left)) - 1u;
    if (rule.is_any) {
      bits |= (d.w0 << 16) >= rule.limit ? 1u << 8 : 0u;
      bits |= d.w0 >= rule.limit ? 1u << 9 : 0u;
      bits |= (d.w1 << 16) >= rule.limit ? 1u << 10 : 0u;
      bits |= d.w1 >= rule.limit ? 1u << 11 : 0u;
      bits |= (d.w2 << 16) >= rule.limit ? 1u << 12 : 0u;
      bits |= d.w2 >= rule.limit ? 1u << 13 : 0u;
      bits |= (d.w3 << 16) >= rule.limit ? 1u << 14 : 0u;
      bits |= d.w3 >= rule.limit ? 1u << 15 : 0u;
    }
  }
  __syncwarp();

  const unsigned k = lane & 7u;
  long long at[8];
  unsigned state[8];
  float value[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int source = i * 4 + static_cast<int>(lane >> 3);
    at[i] = __shfl_sync(0xFFFFFFFFu, base, source) + k;
    state[i] = __shfl_sync(0xFFFFFFFFu, bits, source) >> k;
    value[i] = 0.0f;
    if (state[i] & 1u) value[i] = __ldg(x + at[i]);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (state[i] & 1u) out[at[i]] = (state[i] & 0x100u) ? relu(value[i]) * rule.scale : 0.0f;
  }
}
