// Attention backward, centred on the sources: the edges are put into buckets by source, then a group of lanes per
// (source, head) reads h once, gathers grad_out of its edges, and stores grad_h once, without atomics.
// param SLOTS=8 values=4,8,16
// param HEADS_TOGETHER=2 values=1,2,4
// param NARROW_BLOCKS=4 values=3,4,5
// param KEEP=1 values=0,1,2
// param WIDE_BLOCKS=4 values=2,3,4
// param NARROW_WORDS=1 values=1,2
// param AHEAD=1 values=0,1
// scratch counts f32 rows+others+1
// scratch slots f32 (rows+others)*SLOTS*2+4
// scratch overflow f32 edges*2+2
// launch clear block=256 grid=min(65536, ceil(rows+others+1, 1024))
// launch build block=256 grid=min(65536, ceil(rows*8, 256))
// launch gather_narrow block=256 grid=min(sm*NARROW_BLOCKS, ceil((rows+others)*heads*min(32, max(1, ceil(channels, 4))), 256))*(1-min(1, max(channels, 128)-128))
// launch gather_wide block=256 grid=min(sm*WIDE_BLOCKS, ceil((rows+others)*heads*min(32, max(1, ceil(channels, 4))), 256))*min(1, max(channels, 128)-128)

#ifndef SLOTS
#define SLOTS 8
#endif
#ifndef HEADS_TOGETHER
#define HEADS_TOGETHER 2
#endif
#ifndef NARROW_BLOCKS
#define NARROW_BLOCKS 4
#endif
#ifndef WIDE_BLOCKS
#define WIDE_BLOCKS 4
#endif
#ifndef NARROW_WORDS
#define NARROW_WORDS 1
#endif
#ifndef KEEP
#define KEEP 1
#endif
#ifndef AHEAD
#define AHEAD 1
#endif

static_assert(SLOTS % 2 == 0, "two slots are one int4");
static_assert(HEADS_TOGETHER <= 8, "a block has at least 8 groups");

typedef unsigned long long Offset;

