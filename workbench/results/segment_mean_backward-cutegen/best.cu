// segment_mean_backward as a gather: the edges are first put into a small table by source (four slots each, a counter
// gives the slot), then every element of grad_x is summed in registers and written once, streaming. Edges beyond a
// source's fourth go into a list that is added by atomics at the end. Where grad_out is larger than the L2 can keep,
// the gather goes over the columns in tiles, one tile of all sources after another, so that a tile's rows stay in L2.
// param TILE=16 values=8,16,32
// param LANES=8 values=4,8,16
// param KEEP=0 values=0,1
// param PREFETCH=1 values=0,1
// scratch counts f32 sources+8
// scratch slots f32 8*sources+8
// scratch over f32 2*edges+8
// launch clear block=256 grid=ceil(sources+4, 1024)
// launch build block=256 grid=ceil(rows*LANES, 256)
// launch gather block=256 grid=min(1000000000, ceil(ceil(sources, 8)*ceil(width, 4*TILE), 8))
// launch rest block=256 grid=min(4*sm, ceil(edges, 8))
#ifndef TILE
#define TILE 16
#endif
#ifndef LANES
#define LANES 8
#endif
#ifndef KEEP
#define KEEP 0
#endif
#ifndef PREFETCH
#define PREFETCH 1
#endif

// Whether grad_out is too large to be read again and again from L2 as a whole.
__device__ __forceinline__ bool is_big(long long rows, long long width) { return rows * width * 4 > (24ll << 20); }

__device__ __forceinline__ float4 load_if(const float4* from, bool yes, unsigned long long policy) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#if KEEP
  asm("{\n\t.reg .pred q;\n\t"
      "setp.ne.s32 q, %5, 0;\n\t"
      "@q ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %6;\n\t}"
      : "+f"(v.x), "+f"(v.y), "+f"(v.z), "+f"(v.w)
      : "l"(from), "r"(static_cast<int>(yes)), "l"(policy));
#else
  asm("{\n\t.reg .pred q;\n\t"
      "setp.ne.s32 q, %5, 0;\n\t"
      "@q ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];\n\t}"
      : "+f"(v.x), "+f"(v.y), "+f"(v.z), "+f"(v.w)
      : "l"(from), "r"(static_cast<int>(yes)));
#endif
  return v;
}
__device__ __forceinline__ float load_if(const float* from, bool yes, unsigned long long) {
  return yes ? __ldg(from) : 0.0f;
}

__device__ __forceinline__ float scaled(float v, float s) { return v * s; }
__device__ __forceinline__ float4 scaled(float4 v, float s) { return make_float4(v.x * s, v.y * s, v.z * s, v.w * s); }
__device__ __forceinline__ void add_scaled(float& sum, float v, float s) { sum = fmaf(v, s, sum); }
__device__ __forceinline__ void add_scaled(float4& sum, float4 v, float s) {
  sum.x = fmaf(v.x, s, sum.x);
  sum.y = fmaf(v.y, s, sum.y);
  sum.z = fmaf(v.z, s, sum.z);
  sum.w = fmaf(v.w, s, sum.w);
}

