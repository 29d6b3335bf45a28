// models/products/tf32x3_kernel.cuh - a product of f32 matrices by tensor cores: each factor is the sum of two tf32
// numbers, high and low, and the product is high * high + high * low + low * high. See split_product.h.
//
// Work split  a block per tile of 128 x 128, or 128 x 64, of the result, and per part of the sum; a warp has 64 x 32 of
//             it.
// Access      tiles of the factors of 128 x 32 go to shared memory as they are, three of them ahead of the one that is
//             multiplied, 16 bytes a copy. Rows in shared memory are padded so that a warp's reads of a fragment are
//             in 32 banks, whichever of its dimensions is contiguous.
// Precision   a fragment is split in registers, so that memory sees f32 alone. Less than 5 * 2^-22 of a term is lost,
//             low * low and the last bits of low. Tensor cores cut their sums off instead of rounding them: they add up
//             32 terms, and f32 additions the rest.
// Limit       the tensor cores: a warp has 48 of their instructions for 24 words of shared memory, 72 that split them,
//             and 16 additions.
// Sync        a barrier per 32 terms of the sum.
#pragma once

#include <cstdint>

#include "models/products/mma_tf32.cuh"
#include "models/products/split_problem.h"

namespace salient::tf32x3 {

using split::Matrix;
using split::Order;
using split::Problem;

constexpr int kTile = split::kTile, kDepth = 32, kStages = 4;

/// A warp for every 64 x 32 of a tile with so many columns.
template <int kColumns>
constexpr int kThreadsFor = kTile / 64 * (kColumns / 32) * 32;
constexpr int kThreads = kThreadsFor<kTile>;

/// A factor's part of `kCount` rows or columns and `kDepth` terms, in shared memory.
template <Order kOrder, int kCount = kTile, int kThreadsOf = kThreads>
struct Tile {
  static constexpr int kStride = kOrder == Order::kAlongSum ? kDepth + 4 : kCount + 8;
  static constexpr int kFloats = kStride * (kOrder == Order::kAlongSum ? kCount : kDepth);

  __host__ __device__ static constexpr int at(int i, int term) {
    return kOrder == Order::kAlongSum ? i * kStride + term : term * kStride + i;
  }

  /// Starts the copy of what begins at `first` and `term`. Zeros outside of the matrix, and from `last_term` on.
  __device__ static void start(float* to, const Matrix& factor, std::int64_t first, std::int64_t term,
                               std::int64_t last_term) {
    constexpr int kPieces = (kOrder == Order::kAlongSum ? kDepth : kCount) / 4;  // of a row
#pragma unroll
    for (int n = 0; n < kCount * kDepth / 4 / kThreadsOf; ++n) {
      const int piece = static_cast<int>(threadIdx.x) + n * kThreadsOf;
      const int row = piece / kPieces, column = piece % kPieces * 4;
      const int i = kOrder == Order::kAlongSum ? row : column, k = kOrder == Order::kAlongSum ? column : row;
      const bool is_inside = first + i < factor.count && term + k < last_term;
      const std::int64_t from =
          kOrder == Order::kAlongSum ? (first + i) * factor.stride + term + k : (term + k) * factor.stride + first + i;
      start_copy(to + row * kStride + column, factor.data + (is_inside ? from : 0), is_inside ? 16 : 0);
    }
  }
};

/// A number as the sum of two of tf32, which has 10 bits of mantissa, as the bits of floats.
struct Split {
  std::uint32_t high, low;

  /// High is rounded, so that low has either sign; the product cuts low off. Written as cvt.rna but for infinity, which
  /// costs three instructions more: what is infinite, or no number, has a low part that is no number.
  __device__ static Split of(float value) {
    constexpr std::uint32_t kHalfUnit = 0x1000, kTf32 = ~0x1FFFU;
    const std::uint32_t high = (__float_as_uint(value) + kHalfUnit) & kTf32;
    return {high, __float_as_uint(value - __uint_as_float(high))};
  }
};

/// Where a warp's part of a block's tile begins, and a lane's place in a fragment.
struct WarpPlace {
  int row, column, g, q;

