// Gradients of the attention sum without atomics on grad_h: the edges are first put into buckets of their source, then
// a group of lanes per (source, head) reads h once, walks its bucket (grad_out comes from L2), writes grad_weights and
// grad_h once. Edges beyond a bucket's 15 places go to a spill list, added with atomics.
// param HEAD_PARTS=2 values=1,2,4
// param LANE_WORDS=2 values=1,2,4
// param MIN_BLOCKS=4 values=3,4,5
// param GRID_BLOCKS=8 values=4,8,16,32
// launch init_table block=256 grid=min(65536,ceil(rows+others,256))
// launch link_edges block=256 grid=min(65536,ceil(rows*8,256))
// launch gather_sources block=256 grid=min(sm*GRID_BLOCKS,ceil((rows+others)*ceil(heads,HEAD_PARTS)*min(32,max(1,ceil(channels,4*LANE_WORDS))),256)) grid_y=min(HEAD_PARTS,heads)
// scratch table f32 8*(rows+others)+8
// scratch tails f32 24*(rows+others)+8
// scratch spill f32 2*edges+8

#ifndef HEAD_PARTS
#define HEAD_PARTS 2
#endif
#ifndef LANE_WORDS
#define LANE_WORDS 2
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 4
#endif
#ifndef GRID_BLOCKS
#define GRID_BLOCKS 8
#endif

// table: 8 ints (one 32-byte sector) per source: count, 0, then 3 places (row, attention edge). The int after the last
// source counts the spilled edges. tails: 12 more places per source. spill: (row, attention edge) per spilled edge.
#define kFirst 3u
#define kTail 12u
#define kPlaces 15u

__device__ __forceinline__ float dot_add(float x, float y, float sum) { return fmaf(x, y, sum); }
__device__ __forceinline__ float dot_add(float4 x, float4 y, float sum) {
  return fmaf(x.w, y.w, fmaf(x.z, y.z, fmaf(x.y, y.y, fmaf(x.x, y.x, sum))));
}
__device__ __forceinline__ float multiply_add(float factor, float x, float sum) { return fmaf(factor, x, sum); }
__device__ __forceinline__ float4 multiply_add(float factor, float4 x, float4 sum) {
  return make_float4(fmaf(factor, x.x, sum.x), fmaf(factor, x.y, sum.y), fmaf(factor, x.z, sum.z),
                     fmaf(factor, x.w, sum.w));
}