// A warp's item: eight sources and T words of their rows. A team of T lanes takes T / 4 of the sources.
template <int T, class Word>
__device__ __forceinline__ void gather_tiles(const Word* __restrict__ grad_out, const int* __restrict__ counts,
                                             const int2* __restrict__ slots, Word* __restrict__ grad_x,
                                             long long sources, int words, bool columns_first) {
  constexpr unsigned kAll = 0xffffffffu;
  constexpr int N = T / 4, B = N < 4 ? N : 4;
  unsigned long long policy = 0;
#if KEEP
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  const int lane = static_cast<int>(threadIdx.x & 31u);
  const int team = lane / T;
  const unsigned groups = static_cast<unsigned>((sources + 7) / 8);
  const unsigned chunks = static_cast<unsigned>((words + T - 1) / T);
  const unsigned items = groups * chunks, stride = gridDim.x * 8u;
  for (unsigned item = blockIdx.x * 8u + threadIdx.x / 32u; item < items; item += stride) {
    unsigned group = item, chunk = 0;
    if (chunks > 1) {
      if (columns_first) {
        chunk = item / groups;
        group = item - chunk * groups;
      } else {
        group = item / chunks;
        chunk = item - group * chunks;
      }
    }
    // Four lanes for each source, one for each of its slots.
    const long long first_source = group * 8ll;
    int count = 0;
    int2 slot = make_int2(0, 0);
    if (first_source + lane / 4 < sources) {
      count = __ldg(counts + first_source + lane / 4);
      slot = __ldg(slots + first_source * 4 + lane);
    }
    if ((lane & 3) >= count) slot = make_int2(0, 0);

    const int word = static_cast<int>(chunk) * T + lane % T;
    const bool inside = word < words;
    const Word* const column = grad_out + word;
#pragma unroll
    for (int start = 0; start < N; start += B) {
      Word a[B], b[B];
      int n[B];
#pragma unroll
      for (int j = 0; j < B; ++j) {
        const int from = (team * N + start + j) * 4;
        n[j] = __shfl_sync(kAll, count, from);
        const int row0 = __shfl_sync(kAll, slot.x, from), row1 = __shfl_sync(kAll, slot.x, from + 1);
        a[j] = load_if(column + static_cast<long long>(row0) * words, inside && n[j] > 0, policy);
        b[j] = load_if(column + static_cast<long long>(row1) * words, inside && n[j] > 1, policy);
      }
#pragma unroll
      for (int j = 0; j < B; ++j) {
        const int mine = team * N + start + j, from = mine * 4;
        const float scale0 = __int_as_float(__shfl_sync(kAll, slot.y, from));
        const float scale1 = __int_as_float(__shfl_sync(kAll, slot.y, from + 1));
        Word sum = scaled(a[j], scale0);
        add_scaled(sum, b[j], scale1);
        if (__any_sync(kAll, n[j] > 2)) {
          const int row2 = __shfl_sync(kAll, slot.x, from + 2), row3 = __shfl_sync(kAll, slot.x, from + 3);
          const float scale2 = __int_as_float(__shfl_sync(kAll, slot.y, from + 2));
          const float scale3 = __int_as_float(__shfl_sync(kAll, slot.y, from + 3));
          const Word c = load_if(column + static_cast<long long>(row2) * words, inside && n[j] > 2, policy);
          const Word d = load_if(column + static_cast<long long>(row3) * words, inside && n[j] > 3, policy);
          add_scaled(sum, c, scale2);
          add_scaled(sum, d, scale3);
        }
        if (inside && first_source + mine < sources) __stcs(grad_x + (first_source + mine) * words + word, sum);
      }
    }
  }
}

template <class Word>
__device__ __forceinline__ void gather_words(const Word* __restrict__ grad_out, const int* __restrict__ counts,
                                             const int2* __restrict__ slots, Word* __restrict__ grad_x,
                                             long long sources, int words, bool columns_first) {
  if (words <= 8)
    gather_tiles<8, Word>(grad_out, counts, slots, grad_x, sources, words, columns_first);
  else
    gather_tiles<TILE, Word>(grad_out, counts, slots, grad_x, sources, words, columns_first);
}

// Sets the counters of the sources, and that of the list after them, to zero.
extern "C" __global__ void __launch_bounds__(256)
    clear(const float* grad_out, const int* indptr, const int* indices, float* grad_x, long long rows,
          long long sources, long long edges, long long width, float* counts, float* slots, float* over) {
  const long long i = (blockIdx.x * 256ll + threadIdx.x) * 4;
  if (i <= sources) *reinterpret_cast<int4*>(reinterpret_cast<int*>(counts) + i) = make_int4(0, 0, 0, 0);
}

