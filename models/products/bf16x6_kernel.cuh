// models/products/bf16x6_kernel.cuh - a product of f32 matrices by Hopper's tensor cores: each factor is the sum of
// three bf16 numbers, high, middle and low, and the product is the sum of the six products that matter.
//
// Work split  blocks stride over tiles of 128 x 128 of the result, and over parts of the sum. A warpgroup splits B, two
//             have 64 rows of the result each.
// Access      B: 16 bytes a read, split in registers, into a ring of tiles of 64 terms in shared memory. A: from memory
//             to the registers of the warp that multiplies it, a step of 64 terms ahead.
// Precision   three times 8 bits are f32's 24. Products below 2^-26 of a term are left out. Tensor cores cut their sums
//             off instead of rounding them: they add up 32 terms, small products first, and f32 additions the rest.
// Limit       the tensor cores, six products of bf16 for one of f32.
// Sync        barriers in shared memory between the warpgroups. While one of the two splits its factor or adds up, the
//             other one multiplies.
//
// Each 16 terms are multiplied in another order, so that four neighbours of A, which one read brings, are a lane's:
// terms 4q to 4q + 3 are where a fragment has its columns 2q, 2q + 1, 2q + 8, 2q + 9.
#pragma once

#include "models/products/split_problem.h"
#include "models/products/wgmma.cuh"

namespace salient::bf16x6 {

using split::Order;
using split::Problem;

constexpr int kTile = split::kTile, kDepth = split::kDepthUnit;  // of a tile of B
constexpr int kStages = 4, kThreads = 384, kMultiplying = 256;
constexpr int kPartBytes = kTile * kDepth * 2, kStageBytes = 3 * kPartBytes;
constexpr int kSharedBytes = kStages * kStageBytes + 1024;  // to be aligned

/// Two f32 numbers as the sum of three pairs of bf16 numbers.
struct Parts {
  std::uint32_t high, middle, low;

  __device__ static Parts of(float x, float y) {
    Parts parts{};
    parts.high = take(x, y);
    parts.middle = take(x, y);
    parts.low = pair_of(x, y);
    return parts;
  }

 private:
  /// The numbers, rounded; leaves what is lost.
  __device__ static std::uint32_t take(float& x, float& y) {
    const std::uint32_t pair = pair_of(x, y);
    x -= __uint_as_float(pair << 16), y -= __uint_as_float(pair & 0xFFFF0000U);
    return pair;
  }
};

/// A tile of the result, and the part of the sum that is added up for it.
struct Tile {
  int row, column, term, last_term, part;

  /// @param item  number of the tile; those of a part follow each other
  __device__ static Tile of(const Problem& p, int item) {
    const int across = tiles_of(p.b.count), tiles = tiles_of(p.a.count) * across;
    const int part = item / tiles, tile = item % tiles, depth = static_cast<int>(p.depth);
    const int term = part * static_cast<int>(p.part_depth), last = term + static_cast<int>(p.part_depth);
    return {tile / across * kTile, tile % across * kTile, term, last < depth ? last : depth, part};
  }
  __device__ static int count(const Problem& p) {
    return tiles_of(p.a.count) * tiles_of(p.b.count) * static_cast<int>(p.num_parts);
  }
  __device__ static int tiles_of(std::int64_t count) { return (static_cast<int>(count) + kTile - 1) / kTile; }
  __device__ int steps() const { return (last_term - term + kDepth - 1) / kDepth; }
};

/// The steps of a block's tiles, one after the other.
struct Cursor {
  int item;
  Tile tile;
  int term;  ///< the step's first

  __device__ static Cursor begin(const Problem& p) {
    const int item = static_cast<int>(blockIdx.x);  // there are no more blocks than items
    const Tile tile = Tile::of(p, item);
    return {item, tile, tile.term};
  }
  /// Behind the last step all terms are outside.
  __device__ void advance(const Problem& p) {
    term += kDepth;
    if (term < tile.last_term) return;
    item += static_cast<int>(gridDim.x);
    if (item >= Tile::count(p)) return;
    tile = Tile::of(p, item);
    term = tile.term;
  }
};

using Barriers = RingBarriers<kStages>;

/// Where term t of 16 is multiplied.
__device__ constexpr int place_of(int t) { return t / 4 * 2 + t % 2 + t / 2 % 2 * 8; }

/// A thread of the warpgroup that splits B. It has 8 pieces of four neighbours in memory of each half of a step.
template <Order kOrder>
struct Splitter {
  static constexpr bool kIsAlong = kOrder == Order::kAlongSum;

  const Problem& p;
  char* shared;
  int column, term;  ///< of the tile and the step: the first piece's