__device__ __forceinline__ float product_sum(float x, float y) { return x * y; }
__device__ __forceinline__ float product_sum(float4 x, float4 y) {
  return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
}
__device__ __forceinline__ float multiply_add(float factor, float x, float sum) { return fmaf(factor, x, sum); }
__device__ __forceinline__ float4 multiply_add(float factor, float4 x, float4 sum) {
  return make_float4(fmaf(factor, x.x, sum.x), fmaf(factor, x.y, sum.y), fmaf(factor, x.z, sum.z),
                     fmaf(factor, x.w, sum.w));
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

// Predicated loads: zero where `on` is false.
__device__ __forceinline__ float load_if(const float* at, bool on) {
  float x;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "setp.ne.b32 p, %2, 0;\n\t"
      "mov.f32 %0, 0f00000000;\n\t"
      "@p ld.global.nc.f32 %0, [%1];\n\t"
      "}"
      : "=f"(x)
      : "l"(at), "r"(static_cast<int>(on)));
  return x;
}
__device__ __forceinline__ float4 load_if(const float4* at, bool on) {
  float4 x;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "setp.ne.b32 p, %5, 0;\n\t"
      "mov.f32 %0, 0f00000000;\n\t"
      "mov.f32 %1, 0f00000000;\n\t"
      "mov.f32 %2, 0f00000000;\n\t"
      "mov.f32 %3, 0f00000000;\n\t"
      "@p ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n\t"
      "}"
      : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
      : "l"(at), "r"(static_cast<int>(on)));
  return x;
}
// The L2 policies: grad_out is to stay, h and grad_h are to pass.
__device__ __forceinline__ Offset keep_policy() {
  Offset policy;
#if KEEP == 2
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
#else
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}
__device__ __forceinline__ Offset pass_policy() {
  Offset policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
// The same for grad_out.
__device__ __forceinline__ float keep_if(const float* at, bool on, Offset policy) {
  float x;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "setp.ne.b32 p, %2, 0;\n\t"
      "mov.f32 %0, 0f00000000;\n\t"
      "@p ld.global.nc.L2::cache_hint.f32 %0, [%1], %3;\n\t"
      "}"
      : "=f"(x)
      : "l"(at), "r"(static_cast<int>(on)), "l"(policy));
  return x;
}
__device__ __forceinline__ float4 keep_if(const float4* at, bool on, Offset policy) {
  float4 x;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "setp.ne.b32 p, %5, 0;\n\t"
      "mov.f32 %0, 0f00000000;\n\t"
      "mov.f32 %1, 0f00000000;\n\t"
      "mov.f32 %2, 0f00000000;\n\t"
      "mov.f32 %3, 0f00000000;\n\t"
      "@p ld.global.nc.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %6;\n\t"
      "}"
      : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
      : "l"(at), "r"(static_cast<int>(on)), "l"(policy));
  return x;
}
// The same for data that is read once.
__device__ __forceinline__ float stream_if(const float* at, bool on, Offset policy) {
  float x;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "setp.ne.b32 p, %2, 0;\n\t"
      "mov.f32 %0, 0f00000000;\n\t"
      "@p ld.global.nc.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %3;\n\t"
      "}"
      : "=f"(x)
      : "l"(at), "r"(static_cast<int>(on)), "l"(policy));
  return x;
}
__device__ __forceinline__ float4 stream_if(const float4* at, bool on, Offset policy) {
  float4 x;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "setp.ne.b32 p, %5, 0;\n\t"
      "mov.f32 %0, 0f00000000;\n\t"
      "mov.f32 %1, 0f00000000;\n\t"
      "mov.f32 %2, 0f00000000;\n\t"
      "mov.f32 %3, 0f00000000;\n\t"
      "@p ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %6;\n\t"
      "}"
      : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
      : "l"(at), "r"(static_cast<int>(on)), "l"(policy));
  return x;
}
// Stores of data that is written once.
__device__ __forceinline__ void store_stream(float* at, float x, Offset policy) {
  asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" : : "l"(at), "f"(x), "l"(policy) : "memory");
}
__device__ __forceinline__ void store_stream(float4* at, float4 x, Offset policy) {
  asm volatile("st.global.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, %5;"
               :
               : "l"(at), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w), "l"(policy)
               : "memory");
}
__device__ __forceinline__ int load_int(const int* at) {
  int x;
  asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(x) : "l"(at));
  return x;
}
__device__ __forceinline__ int4 load_int4(const int4* at) {
  int4 x;
  asm volatile("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(at));
  return x;
}
__device__ __forceinline__ void prefetch_bulk(const void* at, unsigned bytes, Offset policy) {
  asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], %1, %2;" : : "l"(at), "r"(bytes), "l"(policy));
}

__host__ __device__ constexpr int log_lanes_of(long long words) {
  int log_lanes = 0;
  while (log_lanes < 5 && (1ll << log_lanes) < words) ++log_lanes;
  return log_lanes;
}

/// The memory from its first 16-byte boundary on.
__device__ __forceinline__ float* aligned_16(float* memory) {
  return memory + ((0ull - reinterpret_cast<unsigned long long>(memory)) & 15ull) / 4;
}
/// The memory from its first 8-byte boundary on.
__device__ __forceinline__ float* aligned_8(float* memory) {
  return memory + ((0ull - reinterpret_cast<unsigned long long>(memory)) & 7ull) / 4;
}

__device__ __forceinline__ void store_dot(float* at, float dot, bool first_tile) {
  if (first_tile)
    *at = dot;
  else
    *at = *at + dot;
}

template <class Word, int W>
__device__ __forceinline__ void load_edge(Word (&g)[W], float& weight, const float* weight_at, const Word* grad_at,
                                          int lanes, bool on, const bool (&inside)[W],
                                          Offset policy) {
  weight = load_if(weight_at, on);
#pragma unroll
  for (int u = 0; u < W; ++u) g[u] = (KEEP != 0) ? keep_if(grad_at + u * lanes, on && inside[u], policy) : load_if(grad_at + u * lanes, on && inside[u]);
}

