// gatv2_backward: no float atomics on grad_src and no clearing of it. The row pass keeps one sign bit per (edge, channel)
// and files each edge under its source; the source pass makes grad_src from the bits and stores each row of it once.
// launch clear block=256 grid=min(4*sm, ceil(rows+others+1+heads*channels, 256))
// launch by_row block=256 grid=min(ROW_BLOCKS*sm, ceil(rows, 8))
// launch by_source block=256 grid=min(SOURCE_BLOCKS*sm, ceil(rows+others, 32))
// param ROW_BLOCKS=4 values=2,3,4,5
// param EDGE_WORDS=4 values=4,6,8
// param SOURCE_BLOCKS=5 values=4,5,6,8
// scratch counts f32 64*ceil(rows+others+1, 64)
// scratch slots f32 64*ceil(rows+others, 8)
// scratch signs f32 64*ceil((edges+rows)*ceil(heads*channels, 64), 8)
// scratch spilled f32 64*ceil(edges, 32)
#ifndef ROW_BLOCKS
#define ROW_BLOCKS 4
#endif
#ifndef EDGE_WORDS
#define EDGE_WORDS 4
#endif
#ifndef SOURCE_BLOCKS
#define SOURCE_BLOCKS 5
#endif
#define ALL_LANES 0xffffffffu

__device__ __forceinline__ float product(float x, float y) { return x * y; }
__device__ __forceinline__ float4 product(float4 x, float4 y) {
  return make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w);
}

__device__ __forceinline__ void add_atomically(float* target, float value) { atomicAdd(target, value); }
__device__ __forceinline__ void add_atomically(float4* target, float4 value) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(target, value);
#else
  float* const values = reinterpret_cast<float*>(target);
  atomicAdd(values, value.x), atomicAdd(values + 1, value.y);
  atomicAdd(values + 2, value.z), atomicAdd(values + 3, value.w);
#endif
}

/// Adds one edge's part to the sums; returns its sign bits (1: above 0).
__device__ __forceinline__ unsigned use_word(float z, float own, float g, float low, float& row_sum, float& part_sum) {
  const float raw = z + own;
  const bool above = raw > 0.0f;
  const float p = above ? g : low;
  row_sum += p;
  part_sum = fmaf(p, raw, part_sum);
  return above ? 1u : 0u;
}
__device__ __forceinline__ unsigned use_word(float4 z, float4 own, float g, float low, float4& row_sum,
                                             float4& part_sum) {
  const unsigned x = use_word(z.x, own.x, g, low, row_sum.x, part_sum.x);
  const unsigned y = use_word(z.y, own.y, g, low, row_sum.y, part_sum.y);
  const unsigned v = use_word(z.z, own.z, g, low, row_sum.z, part_sum.z);
  const unsigned w = use_word(z.w, own.w, g, low, row_sum.w, part_sum.w);
  return x | (y << 1) | (v << 2) | (w << 3);
}

__device__ __forceinline__ void add_picked(unsigned bits, float g, float low, float& sum) {
  sum += (bits & 1u) ? g : low;
}
__device__ __forceinline__ void add_picked(unsigned bits, float g, float low, float4& sum) {
  sum.x += (bits & 1u) ? g : low;
  sum.y += (bits & 2u) ? g : low;
  sum.z += (bits & 4u) ? g : low;
  sum.w += (bits & 8u) ? g : low;
}

/// base moved on by `row` strides of `row_bytes` bytes.
template <class Item>
__device__ __forceinline__ const Item* row_at(const Item* base, unsigned row, unsigned row_bytes) {
  return reinterpret_cast<const Item*>(reinterpret_cast<const char*>(base) +
                                       static_cast<unsigned long long>(row) * row_bytes);
}