  /// Along the sum a warp reads rows whose pieces of 16 bytes go to different banks.
  __device__ static Splitter of(const Problem& p, char* shared, int warp, int lane) {
    return kIsAlong ? Splitter{p, shared, warp * 32 + lane / 16 * 4 + lane / 8 % 2, lane % 8 * 4}
                    : Splitter{p, shared, lane * 4, warp * 8};
  }
  /// Columns, or terms, from the first piece to another one.
  __device__ static constexpr int distance_of(int piece) { return kIsAlong ? piece / 2 * 8 + piece % 2 * 2 : piece; }

  __device__ __forceinline__ void load(const Cursor& at, int half, int piece, float (&values)[4]) const {
    const int c = at.tile.column + column + (kIsAlong ? distance_of(piece) : 0);
    const int t = at.term + half * 32 + term + (kIsAlong ? 0 : distance_of(piece));
    load_four(values, p.b.data + (kIsAlong ? c * p.b.stride + t : t * p.b.stride + c),
              c < p.b.count && t < at.tile.last_term);
  }

  /// Rows of 128 bytes in which pieces of 16 bytes are exchanged, see wgmma.cuh.
  __device__ __forceinline__ void store(int stage, int half, int piece, const float (&values)[4]) const {
    const Parts first = Parts::of(values[0], values[1]), second = Parts::of(values[2], values[3]);
    char* const to = shared + stage * kStageBytes;
    if constexpr (kIsAlong) {
      const int begin = column * 128 + (term / 16 * 2 ^ column % 8) * 16 + term % 16;  // of the first piece
      const int exchanged = begin ^ half * 64 ^ piece % 2 * 32;
      store_pairs(to + exchanged + distance_of(piece) * 128, first);
      store_pairs(to + (exchanged ^ 16) + distance_of(piece) * 128, second);
    } else {
      const int t = term + piece, row = half * 32 + t / 16 * 16 + place_of(t % 16);
      const auto at = reinterpret_cast<uint2*>(to + column / 64 * (kPartBytes / 2) + row * 128 +
                                               (column % 64 / 8 ^ row % 8) * 16 + column % 8 * 2);
      at[0] = make_uint2(first.high, second.high);
      at[kPartBytes / 8] = make_uint2(first.middle, second.middle);
      at[2 * kPartBytes / 8] = make_uint2(first.low, second.low);
    }
  }
  __device__ __forceinline__ static void store_pairs(char* to, const Parts& parts) {
    const auto at = reinterpret_cast<std::uint32_t*>(to);
    at[0] = parts.high, at[kPartBytes / 4] = parts.middle, at[2 * kPartBytes / 4] = parts.low;
  }

  /// The reads of a half are on their way while the half before is split.
  __device__ void run(const Barriers& barriers) const {
    Cursor next = Cursor::begin(p);
    float values[8][4];
#pragma unroll
    for (int i = 0; i < 8; ++i) load(next, 0, i, values[i]);
    const int count = Tile::count(p);
    int turn = 0;
    for (int item = static_cast<int>(blockIdx.x); item < count; item += static_cast<int>(gridDim.x))
      for (int left = Tile::of(p, item).steps(); left > 0; --left, ++turn) {
        const int stage = turn % kStages;
        if (turn >= kStages) barriers.empty(stage).wait(static_cast<std::uint32_t>(turn / kStages - 1));
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          if (half == 1) next.advance(p);
#pragma unroll
          for (int i = 0; i < 8; ++i) {
            pin(values[i]);  // not split before there is room
            store(stage, half, i, values[i]);
            load(next, 1 - half, i, values[i]);
          }
        }
        publish_to_async();
        barriers.full(stage).arrive();
      }
  }
};

/// A thread of a warpgroup that multiplies.
template <Order kA, Order kB>
struct Multiplier {
  const Problem& p;
  std::uint32_t shared;
  int first_row, lane;  ///< of the tile: the warp's first row

  /// The second one of a lane's two rows is this much behind the first one.
  static constexpr int kNextRow = kA == Order::kAlongSum ? 8 : 1;
  __device__ int row() const { return first_row + (kA == Order::kAlongSum ? lane / 4 : lane / 4 * 2); }

  /// What a lane has of 32 terms of A: of each 16 four neighbouring terms of two rows.
  using Values = float[2][2][4];

