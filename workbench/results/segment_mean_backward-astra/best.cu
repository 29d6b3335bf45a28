// segment_mean_backward: the entries are binned by source into 32-byte records (count, up to 7 rows) in scratch, then
// each source gathers its rows and writes grad_x exactly once. Entries beyond 7 a source are added by float atomics.
// launch clear block=256 grid=min(65536, ceil(2*sources+2, 1024))
// launch place block=256 grid=min(1048576, ceil(rows*LANES, 256))
// launch gather block=256 grid=min(sm*PER_SM, ceil(sources, 32))
// launch spilled block=256 grid=min(sm*4, ceil(edges, 8))
// param LANES=8 values=4,8,16
// param PER_SM=4 values=4,8,16,1024
// scratch records f32 8*sources+8
// scratch spill f32 2*edges+2
#include <cooperative_groups.h>

#ifndef LANES
#define LANES 8
#endif

// ---- words: float4 when width % 4 == 0, else float ----

__device__ __forceinline__ float4 load_if(const float4* address, bool take) {
  float4 v;
  asm volatile(
      "{\n\t"
      ".reg .pred q;\n\t"
      "setp.ne.s32 q, %5, 0;\n\t"
      "mov.f32 %0, 0f00000000;\n\t"
      "mov.f32 %1, 0f00000000;\n\t"
      "mov.f32 %2, 0f00000000;\n\t"
      "mov.f32 %3, 0f00000000;\n\t"
      "@q ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];\n\t"
      "}"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "l"(address), "r"(static_cast<int>(take)));
  return v;
}

__device__ __forceinline__ float load_if(const float* address, bool take) {
  float v;
  asm volatile(
      "{\n\t"
      ".reg .pred q;\n\t"
      "setp.ne.s32 q, %2, 0;\n\t"
      "mov.f32 %0, 0f00000000;\n\t"
      "@q ld.global.nc.f32 %0, [%1];\n\t"
      "}"
      : "=f"(v)
      : "l"(address), "r"(static_cast<int>(take)));
  return v;
}

__device__ __forceinline__ void accumulate(float& sum, float v, float scale) { sum = fmaf(v, scale, sum); }
__device__ __forceinline__ void accumulate(float4& sum, const float4& v, float scale) {
  sum.x = fmaf(v.x, scale, sum.x);
  sum.y = fmaf(v.y, scale, sum.y);
  sum.z = fmaf(v.z, scale, sum.z);
  sum.w = fmaf(v.w, scale, sum.w);
}

__device__ __forceinline__ float scaled(float value, float scale) { return value * scale; }
__device__ __forceinline__ float4 scaled(float4 v, float scale) {
  return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
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

// 1 / x for x >= 1 without a branch: the approximation and one Newton step.
__device__ __forceinline__ float reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  const float e = fmaf(-x, r, 1.0f);
  return fmaf(r, e, r);
}

// ---- 1: empty records ----

extern "C" __global__ void __launch_bounds__(256)
    clear(const float* grad_out, const int* indptr, const int* indices, float* grad_x, long long rows,
          long long sources, long long edges, long long width, float* records, float* spill) {
  const long long count = 2 * sources + 2, stride = gridDim.x * 256ll;
  int4* const out = reinterpret_cast<int4*>(records);
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += stride) out[i] = make_int4(0, 0, 0, 0);
}

// ---- 2: every entry into the record of its source ----