/// One group of LANES lanes per (source, head); LANE_WORDS words per lane and tile. All loops are uniform in a warp.
template <class Word, int LANES>
__device__ __forceinline__ void gather(const float* __restrict__ weights, const Word* __restrict__ h,
                                       const Word* __restrict__ grad_out, float* __restrict__ grad_weights,
                                       Word* __restrict__ grad_h, const int4* __restrict__ table,
                                       const int2* __restrict__ tails, unsigned sources, unsigned heads,
                                       unsigned words) {
  constexpr int V = LANE_WORDS;
  constexpr unsigned FULL = 0xFFFFFFFFu;
  const unsigned part_heads = (heads + HEAD_PARTS - 1) / HEAD_PARTS;
  const unsigned first_head = blockIdx.y * part_heads;
  if (first_head >= heads) return;
  const unsigned head_count = min(part_heads, heads - first_head);
  const unsigned row_words = heads * words;
  const unsigned lane = threadIdx.x % LANES;
  const unsigned start = blockIdx.x * (256u / LANES) + threadIdx.x / LANES;
  const unsigned stride = gridDim.x * (256u / LANES);
  const unsigned source_step = stride / head_count, head_step = stride % head_count;
  unsigned s = start / head_count, local = start % head_count;

  int4 lo = make_int4(0, 0, 0, 0), hi = make_int4(0, 0, 0, 0);
  if (s < sources) {
    lo = __ldg(table + 2 * static_cast<size_t>(s));
    hi = __ldg(table + 2 * static_cast<size_t>(s) + 1);
  }
  while (__any_sync(FULL, s < sources)) {
    // The bucket of the next item, loaded while this one is worked on.
    unsigned next_s = s + source_step, next_local = local + head_step;
    if (next_local >= head_count) next_local -= head_count, ++next_s;
    int4 next_lo = make_int4(0, 0, 0, 0), next_hi = make_int4(0, 0, 0, 0);
    if (next_s < sources) {
      next_lo = __ldg(table + 2 * static_cast<size_t>(next_s));
      next_hi = __ldg(table + 2 * static_cast<size_t>(next_s) + 1);
    }

    const bool valid = s < sources;
    const unsigned count = static_cast<unsigned>(lo.x), n = min(count, kPlaces);
    const unsigned most = __reduce_max_sync(FULL, n);
    const unsigned head = first_head + local;
    const size_t head_offset = static_cast<size_t>(head) * words;
    const size_t item = static_cast<size_t>(s) * row_words + head_offset;
    unsigned tile = 0;
    do {
      bool in[V];
      Word x[V], sum[V];
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const unsigned w = tile + v * LANES + lane;
        in[v] = w < words;
        x[v] = Word{};
        sum[v] = Word{};
        if (n > 0 && in[v]) x[v] = __ldcs(h + item + w);
      }

      auto fetch = [&](bool active, unsigned row, Word(&g)[V]) {
        const Word* const from = grad_out + static_cast<size_t>(row) * row_words + head_offset + tile + lane;
#pragma unroll
        for (int v = 0; v < V; ++v) {
          g[v] = Word{};
          if (active && in[v]) g[v] = __ldg(from + v * LANES);
        }
      };
      auto weight_of = [&](bool active, unsigned edge) {
        float weight = 0.0f;
        if (active) weight = __ldg(weights + static_cast<size_t>(edge) * heads + head);
        return weight;
      };
      auto finish = [&](bool active, unsigned edge, float weight, const Word(&g)[V]) {
        float dot = 0.0f;
#pragma unroll
        for (int v = 0; v < V; ++v) {
          dot = dot_add(x[v], g[v], dot);
          sum[v] = multiply_add(weight, g[v], sum[v]);
        }
#pragma unroll
        for (int step = LANES / 2; step > 0; step /= 2) dot += __shfl_xor_sync(FULL, dot, step);
        if (active && lane == 0) {
          float* const target = grad_weights + static_cast<size_t>(edge) * heads + head;
          if (LANES == 32 && tile > 0) dot += *target;  // the same thread wrote it in the tile before
          *target = dot;
        }
      };

      if (most > 0) {
        Word g0[V], g1[V];
        fetch(n > 0, static_cast<unsigned>(lo.z), g0);
        fetch(n > 1, static_cast<unsigned>(hi.x), g1);
        const float w0 = weight_of(n > 0, static_cast<unsigned>(lo.w));
        const float w1 = weight_of(n > 1, static_cast<unsigned>(hi.y));
        finish(n > 0, static_cast<unsigned>(lo.w), w0, g0);
        if (most > 1) finish(n > 1, static_cast<unsigned>(hi.y), w1, g1);
      }
      int2 place = make_int2(hi.z, hi.w);
      for (unsigned t = 2; t < most; ++t) {
        const bool active = t < n;
        const int2 at = place;
        if (t + 1 < n) place = __ldg(tails + static_cast<size_t>(s) * kTail + (t + 1 - kFirst));
        Word g[V];
        fetch(active, static_cast<unsigned>(at.x), g);
        const float weight = weight_of(active, static_cast<unsigned>(at.y));
        finish(active, static_cast<unsigned>(at.y), weight, g);
      }

      if (valid) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          if (in[v]) {
            Word* const target = grad_h + item + (tile + v * LANES + lane);
            if (count > kPlaces)
              atomicAdd(target, sum[v]);  // link_edges cleared it; spilled edges are added too
            else
              __stcs(target, sum[v]);
          }
        }
      }
      tile += LANES * V;
    } while (LANES == 32 && tile < words);

    s = next_s, local = next_local;
    lo = next_lo, hi = next_hi;
  }
}

