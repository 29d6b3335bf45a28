// gather_mean: a group of LANES lanes owns one row and one slice of LANES words (float4 when width % 4 == 0).
// grid_y is the slice: blocks run slice after slice, so the part of x in use at one time is narrow and repeated
// sources are found in L2. Indices of a row are read once, coalesced, and handed round by shuffles; UNROLL neighbours
// are in flight. Loops are uniform in a warp. Chunks of LANES entries are joined by a compensated sum (long rows).
// launch gather_mean block=256 grid=min(1000000, ceil(rows*LANES, 256)) grid_y=min(65535, ceil(width, 4*LANES))
// param LANES=16 values=8,16,32
// param UNROLL=8 values=4,8
// param BLOCKS=4 values=3,4,5,6
#ifndef LANES
#define LANES 16
#endif
#ifndef UNROLL
#define UNROLL 8
#endif
#ifndef BLOCKS
#define BLOCKS 4
#endif

static_assert(LANES == 8 || LANES == 16 || LANES == 32, "lanes of a row");
static_assert((UNROLL & (UNROLL - 1)) == 0 && UNROLL <= LANES, "neighbours in flight");

__device__ __forceinline__ void clear(float& a) { a = 0.0f; }
__device__ __forceinline__ void clear(float4& a) { a = make_float4(0.0f, 0.0f, 0.0f, 0.0f); }

__device__ __forceinline__ void add(float& a, const float& b) { a += b; }
__device__ __forceinline__ void add(float4& a, const float4& b) {
  a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w;
}

// total + part exactly = new total + error; the error goes into carry
__device__ __forceinline__ void join(float& total, float& carry, const float& part) {
  const float sum = total + part, back = sum - total;
  carry += (total - (sum - back)) + (part - back);
  total = sum;
}
__device__ __forceinline__ void join(float4& total, float4& carry, const float4& part) {
  join(total.x, carry.x, part.x), join(total.y, carry.y, part.y);
  join(total.z, carry.z, part.z), join(total.w, carry.w, part.w);
}

__device__ __forceinline__ float finish(float total, float carry, float scale) {
  return (carry == carry ? total + carry : total) * scale;
}
__device__ __forceinline__ void store(float* target, const float& total, const float& carry, float scale) {
  __stcs(target, finish(total, carry, scale));
}
__device__ __forceinline__ void store(float4* target, const float4& total, const float4& carry, float scale) {
  __stcs(target, make_float4(finish(total.x, carry.x, scale), finish(total.y, carry.y, scale),
                             finish(total.z, carry.z, scale), finish(total.w, carry.w, scale)));
}

template <class Word>
__device__ __forceinline__ void reduce(const Word* __restrict__ x, const int* __restrict__ indptr,
                                       const int* __restrict__ indices, Word* __restrict__ out, long long rows,
                                       long long row_words) {
  constexpr unsigned kFull = 0xffffffffu;
  constexpr int kBlockRows = 256 / LANES, kWarpRows = 32 / LANES;
  const int lane = static_cast<int>(threadIdx.x) % LANES;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int group = (static_cast<int>(threadIdx.x) % 32) / LANES;
  const unsigned row_bytes = static_cast<unsigned>(row_words * static_cast<long long>(sizeof(Word)));
  const long long stride = static_cast<long long>(gridDim.x) * kBlockRows;

  // row0 is the same in all lanes of a warp, and so is every loop below
  for (long long row0 = static_cast<long long>(blockIdx.x) * kBlockRows + warp * kWarpRows; row0 < rows;
       row0 += stride) {
    const long long row = row0 + group;
    int first = 0, last = 0;
    if (row < rows) {
      first = __ldg(indptr + row);
      last = __ldg(indptr + row + 1);
    }
    const int degree = last - first;
    const int longest = LANES == 32 ? degree : __reduce_max_sync(kFull, degree);
    const float scale = degree > 0 ? 1.0f / static_cast<float>(degree) : 1.0f;
    const int* list = indices + first;

    for (long long slice = blockIdx.y; slice * LANES < row_words; slice += gridDim.y) {
      const long long w = slice * LANES + lane;
      const bool active = w < row_words;
      const char* column = reinterpret_cast<const char*>(x + w);
      Word total, carry;
      clear(total);
      clear(carry);
      for (int base = 0; base < longest; base += LANES) {
        int mine = 0;
        if (lane < degree - base) mine = __ldg(list + base + lane);
        const int count = active ? min(LANES, degree - base) : 0;  // may be negative: nothing left in this group
        const int top = min(LANES, longest - base);
        Word part;
        clear(part);
#pragma unroll 1
        for (int j = 0; j < top; j += UNROLL) {
          Word words[UNROLL];
#pragma unroll
          for (int k = 0; k < UNROLL; ++k) {
            const unsigned source = static_cast<unsigned>(__shfl_sync(kFull, mine, j + k, LANES));
            clear(words[k]);
            if (j + k < count)
              words[k] = __ldg(reinterpret_cast<const Word*>(
                  column + static_cast<unsigned long long>(source) * row_bytes));
          }
#pragma unroll
          for (int step = 1; step < UNROLL; step *= 2) {
#pragma unroll
            for (int k = 0; k + step < UNROLL; k += 2 * step) add(words[k], words[k + step]);
          }
          add(part, words[0]);
        }
        if (base == 0)
          total = part;
        else
          join(total, carry, part);
      }
      if (active && row < rows) store(out + row * row_words + w, total, carry, scale);
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, BLOCKS)
    gather_mean(const float* __restrict__ x, const int* __restrict__ indptr, const int* __restrict__ indices,
                float* __restrict__ out, long long rows, long long sources, long long edges, long long width) {
  if (width % 4 == 0)
    reduce(reinterpret_cast<const float4*>(x), indptr, indices, reinterpret_cast<float4*>(out), rows, width / 4);
  else
    reduce(x, indptr, indices, out, rows, width);
}