  __device__ static WarpPlace of(int thread) {
    const int warp = thread / 32, lane = thread % 32;
    return {warp % 2 * 64, warp / 2 * 32, lane / 4, lane % 4};
  }
};

/// A warp's 64 x 32 of the result: fragments of 16 x 8.
using WarpSums = float[4][4][4];

/// sums += the product of two tiles.
/// @tparam kIsSplit  without it the high numbers alone are multiplied: a product of tf32
template <class A, class B, bool kIsSplit>
__device__ __forceinline__ void multiply(const float* a, const float* b, const WarpPlace& place, WarpSums& sums) {
  WarpSums inner = {};
#pragma unroll
  for (int term = 0; term < kDepth; term += 8) {
    std::uint32_t a_high[4][4], a_low[4][4], b_high[4][2], b_low[4][2];
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const Split value = Split::of(b[B::at(place.column + j * 8 + place.g, term + place.q + e * 4)]);
        b_high[j][e] = value.high, b_low[j][e] = value.low;
      }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = place.row + i * 16 + place.g + e % 2 * 8;
        const Split value = Split::of(a[A::at(row, term + place.q + e / 2 * 4)]);
        a_high[i][e] = value.high, a_low[i][e] = value.low;
      }
    if constexpr (kIsSplit) {  // the small products first; neighbouring instructions have different sums
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) add_product(inner[i][j], a_low[i], b_high[j]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) add_product(inner[i][j], a_high[i], b_low[j]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) add_product(inner[i][j], a_high[i], b_high[j]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][j][e] += inner[i][j][e];
}

/// Where the products of a block go.
struct Result {
  float* data;
  std::int64_t stride;  ///< elements from one row to the next; even
  bool has_relu;
};

/// @param row, column  of the result, where the block's tile begins
__device__ __forceinline__ void store(const Problem& p, const Result& out, std::int64_t row, std::int64_t column,
                                      const WarpPlace& place, const WarpSums& sums) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t r = row + place.row + i * 16 + half * 8 + place.g;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::int64_t c = column + place.column + j * 8 + 2 * place.q;
        if (r >= p.a.count || c >= p.b.count) continue;
        float2 two = make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
        // written so that a value that is not a number stays one
        if (out.has_relu) two.x = two.x < 0 ? 0.0f : two.x, two.y = two.y < 0 ? 0.0f : two.y;
        *reinterpret_cast<float2*>(out.data + r * out.stride + c) = two;
      }
    }
}

template <Order kA, Order kB, int kColumns = kTile>
constexpr int kStageFloats = Tile<kA>::kFloats + Tile<kB, kColumns>::kFloats;

/// A block's tile of the product, from `row` and `column` on, over the terms [first_term, last_term).
template <Order kA, Order kB, int kColumns, bool kIsSplit>
__device__ __forceinline__ void multiply_tile(const Problem& p, const Result& out, std::int64_t row,
                                              std::int64_t column, std::int64_t first_term, std::int64_t last_term) {
  extern __shared__ __align__(16) float shared_tiles[];
  using A = Tile<kA, kTile, kThreadsFor<kColumns>>;
  using B = Tile<kB, kColumns, kThreadsFor<kColumns>>;
  constexpr int kStage = A::kFloats + B::kFloats;
  const int steps = static_cast<int>((last_term - first_term + kDepth - 1) / kDepth);
  const auto start = [&](int step) {
    if (step < steps) {
      float* const to = shared_tiles + step % kStages * kStage;
      const std::int64_t term = first_term + std::int64_t{step} * kDepth;
      A::start(to, p.a, row, term, last_term);
      B::start(to + A::kFloats, p.b, column, term, last_term);
    }
    close_copy_group();  // an empty one, too, so that the count of groups is that of steps
  };
  for (int step = 0; step < kStages - 1; ++step) start(step);
  const WarpPlace place = WarpPlace::of(static_cast<int>(threadIdx.x));
  WarpSums sums = {};
  for (int step = 0; step < steps; ++step) {
    wait_for_copies<kStages - 2>();
    __syncthreads();  // the tiles of this step are there, and all are done with those of the step before
    start(step + kStages - 1);
    const float* const tiles = shared_tiles + step % kStages * kStage;
    multiply<A, B, kIsSplit>(tiles, tiles + A::kFloats, place, sums);
  }
  wait_for_copies<0>();
  store(p, out, row, column, place, sums);
}

template <Order kA, Order kB>
__global__ void __launch_bounds__(kThreads, 1) product_kernel(Problem p) {
  const std::int64_t tiles_across = (p.b.count + kTile - 1) / kTile;
  const std::int64_t first_term = std::int64_t{blockIdx.y} * p.part_depth;
  const std::int64_t last_term = first_term + p.part_depth < p.depth ? first_term + p.part_depth : p.depth;
  multiply_tile<kA, kB, kTile, true>(
      p, {p.out + std::int64_t{blockIdx.y} * p.a.count * p.b.count, p.b.count, p.has_relu},
      blockIdx.x / tiles_across * kTile, blockIdx.x % tiles_across * kTile, first_term, last_term);
}

}  // namespace salient::tf32x3