extern "C" __global__ void __launch_bounds__(256)
    place(const float* grad_out, const int* indptr, const int* indices, float* grad_x, long long rows,
          long long sources, long long edges, long long width, float* records, float* spill) {
  int* const rec = reinterpret_cast<int*>(records);
  int2* const pairs = reinterpret_cast<int2*>(spill);
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll / LANES;
  const unsigned lane = threadIdx.x % LANES;
  for (long long i = thread / LANES; i < rows; i += stride) {
    const int first = __ldg(indptr + i), last = __ldg(indptr + i + 1);
    const unsigned length = last > first ? static_cast<unsigned>(last - first) : 0u;
    const int* const mine = indices + first;
    for (unsigned j = lane; j < length; j += 4u * LANES) {
      int v[4], p[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) v[k] = j + k * LANES < length ? __ldg(mine + (j + k * LANES)) : 0;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        p[k] = 0;
        if (j + k * LANES < length) p[k] = atomicAdd(rec + 8ll * v[k], 1);
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (j + k * LANES < length) {
          if (p[k] < 7) {
            rec[8ll * v[k] + 1 + p[k]] = static_cast<int>(i);
          } else {
            const auto group = cooperative_groups::coalesced_threads();
            int q = 0;
            if (group.thread_rank() == 0) q = atomicAdd(rec + 8 * sources, static_cast<int>(group.size()));
            q = group.shfl(q, 0) + static_cast<int>(group.thread_rank());
            pairs[q] = make_int2(v[k], static_cast<int>(i));
          }
        }
      }
    }
  }
}

// ---- 3: four sources a warp, grad_x written once ----

// The rows of the first COUNT set bits (slots) of rest, all loads issued together.
template <int COUNT, class Word>
__device__ __forceinline__ void load_batch(Word (&t)[COUNT], unsigned rest, int row, const Word* column,
                                           long long row_words, bool active) {
#pragma unroll
  for (int j = 0; j < COUNT; ++j) {
    const int source_lane = (__ffs(static_cast<int>(rest)) - 1) & 31;
    const int r = __shfl_sync(0xffffffffu, row, source_lane);
    t[j] = load_if(column + static_cast<long long>(r) * row_words, active && rest != 0u);
    rest &= rest - 1u;
  }
}

// Adds these rows; a source's sum is stored when the next source's first row comes. All branches are warp-uniform.
template <int COUNT, class Word>
__device__ __forceinline__ void add_batch(const Word (&t)[COUNT], unsigned& rest, float scale, Word& sum, int& current,
                                          Word*& out, long long row_words, bool active) {
#pragma unroll
  for (int j = 0; j < COUNT; ++j) {
    if (rest != 0u) {
      const int source_lane = __ffs(static_cast<int>(rest)) - 1;
      const float s = __shfl_sync(0xffffffffu, scale, source_lane);
      const int owner = source_lane >> 3;
#pragma unroll 1
      while (current < owner) {
        if (active) __stcs(out, sum);
        out += row_words;
        sum = Word();
        ++current;
      }
      accumulate(sum, t[j], s);
      rest &= rest - 1u;
    }
  }
}

// After the first batch's loads: sums, the rare further batches, stores.
template <class Word>
__device__ __forceinline__ void finish(const Word (&t)[8], unsigned rest, int row, float scale, const Word* column,
                                       Word* out, int present, long long row_words, bool active) {
  Word sum = Word();
  int current = 0;
  add_batch<8, Word>(t, rest, scale, sum, current, out, row_words, active);
#pragma unroll 1
  while (rest != 0u) {
    Word u[4];
    load_batch<4, Word>(u, rest, row, column, row_words, active);
    add_batch<4, Word>(u, rest, scale, sum, current, out, row_words, active);
  }
#pragma unroll 1
  while (current < present) {
    if (active) __stcs(out, sum);
    out += row_words;
    sum = Word();
    ++current;
  }
}

__device__ __forceinline__ int load_record_word(const int* rec, long long base, int lane, long long sources) {
  return base + (lane >> 3) < sources ? __ldcs(rec + (8 * base + lane)) : 0;
}