  __device__ __forceinline__ void load(const Cursor& at, int half, Values& values) const {
    const int first = at.tile.row + row();
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const int term = at.term + half * 32 + s * 16 + lane % 4 * 4;
      if constexpr (kA == Order::kAlongSum) {
#pragma unroll
        for (int e = 0; e < 2; ++e)
          load_four(values[s][e], p.a.data + (first + e * kNextRow) * p.a.stride + term,
                    first + e * kNextRow < p.a.count && term < at.tile.last_term);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          load_two(values[s][0][j], values[s][1][j], p.a.data + (term + j) * p.a.stride + first,
                   first < p.a.count && term + j < at.tile.last_term);
      }
    }
  }

  using Factors = Fragment[3][2];  // high, middle and low of 16 terms each

  __device__ __forceinline__ static void split_values(const Values& values, Factors& factors) {
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int e = 0; e < 2; ++e)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const Parts parts = Parts::of(values[s][e][2 * i], values[s][e][2 * i + 1]);
          factors[0][s][2 * i + e] = parts.high;
          factors[1][s][2 * i + e] = parts.middle;
          factors[2][s][2 * i + e] = parts.low;
        }
  }

  /// sums += the product of 32 terms.
  __device__ __forceinline__ void add_half(int stage, int half, const Factors& a, float (&sums)[64]) const {
    constexpr int kPairs[6][2] = {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};  // the small ones first
    constexpr bool kIsAlong = kB == Order::kAlongSum;
    const auto b = salient::Factor::at(shared + static_cast<std::uint32_t>(stage * kStageBytes), kPartBytes / 2);
    float inner[64];
    pin(inner);
    products_begin();
#pragma unroll
    for (int i = 0; i < 6; ++i)
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        const int offset = kPairs[i][1] * kPartBytes + (half * 2 + s) * (kIsAlong ? 32 : 2048);
        product<kIsAlong ? Rows::kAlongK : Rows::kAcrossK>(inner, a[kPairs[i][0]][s],
                                                           b.plus(static_cast<std::uint32_t>(offset)), i + s > 0);
      }
    products_commit();
    products_wait<0>();
    pin(inner);
#pragma unroll
    for (int i = 0; i < 64; ++i) sums[i] += inner[i];
  }

  __device__ __forceinline__ void store(const Tile& tile, const float (&sums)[64]) const {
    float* const out = p.out + tile.part * (p.a.count * p.b.count);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int r = tile.row + row() + e * kNextRow;
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        const int c = tile.column + j * 8 + lane % 4 * 2;
        if (r >= p.a.count || c >= p.b.count) continue;
        float2 two = make_float2(sums[j * 4 + 2 * e], sums[j * 4 + 2 * e + 1]);
        // written so that a value that is not a number stays one
        if (p.has_relu) two.x = two.x < 0 ? 0.0f : two.x, two.y = two.y < 0 ? 0.0f : two.y;
        *reinterpret_cast<float2*>(out + r * p.b.count + c) = two;
      }
    }
  }

  __device__ void run(const Barriers& barriers) const {
    Cursor next = Cursor::begin(p);
    Values values[2];
    load(next, 0, values[0]);
    load(next, 1, values[1]);
    const int count = Tile::count(p);
    int turn = 0;
    for (int item = static_cast<int>(blockIdx.x); item < count; item += static_cast<int>(gridDim.x)) {
      const Tile tile = Tile::of(p, item);
      float sums[64] = {};
      for (int left = tile.steps(); left > 0; --left, ++turn) {
        const int stage = turn % kStages;
        next.advance(p);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          Factors factors;
          split_values(values[half], factors);
          load(next, half, values[half]);
          if (half == 0) barriers.full(stage).wait(static_cast<std::uint32_t>(turn / kStages));
          add_half(stage, half, factors, sums);
        }
        if (lane == 0) barriers.empty(stage).arrive();
      }
      store(tile, sums);
    }
  }
};

template <Order kA, Order kB>
__global__ void __launch_bounds__(kThreads, 1) product_kernel(const __grid_constant__ Problem p) {
  extern __shared__ char raw[];
  __shared__ std::uint64_t barrier_words[Barriers::kCount];
  char* const shared = raw + (-shared_address(raw) & 1023);
  const Barriers barriers{shared_address(barrier_words)};
  if (threadIdx.x == 0) barriers.init(kThreads - kMultiplying, kMultiplying / 32);
  __syncthreads();
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32), lane = static_cast<int>(threadIdx.x) & 31;
  constexpr int kRegisters = kB == Order::kAlongSum ? 200 : 208;
  if (warp < kMultiplying / 32) {  // all have 384 * 168
    take_registers<kRegisters>();
    Multiplier<kA, kB>{p, shared_address(shared), warp * 16, lane}.run(barriers);
  } else {
    keep_registers<3 * 168 - 2 * kRegisters>();
    Splitter<kB>::of(p, shared, warp - kMultiplying / 32, lane).run(barriers);
  }
}

}  // namespace salient::bf16x6
