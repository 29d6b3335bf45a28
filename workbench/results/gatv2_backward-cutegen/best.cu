// Gradients by source. A term is grad * att * (1 or 0.2), so a column of an edge is one bit for the second side:
//   clear            zeroes the edge counts of the sources and grad_att
//   sort_edges       gives every unmasked edge a place at its source (the few beyond EDGE_SLOTS go to a list)
//   source_gradients reads z_src once and gathers z_dst, which the L2 holds (64 or 128 columns at a time); writes
//                    grad_src once and without atomics, keeps the signs as bits, and sums grad_att
//   row_gradients    makes grad_dst from the bits; adds the edges of the list to grad_src
// launch clear block=256 grid=min(1024, ceil(rows+others+1+heads*channels, 1024))
// launch sort_edges block=256 grid=min(65536, ceil(rows, 32))
// launch source_gradients block=256 grid=min(sm*SM_BLOCKS, ceil(rows+others, 64))
// launch row_gradients block=256 grid=min(sm*ROW_BLOCKS, ceil(rows, 8)) grid_y=min(65535, max(1, ceil(heads*channels, 128)))
// param EDGE_SLOTS=8 values=4,8,16
// param SM_BLOCKS=3 values=2,3,4
// param ROW_BLOCKS=5 values=4,5,6,8
// param NARROW_ROWS=49152 values=0,49152,1000000
// scratch counts_memory f32 rows+others+1
// scratch slots_memory f32 (rows+others)*EDGE_SLOTS*2+2
// scratch overflow_memory f32 edges*2+2
// scratch signs_memory f32 (edges+rows)*ceil(heads*channels, 64)*2+2

/// An edge is kept as {x: its place in indices (a row's own: indptr[row + 1]), y: its row}; x + y is its place among
/// the attention edges.
struct Problem {
  const float* z_src;
  const float* z_dst;
  const float* att;
  const int* indptr;
  const int* indices;
  const float* grad_logits;
  float* grad_src;
  float* grad_dst;
  float* grad_att;
  const int* counts;     // edges of each source, without its own; after them the length of the overflow list
  const int2* slots;     // EDGE_SLOTS edges of each source
  const int2* overflow;  // edges that found no slot
  unsigned* signs;       // WORD 4: of 64 columns 4 times 16 bits, bit q: column 4 q + word; WORD 1: of 32 columns 32 bits
  int rows, sources, heads, channels, width;
};

__device__ __forceinline__ void load_words(const char* from, float (&to)[4]) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void load_words(const char* from, float (&to)[1]) {
  to[0] = __ldg(reinterpret_cast<const float*>(from));
}
__device__ __forceinline__ void load_once(const char* from, float (&to)[4]) {
  const float4 v = __ldcs(reinterpret_cast<const float4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void load_once(const char* from, float (&to)[1]) {
  to[0] = __ldcs(reinterpret_cast<const float*>(from));
}
__device__ __forceinline__ void store_once(char* to, const float (&v)[4]) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(v[0], v[1], v[2], v[3]));
}
__device__ __forceinline__ void store_once(char* to, const float (&v)[1]) {
  __stcs(reinterpret_cast<float*>(to), v[0]);
}
__device__ __forceinline__ void add_atomically(char* to, const float (&v)[4]) {
  atomicAdd(reinterpret_cast<float4*>(to), make_float4(v[0], v[1], v[2], v[3]));
}
__device__ __forceinline__ void add_atomically(char* to, const float (&v)[1]) {
  atomicAdd(reinterpret_cast<float*>(to), v[0]);
}
__device__ __forceinline__ void store_signs(char* to, const unsigned (&up)[4], unsigned halves) {
  *reinterpret_cast<uint2*>(to) =
      make_uint2(__byte_perm(up[0], up[1], halves), __byte_perm(up[2], up[3], halves));
}
__device__ __forceinline__ void store_signs(char* to, const unsigned (&up)[1], unsigned) {
  *reinterpret_cast<unsigned*>(to) = up[0];
}
template <int WORD>
__device__ __forceinline__ uint2 load_signs(const char* from) {
  if constexpr (WORD == 4)
    return __ldg(reinterpret_cast<const uint2*>(from));
  else
    return make_uint2(__ldg(reinterpret_cast<const unsigned*>(from)), 0u);
}

/// Bytes of the signs of one attention edge, and where those of a column begin among them.
template <int WORD>
__device__ __forceinline__ unsigned sign_bytes_of(int width) {
  return WORD == 4 ? (width + 63) / 64 * 8 : (width + 31) / 32 * 4;
}
template <int WORD>
__device__ __forceinline__ int sign_offset_of(int column) {
  return WORD == 4 ? column / 64 * 8 : column / 32 * 4;
}