template <class Word>
__device__ __forceinline__ void gather_sources(const Word* __restrict__ grad_out, const int* __restrict__ indptr,
                                               const int* __restrict__ rec, Word* __restrict__ grad_x,
                                               long long sources, long long row_words) {
  const int lane = threadIdx.x & 31, slot = lane & 7;
  const long long step = gridDim.x * 32ll;
  long long base = ((blockIdx.x * 256ll + threadIdx.x) >> 5) * 4;
  int word = load_record_word(rec, base, lane, sources);
  for (; base < sources; base += step) {
    const int next = load_record_word(rec, base + step, lane, sources);
    const int count = min(__shfl_sync(0xffffffffu, word, lane & 24), 7);
    const bool valid = slot >= 1 && slot <= count;
    const int row = valid ? word : 0;
    const int* const bounds = indptr + row;
    const int low = __ldg(bounds), high = __ldg(bounds + (valid ? 1 : 0));
    const unsigned mask = __ballot_sync(0xffffffffu, valid);
    const int present = sources - base < 4 ? static_cast<int>(sources - base) : 4;

    // The first 32 columns: the scales are waited for only after the rows' loads are issued.
    float scale;
    {
      const bool active = lane < row_words;
      const Word* const column = grad_out + lane;
      Word t[8];
      load_batch<8, Word>(t, mask, row, column, row_words, active);
      const float r = reciprocal(static_cast<float>(high - low));
      scale = valid ? r : 0.0f;
      finish<Word>(t, mask, row, scale, column, grad_x + (base * row_words + lane), present, row_words, active);
    }
#pragma unroll 1
    for (long long c = 32; c < row_words; c += 32) {
      const bool active = c + lane < row_words;
      const Word* const column = grad_out + (c + lane);
      Word t[8];
      load_batch<8, Word>(t, mask, row, column, row_words, active);
      finish<Word>(t, mask, row, scale, column, grad_x + (base * row_words + c + lane), present, row_words, active);
    }
    word = next;
  }
}

extern "C" __global__ void __launch_bounds__(256, 4)
    gather(const float* grad_out, const int* indptr, const int* indices, float* grad_x, long long rows,
           long long sources, long long edges, long long width, float* records, float* spill) {
  const int* const rec = reinterpret_cast<const int*>(records);
  if (width % 4 == 0)
    gather_sources<float4>(reinterpret_cast<const float4*>(grad_out), indptr, rec, reinterpret_cast<float4*>(grad_x),
                           sources, width / 4);
  else
    gather_sources<float>(grad_out, indptr, rec, grad_x, sources, width);
}

// ---- 4: entries that found their record full ----

template <class Word>
__device__ __forceinline__ void add_spilled(const Word* __restrict__ grad_out, const int* __restrict__ indptr,
                                            const int2* __restrict__ pairs, Word* __restrict__ grad_x, long long total,
                                            long long row_words) {
  const int lane = threadIdx.x & 31;
  const long long warps = gridDim.x * 8ll;
  for (long long j = (blockIdx.x * 256ll + threadIdx.x) >> 5; j < total; j += warps) {
    const int2 pair = pairs[j];
    const int* const bounds = indptr + pair.y;
    const float scale = 1.0f / static_cast<float>(__ldg(bounds + 1) - __ldg(bounds));
    const Word* const from = grad_out + static_cast<long long>(pair.y) * row_words;
    Word* const to = grad_x + static_cast<long long>(pair.x) * row_words;
    for (long long w = lane; w < row_words; w += 32) add_atomically(to + w, scaled(__ldg(from + w), scale));
  }
}

extern "C" __global__ void __launch_bounds__(256)
    spilled(const float* grad_out, const int* indptr, const int* indices, float* grad_x, long long rows,
            long long sources, long long edges, long long width, float* records, float* spill) {
  const long long total = reinterpret_cast<const int*>(records)[8 * sources];
  if (total == 0) return;
  const int2* const pairs = reinterpret_cast<const int2*>(spill);
  if (width % 4 == 0)
    add_spilled<float4>(reinterpret_cast<const float4*>(grad_out), indptr, pairs, reinterpret_cast<float4*>(grad_x),
                        total, width / 4);
  else
    add_spilled<float>(grad_out, indptr, pairs, grad_x, total, width);
}