// Puts each edge's row and scale into a slot of its source, or into the list if the slots are taken.
extern "C" __global__ void __launch_bounds__(256)
    build(const float* __restrict__ grad_out, const int* __restrict__ indptr, const int* __restrict__ indices,
          float* __restrict__ grad_x, long long rows, long long sources, long long edges, long long width,
          float* __restrict__ counts_memory, float* __restrict__ slots_memory, float* __restrict__ over_memory) {
  int* const counts = reinterpret_cast<int*>(counts_memory);
  int2* const slots = reinterpret_cast<int2*>(slots_memory);
  int2* const over = reinterpret_cast<int2*>(over_memory);
  const long long thread = blockIdx.x * 256ll + threadIdx.x, row = thread / LANES;
  const int lane = static_cast<int>(thread % LANES);
  if (row >= rows) return;
  const int first = __ldg(indptr + row), last = __ldg(indptr + row + 1);
  if (last <= first) return;
  const float scale = 1.0f / static_cast<float>(last - first);
  const int2 entry = make_int2(static_cast<int>(row), __float_as_int(scale));
  for (long long e = first + static_cast<long long>(lane); e < last; e += LANES) {
    const int source = __ldg(indices + e);
    const int rank = atomicAdd(counts + source, 1);
    if (rank < 4)
      slots[source * 4ll + rank] = entry;
    else
      over[atomicAdd(counts + sources, 1)] = make_int2(source, static_cast<int>(row));
  }
#if PREFETCH
  // What the gather's first tile reads is brought into L2 while the memory is idle.
  if (lane == 0 && width % 4 == 0 && width > 0) {
    long long bytes = width * 4;
    if (is_big(rows, width) && bytes > TILE * 16) bytes = TILE * 16;
    if (bytes * rows <= (32ll << 20))
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(grad_out + row * width),
                   "r"(static_cast<unsigned>(bytes))
                   : "memory");
  }
#endif
}

// Sums the slots of every source and writes all of grad_x.
extern "C" __global__ void __launch_bounds__(256, 4)
    gather(const float* __restrict__ grad_out, const int* __restrict__ indptr, const int* __restrict__ indices,
           float* __restrict__ grad_x, long long rows, long long sources, long long edges, long long width,
           const float* __restrict__ counts_memory, const float* __restrict__ slots_memory,
           const float* __restrict__ over_memory) {
  const int* const counts = reinterpret_cast<const int*>(counts_memory);
  const int2* const slots = reinterpret_cast<const int2*>(slots_memory);
  const bool columns_first = is_big(rows, width);
  if (width % 4 == 0)
    gather_words(reinterpret_cast<const float4*>(grad_out), counts, slots, reinterpret_cast<float4*>(grad_x), sources,
                 static_cast<int>(width / 4), columns_first);
  else
    gather_words(grad_out, counts, slots, grad_x, sources, static_cast<int>(width), columns_first);
}

// Adds the edges of the list, a warp for each.
extern "C" __global__ void __launch_bounds__(256)
    rest(const float* __restrict__ grad_out, const int* __restrict__ indptr, const int* __restrict__ indices,
         float* grad_x, long long rows, long long sources, long long edges, long long width,
         const float* __restrict__ counts_memory, const float* __restrict__ slots_memory,
         const float* __restrict__ over_memory) {
  if (sources <= 0 || width <= 0) return;
  const int2* const over = reinterpret_cast<const int2*>(over_memory);
  const int total = __ldg(reinterpret_cast<const int*>(counts_memory) + sources);
  const int lane = static_cast<int>(threadIdx.x & 31u);
  const long long stride = gridDim.x * 8ll;
  for (long long i = blockIdx.x * 8ll + threadIdx.x / 32u; i < total; i += stride) {
    const int2 edge = __ldg(over + i);
    const long long row = edge.y;
    const float scale = 1.0f / static_cast<float>(__ldg(indptr + row + 1) - __ldg(indptr + row));
    if (width % 4 == 0) {
      const long long words = width / 4;
      const float4* const from = reinterpret_cast<const float4*>(grad_out) + row * words;
      float4* const to = reinterpret_cast<float4*>(grad_x) + edge.x * words;
      for (long long w = lane; w < words; w += 32) atomicAdd(to + w, scaled(__ldg(from + w), scale));
    } else {
      const float* const from = grad_out + row * width;
      float* const to = grad_x + edge.x * width;
      for (long long w = lane; w < width; w += 32) atomicAdd(to + w, __ldg(from + w) * scale);
    }
  }
}