/// The spilled edges: a warp per (edge, head).
template <class Word>
__device__ __noinline__ void add_spilled(const float* weights, const Word* h, const int* indices, const Word* grad_out,
                                         float* grad_weights, Word* grad_h, const int2* spill, long long spilled,
                                         long long heads, long long words) {
  const long long warps = static_cast<long long>(gridDim.x) * gridDim.y * 8;
  const long long warp = (static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x) * 8 + threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  for (long long q = warp; q < spilled * heads; q += warps) {
    const int2 at = __ldg(spill + q / heads);
    const long long head = q % heads;
    const long long row = static_cast<unsigned>(at.x), edge = static_cast<unsigned>(at.y);
    const long long source = __ldg(indices + (edge - row));
    const float weight = __ldg(weights + edge * heads + head);
    float dot = 0.0f;
    for (long long w = lane; w < words; w += 32) {
      const Word g = __ldg(grad_out + (row * heads + head) * words + w);
      const long long at_h = (source * heads + head) * words + w;
      dot = dot_add(g, __ldg(h + at_h), dot);
      atomicAdd(grad_h + at_h, multiply_add(weight, g, Word{}));
    }
    for (int step = 16; step > 0; step /= 2) dot += __shfl_xor_sync(0xFFFFFFFFu, dot, step);
    if (lane == 0) grad_weights[edge * heads + head] = dot;
  }
}

template <class Word>
__device__ __forceinline__ void gather_all(const float* weights, const Word* h, const int* indices,
                                           const Word* grad_out, float* grad_weights, Word* grad_h,
                                           const int4* table, const int2* tails, const int2* spill, long long sources,
                                           long long heads, long long words) {
  const long long need = (words + LANE_WORDS - 1) / LANE_WORDS;
  const unsigned ns = static_cast<unsigned>(sources), nh = static_cast<unsigned>(heads),
                 nw = static_cast<unsigned>(words);
  if (need > 16)
    gather<Word, 32>(weights, h, grad_out, grad_weights, grad_h, table, tails, ns, nh, nw);
  else if (need > 8)
    gather<Word, 16>(weights, h, grad_out, grad_weights, grad_h, table, tails, ns, nh, nw);
  else if (need > 4)
    gather<Word, 8>(weights, h, grad_out, grad_weights, grad_h, table, tails, ns, nh, nw);
  else if (need > 2)
    gather<Word, 4>(weights, h, grad_out, grad_weights, grad_h, table, tails, ns, nh, nw);
  else if (need > 1)
    gather<Word, 2>(weights, h, grad_out, grad_weights, grad_h, table, tails, ns, nh, nw);
  else
    gather<Word, 1>(weights, h, grad_out, grad_weights, grad_h, table, tails, ns, nh, nw);
  const long long spilled = __ldg(reinterpret_cast<const int*>(table) + 8 * sources);
  if (spilled > 0)
    add_spilled<Word>(weights, h, indices, grad_out, grad_weights, grad_h, spill, spilled, heads, words);
}

/// Empty buckets, but a row's own edge is in the first place of its bucket.
extern "C" __global__ void __launch_bounds__(256)
    init_table(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
               const int* __restrict__ indices, const float* __restrict__ grad_out, float* __restrict__ grad_weights,
               float* __restrict__ grad_h, long long rows, long long others, long long edges, long long heads,
               long long channels, float* __restrict__ table, float* __restrict__ tails, float* __restrict__ spill) {
  const long long sources = rows + others, stride = gridDim.x * 256ll;
  const long long thread = blockIdx.x * 256ll + threadIdx.x;
  int4* const places = reinterpret_cast<int4*>(table);
  for (long long s = thread; s < sources; s += stride) {
    int4 lo = make_int4(0, 0, 0, 0);
    if (s < rows) {
      const unsigned edge = static_cast<unsigned>(__ldg(indptr + s + 1)) + static_cast<unsigned>(s);
      lo = make_int4(1, 0, static_cast<int>(s), static_cast<int>(edge));
    }
    places[2 * s] = lo;
    places[2 * s + 1] = make_int4(0, 0, 0, 0);
  }
  if (thread == 0) reinterpret_cast<int*>(table)[8 * sources] = 0;
}