/// One edge's part of the sums of its source and of att; the signs of the whole warp.
template <int WORD>
__device__ __forceinline__ void add_edge(const float (&x)[WORD], const float (&z)[WORD], float grad,
                                         float (&sum)[WORD], float (&att_sum)[WORD], unsigned (&up)[WORD]) {
  const float low = 0.2f * grad;
#pragma unroll
  for (int c = 0; c < WORD; ++c) {
    const float raw = x[c] + z[c];
    const bool above = raw > 0.0f;
    const float term = above ? grad : low;
    sum[c] += term;
    att_sum[c] = fmaf(term, raw, att_sum[c]);
    up[c] = __ballot_sync(0xffffffffu, above);
  }
}

/// What a lane knows of a chunk of 8 sources (or 8 edges of the overflow list): of source lane / 4 its edge lane % 4.
struct Meta {
  int source, count;
  int2 edge;
};

__device__ __forceinline__ Meta meta_of(const Problem& p, int chunk, int source_chunks, int extra, int lane) {
  Meta meta;
  meta.source = -1, meta.count = 0;
  meta.edge = make_int2(0, 0);
  const int place = lane & 3;
  if (chunk < source_chunks) {
    const int source = chunk * 8 + (lane >> 2);
    if (source < p.sources) {
      const int own = source < p.rows ? 1 : 0;
      meta.source = source;
      meta.count = __ldg(p.counts + source);
      if (place < own)
        meta.edge = make_int2(__ldg(p.indptr + source + 1), source);
      else
        meta.edge = __ldg(p.slots + static_cast<long long>(source) * EDGE_SLOTS + (place - own));
    }
  } else {
    const int at = (chunk - source_chunks) * 8 + (lane >> 2);
    if (at < extra) {
      meta.edge = __ldg(p.overflow + at);
      meta.source = __ldg(p.indices + meta.edge.x);
      meta.count = 1;
    }
  }
  return meta;
}

