// dropout_relu: a warp takes tiles of 32 * EIGHTS Philox blocks; the lanes of a pair trade draws, so that every access
// to x and out is 512 contiguous bytes of the warp. Shapes outside the fast path take the plain loop.
// launch dropout_relu block=256 grid=min(65536, ceil(rows*ceil(columns, 8), 256*EIGHTS))
// param EIGHTS=2 values=1,2,4
// param STREAM=1 values=0,1
#ifndef EIGHTS
#define EIGHTS 2
#endif
#ifndef STREAM
#define STREAM 1
#endif

struct Draws {
  unsigned word[4];
};

__device__ __forceinline__ Draws philox(unsigned key0, unsigned key1, unsigned node, unsigned eight_columns) {
  unsigned c0 = node, c1 = eight_columns, c2 = 0, c3 = 0x44524F50u;
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
  return {{c0, c1, c2, c3}};
}

__device__ __forceinline__ float4 load4(const float4* from) {
#if STREAM
  return __ldcs(from);
#else
  return *from;
#endif
}

__device__ __forceinline__ void store4(float4* to, float4 value) {
#if STREAM
  __stcs(to, value);
#else
  *to = value;
#endif
}

__device__ __forceinline__ float keep_low(float value, unsigned draws, unsigned threshold, float scale) {
  return ((draws & 0xFFFFu) >= threshold && !(value < 0.0f)) ? value * scale : 0.0f;
}

__device__ __forceinline__ float keep_high(float value, unsigned draws, unsigned high_threshold, float scale) {
  return (draws >= high_threshold && !(value < 0.0f)) ? value * scale : 0.0f;
}