template <class Word, int V, bool OneHead>
__device__ __forceinline__ void row_pass(
    const Word* __restrict__ z_src, const Word* __restrict__ z_dst, const Word* __restrict__ att,
    const int* __restrict__ indptr, const int* __restrict__ indices, const float* __restrict__ grad_logits,
    Word* __restrict__ grad_src, Word* __restrict__ grad_dst, float* __restrict__ grad_att,
    unsigned* __restrict__ counts, unsigned* __restrict__ slots, unsigned char* __restrict__ signs,
    uint2* __restrict__ spilled, long long rows, long long sources, unsigned heads, unsigned words,
    unsigned head_words, float* sums) {
  constexpr int Parts = static_cast<int>(sizeof(Word) / sizeof(float));
  constexpr int U = (EDGE_WORDS) / V > 1 ? (EDGE_WORDS) / V : 1;
  constexpr int G = OneHead ? 1 : V;
  constexpr unsigned TileFloats = 32u * V * Parts;
  const unsigned lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
  const long long all_warps = gridDim.x * 8ll, this_warp = blockIdx.x * 8ll + warp;
  const int first_row = static_cast<int>(rows * this_warp / all_warps);
  const int end_row = static_cast<int>(rows * (this_warp + 1) / all_warps);
  const unsigned tiles = (words + 32u * V - 1u) / (32u * V);
  const unsigned edge_bytes = tiles * 16u * V;
  const unsigned row_bytes = words * static_cast<unsigned>(sizeof(Word));

  for (unsigned tile = 0; tile < tiles; ++tile) {
    bool ok[V];
    unsigned at[V], head[V];
    const Word* z_from[V];
    Word part_sum[V];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const unsigned w = tile * (32u * V) + v * 32u + lane;
      ok[v] = w < words;
      at[v] = ok[v] ? w : words - 1u;  // lanes past the end work on the last word, and store nothing that is used
      head[v] = OneHead ? 0u : at[v] / head_words;
      z_from[v] = z_src + at[v];
      part_sum[v] = Word{};
    }
    const unsigned sign_offset = tile * (16u * V) + (V == 2 ? lane : lane / 2u);

#pragma unroll 1
    for (int c0 = first_row; c0 < end_row; c0 += 31) {
      const int chunk = end_row - c0 < 31 ? end_row - c0 : 31;
      const int bound = __ldg(indptr + (static_cast<int>(lane) < chunk ? c0 + static_cast<int>(lane) : c0 + chunk));
      int first = __shfl_sync(ALL_LANES, bound, 0), next = __shfl_sync(ALL_LANES, bound, 1);
      int ahead = c0;
      if (static_cast<int>(lane) < next - first) ahead = __ldg(indices + first + lane);

#pragma unroll 1
      for (int r = 0; r < chunk; ++r) {
        const int row = c0 + r;
        const int n = next - first;
        const long long edge0 = static_cast<long long>(first) + row;
        int source = ahead;
        const int following = __shfl_sync(ALL_LANES, bound, (r + 2) & 31);
        if (r + 1 < chunk) {
          ahead = row + 1;
          if (static_cast<int>(lane) < following - next) ahead = __ldg(indices + next + lane);
        }
        Word own[V], row_sum[V];
#pragma unroll
        for (int v = 0; v < V; ++v) {
          own[v] = __ldcs(row_at(z_dst + at[v], static_cast<unsigned>(row), row_bytes));
          row_sum[v] = Word{};
        }

#pragma unroll 1
        for (int t0 = 0; t0 <= n; t0 += 32) {
          const int t = t0 + static_cast<int>(lane);
          if (t0 > 0) {
            source = row;
            if (t < n) source = __ldg(indices + first + t);
          }
          const bool other = t < n && source != row;
          const unsigned lives = __ballot_sync(ALL_LANES, other || t == n);
          const bool filed = tile == 0 && other;
          unsigned pos = 0xffffffffu;
          if (filed) pos = atomicAdd(counts + source, 1u);  // used after the batch

          const float* const g_from = grad_logits + (edge0 + t0) * static_cast<long long>(heads);
          unsigned char* const sign_at = signs + (edge0 + t0) * static_cast<long long>(edge_bytes) + sign_offset;
          unsigned k = 0;
#pragma unroll 1
          for (unsigned rest = lives; rest != 0u; rest >>= U, k += U) {
            Word z[U][V];
            float g[U][G];
#pragma unroll
            for (int u = 0; u < U; ++u) {
              const unsigned s = static_cast<unsigned>(__shfl_sync(ALL_LANES, source, static_cast<int>((k + u) & 31u)));
              if ((rest >> u) & 1u) {
#pragma unroll
                for (int v = 0; v < V; ++v) z[u][v] = __ldg(row_at(z_from[v], s, row_bytes));
#pragma unroll
                for (int v = 0; v < G; ++v) g[u][v] = __ldg(g_from + ((k + u) * heads + head[v]));
              }
            }
#pragma unroll
            for (int u = 0; u < U; ++u) {
              if ((rest >> u) & 1u) {
                unsigned bits = 0u;
#pragma unroll
                for (int v = 0; v < V; ++v) {
                  const float grad = g[u][OneHead ? 0 : v], low = 0.2f * grad;
                  bits |= use_word(z[u][v], own[v], grad, low, row_sum[v], part_sum[v]) << (4 * v);
                }
                if constexpr (V == 2) {
                  sign_at[(k + u) * edge_bytes] = static_cast<unsigned char>(bits);
                } else {
                  bits |= __shfl_xor_sync(ALL_LANES, bits, 1) << 4;
                  if ((lane & 1u) == 0u) sign_at[(k + u) * edge_bytes] = static_cast<unsigned char>(bits);
                }
              }
            }
          }

          if (tile == 0) {
            if (filed) {
              const unsigned edge = static_cast<unsigned>(edge0 + t);
              if (pos < 7u) {
                slots[static_cast<unsigned long long>(source) * 8u + pos] = edge;
              } else {
                const unsigned place = atomicAdd(counts + sources, 1u);
                spilled[place] = make_uint2(edge, static_cast<unsigned>(source));
              }
            }
            unsigned full = __ballot_sync(ALL_LANES, filed && pos == 7u);
            while (full != 0u) {  // the first edge that a source spills: its row will be summed atomically
              const int from = __ffs(full) - 1;
              full &= full - 1u;
              const int s = __shfl_sync(ALL_LANES, source, from);
              Word* const to = grad_src + static_cast<unsigned long long>(s) * words;
              for (unsigned w = lane; w < words; w += 32u) to[w] = Word{};
            }
          }
        }

#pragma unroll
        for (int v = 0; v < V; ++v)
          if (ok[v])
            __stcs(grad_dst + static_cast<unsigned long long>(row) * words + at[v],
                   product(__ldg(att + at[v]), row_sum[v]));
        first = next;
        next = following;
      }
    }

#pragma unroll
    for (int v = 0; v < V; ++v) reinterpret_cast<Word*>(sums)[warp * (32u * V) + v * 32u + lane] = part_sum[v];
    __syncthreads();
    if (threadIdx.x < TileFloats) {
      const unsigned column = tile * TileFloats + threadIdx.x;
      float total = 0.0f;
#pragma unroll
      for (unsigned i = 0; i < 8u; ++i) total += sums[i * TileFloats + threadIdx.x];
      if (column < words * static_cast<unsigned>(Parts)) atomicAdd(grad_att + column, total);
    }
    __syncthreads();
  }
}