/// LANES lanes per source, WORD columns per lane; all sources for the first LANES * WORD columns, then for the next.
template <int WORD, int LANES>
__device__ __forceinline__ void add_sources(const Problem& p, float* partial) {
  constexpr unsigned whole = 0xffffffffu;
  constexpr int groups = 32 / LANES, steps = 8 / groups, columns = LANES * WORD;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, group = lane / LANES;
  const int extra = __ldg(p.counts + p.sources);
  const int source_chunks = (p.sources + 7) / 8, chunks = source_chunks + (extra + 7) / 8;
  const int first = blockIdx.x * 8 + warp, stride = gridDim.x * 8;
  const int row_bytes = p.width * 4;
  const unsigned grad_bytes = p.heads * 4, sign_bytes = sign_bytes_of<WORD>(p.width);
  const unsigned halves = lane < 16 ? 0x5410u : 0x7632u;
  const bool leads = (lane & (WORD == 4 ? 15 : 31)) == 0;

  for (int base = 0; base < p.width; base += columns) {
    const int column = base + (lane & (LANES - 1)) * WORD;
    const bool inside = column < p.width;
    const int head = inside ? column / p.channels : 0;
    const char* const z_src = reinterpret_cast<const char*>(p.z_src) + column * 4ll;
    const char* const z_dst = reinterpret_cast<const char*>(p.z_dst) + column * 4ll;
    const char* const grads = reinterpret_cast<const char*>(p.grad_logits) + head * 4ll;
    char* const grad_src = reinterpret_cast<char*>(p.grad_src) + column * 4ll;
    char* const signs = reinterpret_cast<char*>(p.signs) + sign_offset_of<WORD>(column);
    float weight[WORD] = {}, att_sum[WORD] = {};
    if (inside) load_words(reinterpret_cast<const char*>(p.att) + column * 4ll, weight);

    Meta next = meta_of(p, first, source_chunks, extra, lane);
    for (int chunk = first; chunk < chunks; chunk += stride) {
      const Meta meta = next;
      next = meta_of(p, chunk + stride, source_chunks, extra, lane);
      const bool writes = chunk < source_chunks;
      const int own_of_lane = writes && meta.source >= 0 && meta.source < p.rows ? 1 : 0;
      const int total_of_lane = min(meta.count, EDGE_SLOTS) + own_of_lane;

      int next_source = __shfl_sync(whole, meta.source, group * 4);
      int next_total = __shfl_sync(whole, total_of_lane, group * 4);
      float ahead[WORD] = {};
      if (inside && next_total > 0) load_once(z_src + static_cast<long long>(next_source) * row_bytes, ahead);
#pragma unroll 2
      for (int step = 0; step < steps; ++step) {
        const int lead = (step * groups + group) * 4;
        const int source = next_source, total = next_total;
        float x[WORD];
#pragma unroll
        for (int c = 0; c < WORD; ++c) x[c] = ahead[c];
        if (step + 1 < steps) {
          next_source = __shfl_sync(whole, meta.source, lead + groups * 4);
          next_total = __shfl_sync(whole, total_of_lane, lead + groups * 4);
#pragma unroll
          for (int c = 0; c < WORD; ++c) ahead[c] = 0.0f;
          if (inside && next_total > 0) load_once(z_src + static_cast<long long>(next_source) * row_bytes, ahead);
        }

        int most = total;
        if constexpr (groups == 2) most = max(total, __shfl_xor_sync(whole, total, 16));
        float sum[WORD] = {};
        for (int v = 0; v < most; v += 2) {
          int2 a = make_int2(0, 0), b = make_int2(0, 0);
          if (v < 4) {
            a.x = __shfl_sync(whole, meta.edge.x, lead + v);
            a.y = __shfl_sync(whole, meta.edge.y, lead + v);
            b.x = __shfl_sync(whole, meta.edge.x, lead + v + 1);
            b.y = __shfl_sync(whole, meta.edge.y, lead + v + 1);
          } else {
            const int2* const more =
                p.slots + (static_cast<long long>(source) * EDGE_SLOTS + v - (source < p.rows ? 1 : 0));
            if (v < total) a = __ldg(more);
            if (v + 1 < total) b = __ldg(more + 1);
          }
          const bool has_a = inside && v < total, has_b = inside && v + 1 < total;
          const unsigned edge_a = static_cast<unsigned>(a.x) + static_cast<unsigned>(a.y);
          const unsigned edge_b = static_cast<unsigned>(b.x) + static_cast<unsigned>(b.y);
          float z_a[WORD] = {}, z_b[WORD] = {}, grad_a = 0.0f, grad_b = 0.0f;
          if (has_a) {
            load_words(z_dst + static_cast<long long>(a.y) * row_bytes, z_a);
            grad_a = __ldg(
                reinterpret_cast<const float*>(grads + static_cast<unsigned long long>(edge_a) * grad_bytes));
          }
          if (has_b) {
            load_words(z_dst + static_cast<long long>(b.y) * row_bytes, z_b);
            grad_b = __ldg(
                reinterpret_cast<const float*>(grads + static_cast<unsigned long long>(edge_b) * grad_bytes));
          }
          unsigned up[WORD];
          add_edge<WORD>(x, z_a, grad_a, sum, att_sum, up);
          if (has_a && leads)
            store_signs(signs + static_cast<unsigned long long>(edge_a) * sign_bytes, up, halves);
          if (v + 1 < most) {
            add_edge<WORD>(x, z_b, grad_b, sum, att_sum, up);
            if (has_b && leads)
              store_signs(signs + static_cast<unsigned long long>(edge_b) * sign_bytes, up, halves);
          }
        }
        if (inside && writes && source >= 0) {
          float out[WORD];
#pragma unroll
          for (int c = 0; c < WORD; ++c) out[c] = sum[c] * weight[c];
          store_once(grad_src + static_cast<long long>(source) * row_bytes, out);
        }
      }
    }

    if constexpr (groups == 2) {
#pragma unroll
      for (int c = 0; c < WORD; ++c) att_sum[c] += __shfl_xor_sync(whole, att_sum[c], 16);
    }
    if (lane < LANES) {
#pragma unroll
      for (int c = 0; c < WORD; ++c) partial[warp * 128 + lane * WORD + c] = att_sum[c];
    }
    __syncthreads();
    const int mine = threadIdx.x;
    if (mine < columns && base + mine < p.width) {
      float sum = 0.0f;
#pragma unroll
      for (int w = 0; w < 8; ++w) sum += partial[w * 128 + mine];
      atomicAdd(p.grad_att + base + mine, sum);
    }
    __syncthreads();
  }
}