// One tile of a warp: all 32 lanes come here together.
template <bool kFull, bool kPower>
__device__ __forceinline__ void do_tile(const float4* __restrict__ x4, const unsigned* __restrict__ nodes,
                                        float4* __restrict__ out4, unsigned base, unsigned total, unsigned eights,
                                        unsigned shift, unsigned lane, unsigned key0, unsigned key1,
                                        unsigned threshold, float scale) {
  const bool is_odd = (lane & 1u) != 0;
  const unsigned high_threshold = threshold << 16;
  const unsigned own = base + (lane & 1u) * 16u + (lane >> 1);
  const unsigned first = 2u * base + lane, end = 2u * total;

  unsigned node[EIGHTS], column8[EIGHTS];
#pragma unroll
  for (int e = 0; e < EIGHTS; ++e) {
    unsigned q = own + 32u * e;
    if (!kFull) q = q < total ? q : total - 1u;
    unsigned row;
    if (kPower) {
      row = q >> shift;
      column8[e] = q & (eights - 1u);
    } else {
      row = q / eights;
      column8[e] = q - row * eights;
    }
    node[e] = __ldg(nodes + row);
  }

  const float4* const from = x4 + first;
  float4 v[EIGHTS][2];
#pragma unroll
  for (int e = 0; e < EIGHTS; ++e) {
#pragma unroll
    for (int a = 0; a < 2; ++a) {
      if (kFull || first + (64u * e + 32u * a) < end)
        v[e][a] = load4(from + (64 * e + 32 * a));
      else
        v[e][a] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
  }

  Draws draws[EIGHTS];
#pragma unroll
  for (int e = 0; e < EIGHTS; ++e) draws[e] = philox(key0, key1, node[e], column8[e]);

  float4* const to = out4 + first;
#pragma unroll
  for (int e = 0; e < EIGHTS; ++e) {
    const unsigned w0 = draws[e].word[0], w1 = draws[e].word[1], w2 = draws[e].word[2], w3 = draws[e].word[3];
    const unsigned s0 = is_odd ? w0 : w2, s1 = is_odd ? w1 : w3;
    const unsigned r0 = __shfl_xor_sync(0xFFFFFFFFu, s0, 1), r1 = __shfl_xor_sync(0xFFFFFFFFu, s1, 1);
#pragma unroll
    for (int a = 0; a < 2; ++a) {
      const unsigned d0 = a == 0 ? (is_odd ? r0 : w0) : (is_odd ? w2 : r0);
      const unsigned d1 = a == 0 ? (is_odd ? r1 : w1) : (is_odd ? w3 : r1);
      float4 word = v[e][a];
      word.x = keep_low(word.x, d0, threshold, scale);
      word.y = keep_high(word.y, d0, high_threshold, scale);
      word.z = keep_low(word.z, d1, threshold, scale);
      word.w = keep_high(word.w, d1, high_threshold, scale);
      if (kFull || first + (64u * e + 32u * a) < end) store4(to + (64 * e + 32 * a), word);
    }
  }
}

template <bool kPower>
__device__ __forceinline__ void drop_tiles(const float* __restrict__ x, const unsigned* __restrict__ nodes,
                                           float* __restrict__ out, unsigned total, unsigned eights, unsigned key0,
                                           unsigned key1, unsigned threshold) {
  constexpr unsigned kTile = 32u * EIGHTS;
  const float4* const x4 = reinterpret_cast<const float4*>(x);
  float4* const out4 = reinterpret_cast<float4*>(out);
  // A power of two times the rounded reciprocal is the rounded quotient.
  const float scale = 65536.0f * __frcp_rn(static_cast<float>(65536u - threshold));
  const unsigned lane = threadIdx.x & 31u;
  const unsigned shift = kPower ? static_cast<unsigned>(__ffs(static_cast<int>(eights)) - 1) : 0u;
  const unsigned stride = gridDim.x * 8u * kTile;
  for (unsigned base = (blockIdx.x * 8u + (threadIdx.x >> 5)) * kTile; base < total; base += stride) {
    if (base + kTile <= total)
      do_tile<true, kPower>(x4, nodes, out4, base, total, eights, shift, lane, key0, key1, threshold, scale);
    else
      do_tile<false, kPower>(x4, nodes, out4, base, total, eights, shift, lane, key0, key1, threshold, scale);
  }
}

template <class Word>
__device__ void drop(const float* __restrict__ x, const unsigned* __restrict__ nodes, float* __restrict__ out,
                     long long rows, long long columns, unsigned seed, unsigned step, unsigned threshold) {
  constexpr int kValues = sizeof(Word) / sizeof(float);
  const float scale = threshold < 65536 ? 65536.0f / static_cast<float>(65536 - threshold) : 0.0f;
  const long long eights = (columns + 7) / 8, stride = gridDim.x * 256ll;
  for (long long t = blockIdx.x * 256ll + threadIdx.x; t < rows * eights; t += stride) {
    const long long row = t / eights, first = t % eights * 8;
    const Draws draws = philox(seed, step, __ldg(nodes + row), static_cast<unsigned>(first / 8));
#pragma unroll
    for (int c = 0; c < 8; c += kValues) {
      if (first + c >= columns) break;
      Word word = *reinterpret_cast<const Word*>(x + row * columns + first + c);
      float* const values = reinterpret_cast<float*>(&word);
#pragma unroll
      for (int k = 0; k < kValues; ++k) {
        const bool is_kept = (draws.word[(c + k) / 2] >> ((c + k) % 2 * 16) & 0xFFFFu) >= threshold;
        values[k] = is_kept ? (values[k] < 0.0f ? 0.0f : values[k]) * scale : 0.0f;
      }
      *reinterpret_cast<Word*>(out + row * columns + first + c) = word;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    dropout_relu(const float* __restrict__ x, const unsigned* __restrict__ nodes, float* __restrict__ out,
                 long long rows, long long columns, long long seed, long long step, long long threshold) {
  const unsigned key0 = static_cast<unsigned>(seed), key1 = static_cast<unsigned>(step);
  if (rows <= 0 || columns <= 0) return;
  const long long blocks = rows * (columns >> 3);
  if ((columns & 7) == 0 && blocks <= (1ll << 30) && threshold >= 0 && threshold < 65536) {
    const unsigned eights = static_cast<unsigned>(columns >> 3), total = static_cast<unsigned>(blocks);
    if ((eights & (eights - 1u)) == 0)
      drop_tiles<true>(x, nodes, out, total, eights, key0, key1, static_cast<unsigned>(threshold));
    else
      drop_tiles<false>(x, nodes, out, total, eights, key0, key1, static_cast<unsigned>(threshold));
  } else if (columns % 4 == 0) {
    drop<float4>(x, nodes, out, rows, columns, key0, key1, static_cast<unsigned>(threshold));
  } else {
    drop<float>(x, nodes, out, rows, columns, key0, key1, static_cast<unsigned>(threshold));
  }
}