/// WORDS: the words of a head where they are known at compile time, else 0.
template <class Word, int W, int WORDS>
__device__ __forceinline__ void gather(const float* __restrict__ weights, const Word* __restrict__ h,
                                       const int* __restrict__ indptr, const int* __restrict__ indices,
                                       const Word* __restrict__ grad_out, float* __restrict__ grad_weights,
                                       Word* __restrict__ grad_h, long long rows_given, long long others_given,
                                       long long heads_given, long long words_given, const int* __restrict__ counts,
                                       const int4* __restrict__ pairs, const int2* __restrict__ overflow) {
  constexpr unsigned FULL = 0xFFFFFFFFu;
  constexpr int FIXED_LOG = log_lanes_of((WORDS + W - 1) / W);
  constexpr bool SINGLE = WORDS > 0 && WORDS <= (W << FIXED_LOG);
  constexpr bool EXACT = WORDS > 0 && WORDS == (W << FIXED_LOG);

  const int head_words = WORDS > 0 ? WORDS : static_cast<int>(words_given);
  const int log_lanes = WORDS > 0 ? FIXED_LOG : log_lanes_of((words_given + W - 1) / W);
  const int lanes = 1 << log_lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const bool upper = (lane & (lanes >> 1)) != 0;
  const bool storing = (lane & ((lanes >> 1) - 1)) == 0;  // used only if lanes > 1

  const unsigned source_count = static_cast<unsigned>(rows_given + others_given);
  const unsigned row_count = static_cast<unsigned>(rows_given);
  const unsigned heads = static_cast<unsigned>(heads_given);
  if (source_count == 0 || heads == 0) return;
  const unsigned stride = heads * static_cast<unsigned>(head_words);

  unsigned log_together = 0;
  while ((2u << log_together) <= min(static_cast<unsigned>(HEADS_TOGETHER), heads)) ++log_together;
  const unsigned together = 1u << log_together;

  const unsigned groups = (gridDim.x * 256u) >> log_lanes;  // a multiple of 8, so of `together`
  const unsigned group = (blockIdx.x * 256u + threadIdx.x) >> log_lanes;
  const unsigned group_first = group & ~((32u >> log_lanes) - 1u);  // of the warp
  const unsigned step = groups >> log_together;
  const Offset step_offset = static_cast<Offset>(step) * stride;
  const Offset keep = keep_policy(), pass = pass_policy();

  for (unsigned head0 = 0; head0 < heads; head0 += together) {
    const unsigned head = head0 + (group & (together - 1u));
    const unsigned limit = head < heads ? source_count : 0u;
    const unsigned self_limit = min(row_count, limit);
    const unsigned head_offset = head * static_cast<unsigned>(head_words) + static_cast<unsigned>(lane);
    unsigned s = group >> log_together, first = group_first >> log_together;
    Offset offset = static_cast<Offset>(s) * stride + head_offset;

    int count, own = 0;
    int4 pair0;
    {
      const unsigned clamped = min(s, source_count - 1u);
      count = load_int(counts + clamped);
      pair0 = load_int4(pairs + static_cast<Offset>(clamped) * (SLOTS / 2));
      if (first < row_count) own = load_int(indptr + min(s + 1u, row_count));
    }

    while (first < source_count) {  // the same for all lanes of the warp
      const bool active = s < limit;
      const bool self = s < self_limit;
      const bool self_warp = first < row_count;
      const int n = active ? min(count, SLOTS) : 0;
      const int n_max = __reduce_max_sync(FULL, n);
      const unsigned s_next = s + step;
      int next_count = 0, next_own = 0;
      int4 next_pair = make_int4(0, 0, 0, 0);

      int tile = 0;
      do {
        const bool first_tile = SINGLE || tile == 0;
        bool inside[W];
#pragma unroll
        for (int u = 0; u < W; ++u) inside[u] = EXACT || tile + lane + u * lanes < head_words;

        // All loads of the item.
        Word hv[W], acc[W], g0[W], g1[W];
        float self_weight = 0.0f, w0, w1;
        Offset self_edge = 0;
#pragma unroll
        for (int u = 0; u < W; ++u) hv[u] = stream_if(h + (offset + tile + u * lanes), active && inside[u], pass);
        unsigned e0 = static_cast<unsigned>(pair0.x) + static_cast<unsigned>(pair0.y);
        unsigned e1 = static_cast<unsigned>(pair0.z) + static_cast<unsigned>(pair0.w);
        load_edge<Word, W>(g0, w0, weights + (static_cast<Offset>(e0) * heads + head),
                           grad_out + (static_cast<Offset>(static_cast<unsigned>(pair0.y)) * stride + head_offset + tile),
                           lanes, 0 < n, inside, keep);
        load_edge<Word, W>(g1, w1, weights + (static_cast<Offset>(e1) * heads + head),
                           grad_out + (static_cast<Offset>(static_cast<unsigned>(pair0.w)) * stride + head_offset + tile),
                           lanes, 1 < n, inside, keep);
#pragma unroll
        for (int u = 0; u < W; ++u) acc[u] = Word{};
        if (self_warp) {
          self_edge = static_cast<Offset>(static_cast<unsigned>(own) + s) * heads + head;
          load_edge<Word, W>(acc, self_weight, weights + self_edge, grad_out + (offset + tile), lanes, self, inside, keep);
        }

        // The bookkeeping of the next item.
        if (first_tile) {
          const unsigned clamped = min(s_next, source_count - 1u);
          next_count = load_int(counts + clamped);
          next_pair = load_int4(pairs + static_cast<Offset>(clamped) * (SLOTS / 2));
          if (first + step < row_count) next_own = load_int(indptr + min(s_next + 1u, row_count));
          if constexpr (AHEAD != 0 && sizeof(Word) == 16) {
            const int ahead_words = min(head_words, lanes * W);
            if (lane == 0 && s_next < limit && ahead_words > 0)
              prefetch_bulk(h + (offset + step_offset), 16u * static_cast<unsigned>(ahead_words), pass);
          }
        }

        // The row's own edge.
        if (self_warp) {
          float dot = 0.0f;
#pragma unroll
          for (int u = 0; u < W; ++u) {
            dot += product_sum(acc[u], hv[u]);
            acc[u] = multiply_add(self_weight, acc[u], Word{});
          }
#pragma unroll
          for (int x = lanes >> 1; x > 0; x >>= 1) dot += __shfl_xor_sync(FULL, dot, x);
          if (self && lane == 0) store_dot(grad_weights + self_edge, dot, first_tile);
        }

        // The edges of the slots, two at a time.
        if (n_max > 0) {
          int k = 0;
          while (true) {
            float dot0 = 0.0f, dot1 = 0.0f;
#pragma unroll
            for (int u = 0; u < W; ++u) {
              dot0 += product_sum(g0[u], hv[u]);
              dot1 += product_sum(g1[u], hv[u]);
              acc[u] = multiply_add(w0, g0[u], acc[u]);
              acc[u] = multiply_add(w1, g1[u], acc[u]);
            }
            if (lanes > 1) {
              // The lower half of the group ends with dot0, the upper half with dot1.
              float mine = upper ? dot1 : dot0;
              const float theirs = upper ? dot0 : dot1;
              mine += __shfl_xor_sync(FULL, theirs, lanes >> 1);
#pragma unroll
              for (int x = lanes >> 2; x > 0; x >>= 1) mine += __shfl_xor_sync(FULL, mine, x);
              if (storing && k + (upper ? 1 : 0) < n)
                store_dot(grad_weights + (static_cast<Offset>(upper ? e1 : e0) * heads + head), mine, first_tile);
            } else {
              if (k < n) store_dot(grad_weights + (static_cast<Offset>(e0) * heads + head), dot0, first_tile);
              if (k + 1 < n) store_dot(grad_weights + (static_cast<Offset>(e1) * heads + head), dot1, first_tile);
            }
            k += 2;
            if (k >= n_max) break;
            const int4 pair =
                load_int4(pairs + (static_cast<Offset>(min(s, source_count - 1u)) * (SLOTS / 2) + (k >> 1)));
            e0 = static_cast<unsigned>(pair.x) + static_cast<unsigned>(pair.y);
            e1 = static_cast<unsigned>(pair.z) + static_cast<unsigned>(pair.w);
            load_edge<Word, W>(
                g0, w0, weights + (static_cast<Offset>(e0) * heads + head),
                grad_out + (static_cast<Offset>(static_cast<unsigned>(pair.y)) * stride + head_offset + tile), lanes,
                k < n, inside, keep);
            load_edge<Word, W>(
                g1, w1, weights + (static_cast<Offset>(e1) * heads + head),
                grad_out + (static_cast<Offset>(static_cast<unsigned>(pair.w)) * stride + head_offset + tile), lanes,
                k + 1 < n, inside, keep);
          }
        }

        if (active) {
          Word* const target = grad_h + (offset + tile);
          if (count <= SLOTS) {
#pragma unroll
            for (int u = 0; u < W; ++u)
              if (inside[u]) store_stream(target + u * lanes, acc[u], pass);
          } else {
#pragma unroll
            for (int u = 0; u < W; ++u)
              if (inside[u]) add_atomically(target + u * lanes, acc[u]);
          }
        }
        tile += lanes * W;
      } while (!SINGLE && tile < head_words);

      s = s_next;
      first += step;
      offset += step_offset;
      count = next_count;
      own = next_own;
      pair0 = next_pair;
    }
  }

  // The edges that found no slot.
  const long long total = static_cast<long long>(load_int(counts + source_count)) * heads_given;
  long long t = group;
  for (long long t_first = group_first; t_first < total; t_first += groups, t += groups) {
    const bool active = t < total;
    float dot = 0.0f;
    Offset edge = 0;
    if (active) {
      const long long entry = t / heads_given;
      const unsigned head = static_cast<unsigned>(t - entry * heads_given);
      const int2 at = overflow[entry];
      const unsigned source = static_cast<unsigned>(__ldg(indices + at.x));
      edge = static_cast<Offset>(static_cast<unsigned>(at.x) + static_cast<unsigned>(at.y)) * heads + head;
      const float weight = __ldg(weights + edge);
      const Offset head_start = static_cast<Offset>(head) * static_cast<unsigned>(head_words);
      const Word* const grad_at = grad_out + (static_cast<Offset>(static_cast<unsigned>(at.y)) * stride + head_start);
      const Offset source_at = static_cast<Offset>(source) * stride + head_start;
      for (int w = lane; w < head_words; w += lanes) {
        const Word g = __ldg(grad_at + w);
        dot += product_sum(g, __ldg(h + (source_at + w)));
        add_atomically(grad_h + (source_at + w), multiply_add(weight, g, Word{}));
      }
    }
    __syncwarp();
#pragma unroll
    for (int x = lanes >> 1; x > 0; x >>= 1) dot += __shfl_xor_sync(FULL, dot, x);
    if (active && lane == 0) grad_weights[edge] = dot;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    clear(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
          const int* __restrict__ indices, const float* __restrict__ grad_out, float* __restrict__ grad_weights,
          float* __restrict__ grad_h, long long rows, long long others, long long edges, long long heads,
          long long channels, float* __restrict__ counts_memory, float* __restrict__ slots_memory,
          float* __restrict__ overflow_memory) {
  int* const counts = reinterpret_cast<int*>(counts_memory);
  const long long last = rows + others, stride = gridDim.x * 256ll;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i <= last; i += stride) counts[i] = 0;
}

extern "C" __global__ void __launch_bounds__(256)
    build(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
          const int* __restrict__ indices, const float* __restrict__ grad_out, float* __restrict__ grad_weights,
          float* __restrict__ grad_h, long long rows, long long others, long long edges, long long heads,
          long long channels, float* __restrict__ counts_memory, float* __restrict__ slots_memory,
          float* __restrict__ overflow_memory) {
  int* const counts = reinterpret_cast<int*>(counts_memory);
  int2* const slots = reinterpret_cast<int2*>(aligned_16(slots_memory));
  int2* const overflow = reinterpret_cast<int2*>(aligned_8(overflow_memory));
  const long long source_count = rows + others, width = heads * channels;
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 32ll;
  const int lane = static_cast<int>(threadIdx.x) & 7;
  for (long long row = thread >> 3; row < rows; row += stride) {
    const long long end = __ldg(indptr + row + 1);
    for (long long position = __ldg(indptr + row) + static_cast<long long>(lane); position < end; position += 8) {
      const long long source = __ldg(indices + position);
      if (source == row) {
        float* const target = grad_weights + (position + row) * heads;
        for (long long k = 0; k < heads; ++k) target[k] = 0.0f;
      } else {
        const int place = atomicAdd(counts + source, 1);
        const int2 entry = make_int2(static_cast<int>(position), static_cast<int>(row));
        if (place < SLOTS) {
          slots[source * SLOTS + place] = entry;
        } else {
          overflow[atomicAdd(counts + source_count, 1)] = entry;
          if (place == SLOTS) {
            float* const target = grad_h + source * width;
            if (width % 4 == 0) {
              for (long long i = 0; i < width / 4; ++i)
                reinterpret_cast<float4*>(target)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            } else {
              for (long long i = 0; i < width; ++i) target[i] = 0.0f;
            }
          }
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, NARROW_BLOCKS)
    gather_narrow(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
                  const int* __restrict__ indices, const float* __restrict__ grad_out,
                  float* __restrict__ grad_weights, float* __restrict__ grad_h, long long rows, long long others,
                  long long edges, long long heads, long long channels, float* __restrict__ counts_memory,
                  float* __restrict__ slots_memory, float* __restrict__ overflow_memory) {
  const int* const counts = reinterpret_cast<const int*>(counts_memory);
  const int4* const pairs = reinterpret_cast<const int4*>(aligned_16(slots_memory));
  const int2* const overflow = reinterpret_cast<const int2*>(aligned_8(overflow_memory));
  if (channels == 32)
    gather<float4, NARROW_WORDS, 8>(weights, reinterpret_cast<const float4*>(h), indptr, indices,
                                    reinterpret_cast<const float4*>(grad_out), grad_weights,
                                    reinterpret_cast<float4*>(grad_h), rows, others, heads, channels / 4, counts,
                                    pairs, overflow);
  else if (channels % 4 == 0)
    gather<float4, NARROW_WORDS, 0>(weights, reinterpret_cast<const float4*>(h), indptr, indices,
                                    reinterpret_cast<const float4*>(grad_out), grad_weights,
                                    reinterpret_cast<float4*>(grad_h), rows, others, heads, channels / 4, counts,
                                    pairs, overflow);
  else
    gather<float, NARROW_WORDS, 0>(weights, h, indptr, indices, grad_out, grad_weights, grad_h, rows, others, heads,
                                   channels, counts, pairs, overflow);
}

extern "C" __global__ void __launch_bounds__(256, WIDE_BLOCKS)
    gather_wide(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
                const int* __restrict__ indices, const float* __restrict__ grad_out,
                float* __restrict__ grad_weights, float* __restrict__ grad_h, long long rows, long long others,
                long long edges, long long heads, long long channels, float* __restrict__ counts_memory,
                float* __restrict__ slots_memory, float* __restrict__ overflow_memory) {
  const int* const counts = reinterpret_cast<const int*>(counts_memory);
  const int4* const pairs = reinterpret_cast<const int4*>(aligned_16(slots_memory));
  const int2* const overflow = reinterpret_cast<const int2*>(aligned_8(overflow_memory));
  if (channels == 256)
    gather<float4, 2, 64>(weights, reinterpret_cast<const float4*>(h), indptr, indices,
                          reinterpret_cast<const float4*>(grad_out), grad_weights, reinterpret_cast<float4*>(grad_h),
                          rows, others, heads, channels / 4, counts, pairs, overflow);
  else if (channels % 4 == 0)
    gather<float4, 2, 0>(weights, reinterpret_cast<const float4*>(h), indptr, indices,
                         reinterpret_cast<const float4*>(grad_out), grad_weights, reinterpret_cast<float4*>(grad_h),
                         rows, others, heads, channels / 4, counts, pairs, overflow);
  else
    gather<float, 2, 0>(weights, h, indptr, indices, grad_out, grad_weights, grad_h, rows, others, heads, channels,
                        counts, pairs, overflow);
}