/// A warp per row and 32 * WORD columns: grad_dst from the signs; then the overflow list's part of grad_src.
template <int WORD>
__device__ __forceinline__ void add_rows(const Problem& p) {
  constexpr int columns = 32 * WORD;
  const int lane = threadIdx.x & 31;
  const int first_item = blockIdx.x * 8 + (threadIdx.x >> 5), stride = gridDim.x * 8;
  const int extra = __ldg(p.counts + p.sources);
  const int row_bytes = p.width * 4;
  const unsigned grad_bytes = p.heads * 4, sign_bytes = sign_bytes_of<WORD>(p.width);

  for (long long base = static_cast<long long>(blockIdx.y) * columns; base < p.width;
       base += static_cast<long long>(gridDim.y) * columns) {
    const int column = static_cast<int>(base) + lane * WORD;
    const bool inside = column < p.width;
    const int head = inside ? column / p.channels : 0;
    const unsigned mask = WORD == 4 ? 1u << ((column >> 2) & 15) : 1u << lane;
    const char* const grads = reinterpret_cast<const char*>(p.grad_logits) + head * 4ll;
    const char* const signs = reinterpret_cast<const char*>(p.signs) + sign_offset_of<WORD>(column);
    char* const grad_src = reinterpret_cast<char*>(p.grad_src) + column * 4ll;
    char* const grad_dst = reinterpret_cast<char*>(p.grad_dst) + column * 4ll;
    float weight[WORD] = {};
    if (inside) load_words(reinterpret_cast<const char*>(p.att) + column * 4ll, weight);

    int next_begin = 0, next_end = 0;
    if (first_item < p.rows) next_begin = __ldg(p.indptr + first_item), next_end = __ldg(p.indptr + first_item + 1);
    for (int row = first_item; row < p.rows; row += stride) {
      const unsigned begin = next_begin, end = next_end;
      if (row + stride < p.rows)
        next_begin = __ldg(p.indptr + row + stride), next_end = __ldg(p.indptr + row + stride + 1);
      float high[WORD] = {}, all_grads = 0.0f;  // grad summed where the sign is up, and everywhere
      for (unsigned j = begin; j <= end; j += 4) {
        int other[4];
        float grad[4];
        uint2 up[4];
#pragma unroll
        for (int u = 0; u < 4; ++u) {
          const unsigned at = j + u;
          other[u] = -1, grad[u] = 0.0f, up[u] = make_uint2(0u, 0u);
          if (at < end) other[u] = __ldg(p.indices + at);
          if (inside && at <= end) {
            const unsigned long long edge = at + static_cast<unsigned>(row);
            grad[u] = __ldg(reinterpret_cast<const float*>(grads + edge * grad_bytes));
            up[u] = load_signs<WORD>(signs + edge * sign_bytes);
          }
        }
#pragma unroll
        for (int u = 0; u < 4; ++u) {
          const float g = other[u] == row ? 0.0f : grad[u];
          all_grads += g;
#pragma unroll
          for (int c = 0; c < WORD; ++c) {
            const unsigned bits = (c & 2) ? up[u].y : up[u].x;
            if (bits & ((c & 1) ? mask << 16 : mask)) high[c] += g;
          }
        }
      }
      if (inside) {
        float out[WORD];
#pragma unroll
        for (int c = 0; c < WORD; ++c) out[c] = weight[c] * fmaf(0.8f, high[c], 0.2f * all_grads);
        store_once(grad_dst + static_cast<long long>(row) * row_bytes, out);
      }
    }

    for (int at = first_item; at < extra; at += stride) {
      if (!inside) continue;
      const int2 pair = __ldg(p.overflow + at);
      const int source = __ldg(p.indices + pair.x);
      const unsigned long long edge = static_cast<unsigned>(pair.x) + static_cast<unsigned>(pair.y);
      const float grad = __ldg(reinterpret_cast<const float*>(grads + edge * grad_bytes));
      const uint2 up = load_signs<WORD>(signs + edge * sign_bytes);
      float term[WORD];
#pragma unroll
      for (int c = 0; c < WORD; ++c) {
        const unsigned bits = (c & 2) ? up.y : up.x;
        term[c] = weight[c] * ((bits & ((c & 1) ? mask << 16 : mask)) ? grad : 0.2f * grad);
      }
      add_atomically(grad_src + static_cast<long long>(source) * row_bytes, term);
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    clear(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
          const int* __restrict__ indptr, const int* __restrict__ indices, const float* __restrict__ grad_logits,
          float* __restrict__ grad_src, float* __restrict__ grad_dst, float* __restrict__ grad_att, long long rows,
          long long others, long long edges, long long heads, long long channels, float* __restrict__ counts_memory,
          float* __restrict__ slots_memory, float* __restrict__ overflow_memory, float* __restrict__ signs_memory) {
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll;
  int* const counts = reinterpret_cast<int*>(counts_memory);
  for (long long i = thread; i < rows + others + 1; i += stride) counts[i] = 0;
  for (long long i = thread; i < heads * channels; i += stride) grad_att[i] = 0.0f;
}

extern "C" __global__ void __launch_bounds__(256)
    sort_edges(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
               const int* __restrict__ indptr, const int* __restrict__ indices, const float* __restrict__ grad_logits,
               float* __restrict__ grad_src, float* __restrict__ grad_dst, float* __restrict__ grad_att,
               long long rows, long long others, long long edges, long long heads, long long channels,
               float* __restrict__ counts_memory, float* __restrict__ slots_memory,
               float* __restrict__ overflow_memory, float* __restrict__ signs_memory) {
  __shared__ int begins[33];
  int* const counts = reinterpret_cast<int*>(counts_memory);
  int2* const slots = reinterpret_cast<int2*>(slots_memory);
  int2* const overflow = reinterpret_cast<int2*>(overflow_memory);
  const int thread = threadIdx.x;
  for (long long first_row = blockIdx.x * 32ll; first_row < rows; first_row += gridDim.x * 32ll) {
    const int num_rows = rows - first_row < 32 ? static_cast<int>(rows - first_row) : 32;
    if (thread <= num_rows) begins[thread] = __ldg(indptr + first_row + thread);
    __syncthreads();
    const long long end = begins[num_rows];
    for (long long j = static_cast<long long>(begins[0]) + thread; j < end; j += 256) {
      const int source = __ldg(indices + j);
      int at = 0;  // the last row of the tile that begins at or before j
#pragma unroll
      for (int skip = 16; skip > 0; skip /= 2)
        if (at + skip < num_rows && begins[at + skip] <= j) at += skip;
      const int row = static_cast<int>(first_row) + at;
      if (source == row) continue;
      const int place = atomicAdd(counts + source, 1);
      const int2 edge = make_int2(static_cast<int>(j), row);
      if (place < EDGE_SLOTS)
        slots[static_cast<long long>(source) * EDGE_SLOTS + place] = edge;
      else
        overflow[atomicAdd(counts + (rows + others), 1)] = edge;
    }
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(256, SM_BLOCKS)
    source_gradients(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
                     const int* __restrict__ indptr, const int* __restrict__ indices,
                     const float* __restrict__ grad_logits, float* __restrict__ grad_src,
                     float* __restrict__ grad_dst, float* __restrict__ grad_att, long long rows, long long others,
                     long long edges, long long heads, long long channels, float* __restrict__ counts_memory,
                     float* __restrict__ slots_memory, float* __restrict__ overflow_memory,
                     float* __restrict__ signs_memory) {
  __shared__ float partial[8 * 128];
  if (heads <= 0 || channels <= 0) return;
  const Problem p = {z_src,
                     z_dst,
                     att,
                     indptr,
                     indices,
                     grad_logits,
                     grad_src,
                     grad_dst,
                     grad_att,
                     reinterpret_cast<const int*>(counts_memory),
                     reinterpret_cast<const int2*>(slots_memory),
                     reinterpret_cast<const int2*>(overflow_memory),
                     reinterpret_cast<unsigned*>(signs_memory),
                     static_cast<int>(rows),
                     static_cast<int>(rows + others),
                     static_cast<int>(heads),
                     static_cast<int>(channels),
                     static_cast<int>(heads * channels)};
  if (p.channels % 4 != 0)
    add_sources<1, 32>(p, partial);
  else if (p.width <= 64 || p.rows > NARROW_ROWS)
    add_sources<4, 16>(p, partial);
  else
    add_sources<4, 32>(p, partial);
}

extern "C" __global__ void __launch_bounds__(256, ROW_BLOCKS)
    row_gradients(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
                  const int* __restrict__ indptr, const int* __restrict__ indices,
                  const float* __restrict__ grad_logits, float* __restrict__ grad_src, float* __restrict__ grad_dst,
                  float* __restrict__ grad_att, long long rows, long long others, long long edges, long long heads,
                  long long channels, float* __restrict__ counts_memory, float* __restrict__ slots_memory,
                  float* __restrict__ overflow_memory, float* __restrict__ signs_memory) {
  if (heads <= 0 || channels <= 0) return;
  const Problem p = {z_src,
                     z_dst,
                     att,
                     indptr,
                     indices,
                     grad_logits,
                     grad_src,
                     grad_dst,
                     grad_att,
                     reinterpret_cast<const int*>(counts_memory),
                     reinterpret_cast<const int2*>(slots_memory),
                     reinterpret_cast<const int2*>(overflow_memory),
                     reinterpret_cast<unsigned*>(signs_memory),
                     static_cast<int>(rows),
                     static_cast<int>(rows + others),
                     static_cast<int>(heads),
                     static_cast<int>(channels),
                     static_cast<int>(heads * channels)};
  if (p.channels % 4 != 0)
    add_rows<1>(p);
  else
    add_rows<4>(p);
}