/// 8 lanes per row put its edges into the buckets of their sources; masked edges get their gradient here. The first
/// part of grad_out is brought into L2 meanwhile.
extern "C" __global__ void __launch_bounds__(256)
    link_edges(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
               const int* __restrict__ indices, const float* __restrict__ grad_out, float* __restrict__ grad_weights,
               float* __restrict__ grad_h, long long rows, long long others, long long edges, long long heads,
               long long channels, float* __restrict__ table, float* __restrict__ tails, float* __restrict__ spill) {
  const long long sources = rows + others, stride = gridDim.x * 32ll, width = heads * channels;
  const long long part_width = (heads + HEAD_PARTS - 1) / HEAD_PARTS * channels;
  const int lane = threadIdx.x % 8;
  int* const counts = reinterpret_cast<int*>(table);
  for (long long row = (blockIdx.x * 256ll + threadIdx.x) / 8; row < rows; row += stride) {
    const long long first = __ldg(indptr + row), last = __ldg(indptr + row + 1);
    for (long long c = lane * 32; c < part_width; c += 256)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(grad_out + row * width + c));
    for (long long e = first + lane; e < last; e += 8) {
      const long long s = __ldg(indices + e), edge = e + row;
      if (s == row) {
        for (long long k = 0; k < heads; ++k) grad_weights[edge * heads + k] = 0.0f;
        continue;
      }
      const int2 entry = make_int2(static_cast<int>(row), static_cast<int>(static_cast<unsigned>(edge)));
      const unsigned place = static_cast<unsigned>(atomicAdd(counts + 8 * s, 1));
      if (place < kFirst) {
        reinterpret_cast<int2*>(table)[4 * s + 1 + place] = entry;
      } else if (place < kPlaces) {
        reinterpret_cast<int2*>(tails)[static_cast<long long>(kTail) * s + (place - kFirst)] = entry;
      } else {
        const int at = atomicAdd(counts + 8 * sources, 1);
        reinterpret_cast<int2*>(spill)[at] = entry;
        if (place == kPlaces) {  // once per overfull source: its gradient will be added with atomics
          float* const target = grad_h + s * width;
          if (width % 4 == 0) {
            for (long long c = 0; c < width / 4; ++c)
              reinterpret_cast<float4*>(target)[c] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
          } else {
            for (long long c = 0; c < width; ++c) target[c] = 0.0f;
          }
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, MIN_BLOCKS)
    gather_sources(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
                   const int* __restrict__ indices, const float* __restrict__ grad_out,
                   float* __restrict__ grad_weights, float* __restrict__ grad_h, long long rows, long long others,
                   long long edges, long long heads, long long channels, float* __restrict__ table,
                   float* __restrict__ tails, float* __restrict__ spill) {
  const int4* const buckets = reinterpret_cast<const int4*>(table);
  const int2* const more = reinterpret_cast<const int2*>(tails);
  const int2* const spilled = reinterpret_cast<const int2*>(spill);
  if (channels % 4 == 0)
    gather_all(weights, reinterpret_cast<const float4*>(h), indices, reinterpret_cast<const float4*>(grad_out),
               grad_weights, reinterpret_cast<float4*>(grad_h), buckets, more, spilled, rows + others, heads,
               channels / 4);
  else
    gather_all(weights, h, indices, grad_out, grad_weights, grad_h, buckets, more, spilled, rows + others, heads,
               channels);
}