template <class Word, int V, bool OneHead>
__device__ __forceinline__ void source_pass(
    const Word* __restrict__ att, const int* __restrict__ indptr, const float* __restrict__ grad_logits,
    Word* __restrict__ grad_src, const unsigned* __restrict__ counts, const unsigned* __restrict__ slots,
    const unsigned char* __restrict__ signs, const uint2* __restrict__ spilled, unsigned rows, unsigned sources,
    unsigned heads, unsigned words, unsigned head_words) {
  constexpr int G = OneHead ? 1 : V;
  constexpr int N = G == 1 ? 8 : 4;
  const unsigned lane = threadIdx.x & 31u, part = lane & 7u;
  const unsigned this_warp = blockIdx.x * 8u + (threadIdx.x >> 5), all_warps = gridDim.x * 8u;
  const unsigned tiles = (words + 32u * V - 1u) / (32u * V);
  const unsigned edge_bytes = tiles * 16u * V;
  const unsigned grad_bytes = heads * 4u;
  const unsigned groups = (sources + 3u) / 4u;

  for (unsigned tile = 0; tile < tiles; ++tile) {
    bool ok[V];
    Word factor[V];
    const float* g_from[G];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const unsigned w = tile * (32u * V) + v * 32u + lane;
      ok[v] = w < words;
      const unsigned at = ok[v] ? w : words - 1u;
      factor[v] = __ldg(att + at);
      if (v < G) g_from[v < G ? v : 0] = grad_logits + (OneHead ? 0u : at / head_words);
    }
    const unsigned char* const sign_from = signs + (tile * (16u * V) + (V == 2 ? lane : lane / 2u));
    const unsigned shift = V == 2 ? 0u : 4u * (lane & 1u);

    const auto load = [&](unsigned group, unsigned& entry, unsigned& count) {
      const unsigned s = 4u * group + (lane >> 3);
      entry = 0u;
      count = 0u;
      if (s < sources) {
        count = __ldg(counts + s);
        if (part < 7u)
          entry = __ldg(slots + (static_cast<unsigned long long>(s) * 8u + part));
        else if (s < rows)
          entry = static_cast<unsigned>(__ldg(indptr + s + 1)) + s;
      }
    };

    unsigned next_entry = 0u, next_count = 0u;
    load(this_warp, next_entry, next_count);
#pragma unroll 1
    for (unsigned group = this_warp; group < groups; group += all_warps) {
      const unsigned entry = next_entry;
      const unsigned source = 4u * group + (lane >> 3);
      unsigned list = __ballot_sync(ALL_LANES, part == 7u ? source < rows : part < next_count);
      unsigned over = __ballot_sync(ALL_LANES, next_count > 7u);
      load(group + all_warps, next_entry, next_count);

      const unsigned left = sources - 4u * group, limit = left < 4u ? left : 4u;
      Word* to = grad_src + (static_cast<unsigned long long>(group) * 4u * words + (tile * (32u * V) + lane));
      unsigned current = 0u;
      Word acc[V];
#pragma unroll
      for (int v = 0; v < V; ++v) acc[v] = Word{};

      const auto finish = [&]() {
        if (over & 1u) {
#pragma unroll
          for (int v = 0; v < V; ++v)
            if (ok[v]) add_atomically(to + 32 * v, product(factor[v], acc[v]));
        } else {
#pragma unroll
          for (int v = 0; v < V; ++v)
            if (ok[v]) __stcs(to + 32 * v, product(factor[v], acc[v]));
        }
#pragma unroll
        for (int v = 0; v < V; ++v) acc[v] = Word{};
        to += words;
        over >>= 8;
        ++current;
      };

#pragma unroll 1
      while (list != 0u) {
        unsigned bits[N];
        float g[N][G];
        unsigned rest = list;
#pragma unroll
        for (int u = 0; u < N; ++u) {
          const unsigned e = __shfl_sync(ALL_LANES, entry, (__ffs(static_cast<int>(rest)) - 1) & 31);
          if (rest != 0u) {
            bits[u] = __ldg(row_at(sign_from, e, edge_bytes));
#pragma unroll
            for (int v = 0; v < G; ++v) g[u][v] = __ldg(row_at(g_from[v], e, grad_bytes));
          }
          rest &= rest - 1u;
        }
#pragma unroll
        for (int u = 0; u < N; ++u) {
          if (list != 0u) {
            const unsigned q = static_cast<unsigned>(__ffs(static_cast<int>(list)) - 1) >> 3;
            list &= list - 1u;
#pragma unroll 1
            while (current < q) finish();
#pragma unroll
            for (int v = 0; v < V; ++v) {
              const float grad = g[u][OneHead ? 0 : v], low = 0.2f * grad;
              add_picked(bits[u] >> (V == 2 ? 4u * v : shift), grad, low, acc[v]);
            }
          }
        }
      }
#pragma unroll 1
      while (current < limit) finish();
    }

    // the edges past a source's seventh; by_row has zeroed the rows of these sources
    const unsigned spills = __ldg(counts + sources);
#pragma unroll 1
    for (unsigned i = this_warp; i < spills; i += all_warps) {
      const uint2 spill = __ldg(spilled + i);
      const unsigned bits = __ldg(row_at(sign_from, spill.x, edge_bytes));
      Word* const to = grad_src + (static_cast<unsigned long long>(spill.y) * words + (tile * (32u * V) + lane));
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const float grad = __ldg(row_at(g_from[OneHead ? 0 : v], spill.x, grad_bytes));
        Word value{};
        add_picked(bits >> (V == 2 ? 4u * v : shift), grad, 0.2f * grad, value);
        if (ok[v]) add_atomically(to + 32 * v, product(factor[v], value));
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    clear(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
          const int* __restrict__ indptr, const int* __restrict__ indices, const float* __restrict__ grad_logits,
          float* __restrict__ grad_src, float* __restrict__ grad_dst, float* __restrict__ grad_att, long long rows,
          long long others, long long edges, long long heads, long long channels, float* __restrict__ counts,
          float* __restrict__ slots, float* __restrict__ signs, float* __restrict__ spilled) {
  const long long num_counts = rows + others + 1, total = num_counts + heads * channels;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < total; i += gridDim.x * 256ll) {
    if (i < num_counts)
      reinterpret_cast<unsigned*>(counts)[i] = 0u;
    else
      grad_att[i - num_counts] = 0.0f;
  }
}

extern "C" __global__ void __launch_bounds__(256, ROW_BLOCKS)
    by_row(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
           const int* __restrict__ indptr, const int* __restrict__ indices, const float* __restrict__ grad_logits,
           float* __restrict__ grad_src, float* __restrict__ grad_dst, float* __restrict__ grad_att, long long rows,
           long long others, long long edges, long long heads, long long channels, float* __restrict__ counts,
           float* __restrict__ slots, float* __restrict__ signs, float* __restrict__ spilled) {
  __shared__ float4 sums[512];
  const long long width = heads * channels;
  if (width == 0) return;
  unsigned* const count_at = reinterpret_cast<unsigned*>(counts);
  unsigned* const slot_at = reinterpret_cast<unsigned*>(slots);
  unsigned char* const sign_bytes = reinterpret_cast<unsigned char*>(signs);
  uint2* const spill_at = reinterpret_cast<uint2*>(spilled);
  float* const shared_sums = reinterpret_cast<float*>(sums);
  const unsigned num_heads = static_cast<unsigned>(heads);
  if (channels % 4 == 0) {
    const float4* const wide_src = reinterpret_cast<const float4*>(z_src);
    const float4* const wide_dst = reinterpret_cast<const float4*>(z_dst);
    const float4* const wide_att = reinterpret_cast<const float4*>(att);
    float4* const wide_grad_src = reinterpret_cast<float4*>(grad_src);
    float4* const wide_grad_dst = reinterpret_cast<float4*>(grad_dst);
    const unsigned words = static_cast<unsigned>(width / 4), head_words = static_cast<unsigned>(channels / 4);
    if (words <= 32u)
      row_pass<float4, 1, false>(wide_src, wide_dst, wide_att, indptr, indices, grad_logits, wide_grad_src,
                                 wide_grad_dst, grad_att, count_at, slot_at, sign_bytes, spill_at, rows, rows + others,
                                 num_heads, words, head_words, shared_sums);
    else if (heads == 1)
      row_pass<float4, 2, true>(wide_src, wide_dst, wide_att, indptr, indices, grad_logits, wide_grad_src,
                                wide_grad_dst, grad_att, count_at, slot_at, sign_bytes, spill_at, rows, rows + others,
                                1u, words, head_words, shared_sums);
    else
      row_pass<float4, 2, false>(wide_src, wide_dst, wide_att, indptr, indices, grad_logits, wide_grad_src,
                                 wide_grad_dst, grad_att, count_at, slot_at, sign_bytes, spill_at, rows, rows + others,
                                 num_heads, words, head_words, shared_sums);
  } else {
    const unsigned words = static_cast<unsigned>(width), head_words = static_cast<unsigned>(channels);
    if (words <= 32u)
      row_pass<float, 1, false>(z_src, z_dst, att, indptr, indices, grad_logits, grad_src, grad_dst, grad_att,
                                count_at, slot_at, sign_bytes, spill_at, rows, rows + others, num_heads, words,
                                head_words, shared_sums);
    else
      row_pass<float, 2, false>(z_src, z_dst, att, indptr, indices, grad_logits, grad_src, grad_dst, grad_att,
                                count_at, slot_at, sign_bytes, spill_at, rows, rows + others, num_heads, words,
                                head_words, shared_sums);
  }
}

extern "C" __global__ void __launch_bounds__(256, SOURCE_BLOCKS)
    by_source(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
              const int* __restrict__ indptr, const int* __restrict__ indices, const float* __restrict__ grad_logits,
              float* __restrict__ grad_src, float* __restrict__ grad_dst, float* __restrict__ grad_att, long long rows,
              long long others, long long edges, long long heads, long long channels, float* __restrict__ counts,
              float* __restrict__ slots, float* __restrict__ signs, float* __restrict__ spilled) {
  const long long width = heads * channels;
  if (width == 0) return;
  const unsigned* const count_at = reinterpret_cast<const unsigned*>(counts);
  const unsigned* const slot_at = reinterpret_cast<const unsigned*>(slots);
  const unsigned char* const sign_bytes = reinterpret_cast<const unsigned char*>(signs);
  const uint2* const spill_at = reinterpret_cast<const uint2*>(spilled);
  const unsigned num_heads = static_cast<unsigned>(heads), num_rows = static_cast<unsigned>(rows);
  const unsigned sources = static_cast<unsigned>(rows + others);
  if (channels % 4 == 0) {
    const float4* const wide_att = reinterpret_cast<const float4*>(att);
    float4* const wide_grad_src = reinterpret_cast<float4*>(grad_src);
    const unsigned words = static_cast<unsigned>(width / 4), head_words = static_cast<unsigned>(channels / 4);
    if (words <= 32u)
      source_pass<float4, 1, false>(wide_att, indptr, grad_logits, wide_grad_src, count_at, slot_at, sign_bytes,
                                    spill_at, num_rows, sources, num_heads, words, head_words);
    else if (heads == 1)
      source_pass<float4, 2, true>(wide_att, indptr, grad_logits, wide_grad_src, count_at, slot_at, sign_bytes,
                                   spill_at, num_rows, sources, 1u, words, head_words);
    else
      source_pass<float4, 2, false>(wide_att, indptr, grad_logits, wide_grad_src, count_at, slot_at, sign_bytes,
                                    spill_at, num_rows, sources, num_heads, words, head_words);
  } else {
    const unsigned words = static_cast<unsigned>(width), head_words = static_cast<unsigned>(channels);
    if (words <= 32u)
      source_pass<float, 1, false>(att, indptr, grad_logits, grad_src, count_at, slot_at, sign_bytes, spill_at,
                                   num_rows, sources, num_heads, words, head_words);
    else
      source_pass<float, 2, false>(att, indptr, grad_logits, grad_src, count_at, slot_at, sign_bytes, spill_at,
                                   num_rows, sources, num_heads, words, head_words);
  }
}
