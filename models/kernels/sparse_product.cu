// models/kernels/sparse_product.cu - products of sparse rows on the device.
//
// Work split  a warp per row and 32 neighbouring words (16 bytes where the width allows) of its result; in the backward
//             pass, whose columns may be long, a block of eight warps, each for a contiguous share of the column, whose
//             sums are added in order in shared memory.
// Access      a warp reads 512 neighbouring bytes of a row of the matrix; kInFlight rows are requested before the first
//             is added. The matrix, some MB, comes from the L2 cache.
// Limit       4 * width bytes read from the L2 cache per value.
// Sync        the block's, between the shares and their sum; no atomics, so the same bits each time.
#include "core/cuda/cuda.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/sparse_product.h"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kInFlight = 4, kWarp = 32, kWarps = kThreadsPerBlock / kWarp;

__device__ float as_float(float x) { return x; }
__device__ float as_float(Half x) { return __half2float(__ushort_as_half(x.bits)); }

/// The terms of one result, of which number t is value value_of[t], or t, times row row_of[t] of the matrix.
template <class T, class Word>
struct Terms {
  const LocalId* row_of;
  const LocalId* value_of;  ///< null: t itself
  const T* values;
  const Word* matrix;
  std::int64_t row_words;

  __device__ Word sum(LocalId first, LocalId last, std::int64_t word) const {
    Word total{};
    for (LocalId t = first; t < last; t += kInFlight) {
      Word words[kInFlight];
      float factors[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k)
        if (t + k < last) {
          words[k] = __ldg(matrix + std::int64_t{__ldg(row_of + t + k)} * row_words + word);
          factors[k] = as_float(values[value_of == nullptr ? t + k : __ldg(value_of + t + k)]);
        }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k)
        if (t + k < last) total = multiply_add(factors[k], words[k], total);
    }
    return total;
  }
};

template <class T, class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    sparse_product_kernel(const LocalId* __restrict__ begin, std::int64_t num_rows, Terms<T, Word> terms,
                          Word* __restrict__ out) {
  const std::int64_t tiles = (terms.row_words + kWarp - 1) / kWarp;
  const std::int64_t stride = std::int64_t{gridDim.x} * kWarps;
  for (std::int64_t w = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp; w < num_rows * tiles; w += stride) {
    const std::int64_t row = w / tiles, word = w % tiles * kWarp + threadIdx.x % kWarp;
    if (word < terms.row_words)
      out[row * terms.row_words + word] = terms.sum(__ldg(begin + row), __ldg(begin + row + 1), word);
  }
}

/// The first t in [first, last) whose row is at least `num_rows`.
__device__ LocalId end_of(const LocalId* row_of, LocalId first, LocalId last, std::int64_t num_rows) {
  while (first < last) {
    const LocalId middle = first + (last - first) / 2;
    if (__ldg(row_of + middle) < num_rows)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

template <class T, class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    sparse_product_backward_kernel(const LocalId* __restrict__ begin, std::int64_t num_columns, std::int64_t num_rows,
                                   Terms<T, Word> terms, Word* __restrict__ out) {
  __shared__ Word shares[kWarps][kWarp];
  const std::int64_t tiles = (terms.row_words + kWarp - 1) / kWarp;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  for (std::int64_t b = blockIdx.x; b < num_columns * tiles; b += gridDim.x) {
    const std::int64_t column = b / tiles, word = b % tiles * kWarp + lane;
    const LocalId first = __ldg(begin + column);
    const LocalId count = end_of(terms.row_of, first, __ldg(begin + column + 1), num_rows) - first;
    const LocalId share = (count + kWarps - 1) / kWarps;
    const LocalId from = first + min(count, warp * share), to = first + min(count, (warp + 1) * share);
    shares[warp][lane] = word < terms.row_words ? terms.sum(from, to, word) : Word{};
    __syncthreads();
    if (warp == 0 && word < terms.row_words) {
      Word total = shares[0][lane];
#pragma unroll
      for (int s = 1; s < kWarps; ++s) total = sum_of(total, shares[s][lane]);
      out[column * terms.row_words + word] = total;
    }
    __syncthreads();
  }
}

// ---- host code: pick a word, size the grid, launch, check ------------------------------------------------

unsigned blocks_of(std::int64_t blocks) { return static_cast<unsigned>(std::min(kMaxBlocks, blocks)); }

/// @param run  run(a word, words of a row)
template <class Run>
void with_words(const float* matrix, const float* out, std::int64_t width, Run run) {
  is_packable<float, 4>(matrix, width) && is_packable<float, 4>(out, width) ? run(float4{}, width / 4)
                                                                            : run(float{}, width);
}

}  // namespace

template <class T>
void sparse_product(const SparseRowsOf<T>& x, const float* matrix, std::int64_t width, float* out,
                    cudaStream_t stream) {
  if (x.num_rows == 0 || width == 0) return;
  with_words(matrix, out, width, [&](auto word, std::int64_t row_words) {
    using Word = decltype(word);
    const Terms<T, Word> terms{x.columns, nullptr, x.values, as_words<Word>(matrix), row_words};
    const std::int64_t warps = x.num_rows * ((row_words + kWarp - 1) / kWarp);
    sparse_product_kernel<T, Word><<<blocks_of((warps + kWarps - 1) / kWarps), kThreadsPerBlock, 0, stream>>>(
        x.begin, x.num_rows, terms, as_words<Word>(out));
    cuda_check(cudaGetLastError());
  });
}

template <class T>
void sparse_product_backward(const SparseRowsOf<T>& x, const SourceEdges& by_column, const float* grad,
                             std::int64_t width, float* out, cudaStream_t stream) {
  if (x.num_columns == 0 || width == 0) return;
  with_words(grad, out, width, [&](auto word, std::int64_t row_words) {
    using Word = decltype(word);
    const Terms<T, Word> terms{by_column.destination, by_column.edge, x.values, as_words<Word>(grad), row_words};
    const std::int64_t blocks = x.num_columns * ((row_words + kWarp - 1) / kWarp);
    sparse_product_backward_kernel<T, Word><<<blocks_of(blocks), kThreadsPerBlock, 0, stream>>>(
        by_column.indptr, x.num_columns, x.num_rows, terms, as_words<Word>(out));
    cuda_check(cudaGetLastError());
  });
}

template void sparse_product<float>(const SparseRowsOf<float>&, const float*, std::int64_t, float*, cudaStream_t);
template void sparse_product<Half>(const SparseRowsOf<Half>&, const float*, std::int64_t, float*, cudaStream_t);
template void sparse_product_backward<float>(const SparseRowsOf<float>&, const SourceEdges&, const float*, std::int64_t,
                                             float*, cudaStream_t);
template void sparse_product_backward<Half>(const SparseRowsOf<Half>&, const SourceEdges&, const float*, std::int64_t,
                                            float*, cudaStream_t);

}  // namespace salient
