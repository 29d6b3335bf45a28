// models/resident/fused_backward.cu - see fused_kernels.h: the gradient of the first layer's weight; the gradient of
// the layer's result is never in memory.
//
// Work split  a pair of blocks strides over tiles, a half of the operand's columns each. A warp copies the tile's rows
//             of the operand and its parents' gradients, three write its pooling matrix, two warpgroups have 128
//             features each and keep their part of the weight's gradient in registers.
// Access      operand rows by the copy engine; parents' gradients row by row, a row 16 bytes longer than 1024, so that
//             the lanes of a warp meet no bank twice.
// Limit       tensor cores, a fifth of them for rows that spread gradients and slots without a node.
// Sync        barriers in shared memory between the warps of a block.
//
// The parents' gradients, times one over the number of children, times the pooling matrix give each slot its gradient:
// in accumulators, which are rounded, masked by the bits of ReLU and dropout, and are then the first factor of the next
// product.
#include "core/cuda/cuda.h"
#include "models/products/wgmma.cuh"
#include "models/resident/fused_kernels.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kThreads = kFusedThreads + 128, kPoolWarps = 3, kStages = 3, kColumns = kMaxFusedInput / 2;  // of a block
constexpr int kChunkBytes = kSlots * 128, kPoolAt = 2 * kChunkBytes, kRowsAt = kPoolAt + kPoolBytes;
constexpr int kRowBytes = 2 * kFusedWidth * 2, kRowStride = kRowBytes + 16;
constexpr int kSharesAt = kRowsAt + kOwnSlots * kRowStride;
constexpr int kStageBytes = (kSharesAt + kOwnSlots * 4 + 1023) / 1024 * 1024;
constexpr int kSharedBytes = kStages * kStageBytes + 1024;  // to be aligned

struct Backward {
  FusedTiles tiles;
  const Bf16* gradient;
  float* partials;
  int in;
  float scale;
  int pairs;
};

using Barriers = RingBarriers<kStages>;

/// The copying warp. Knows the next tile before it waits.
__device__ void copy_tiles(const Backward& p, const CUtensorMap& own_rows, const CUtensorMap& child_rows, char* shared,
                           const Barriers& barriers) {
  const int num_nodes = *p.tiles.num_nodes, num_tiles = Tile::count(p.tiles, num_nodes);
  const int lane = static_cast<int>(threadIdx.x) & 31, first_column = static_cast<int>(blockIdx.x) % 2 * kColumns;
  const auto tile_of = [&](int t) { return t < num_tiles ? Tile::of(p.tiles, t, num_nodes) : Tile{}; };
  Tile next = tile_of(static_cast<int>(blockIdx.x) / 2);
  int turn = 0;
  for (int t = static_cast<int>(blockIdx.x) / 2; t < num_tiles; t += p.pairs, ++turn) {
    const Tile tile = next;
    next = tile_of(t + p.pairs);
    const int stage = turn % kStages;
    if (turn >= kStages) barriers.empty(stage).wait(static_cast<std::uint32_t>(turn / kStages - 1));
    char* const to = shared + stage * kStageBytes;
    const Barrier full = barriers.full(stage);
    if (lane == 0) {
      full.arrive_and_expect(static_cast<std::uint32_t>(2 * kChunkBytes + tile.num_parents * kRowBytes));
      for (int c = 0; c < 2; ++c) {
        const std::uint32_t chunk = shared_address(to) + static_cast<std::uint32_t>(c * kChunkBytes);
        copy_box(chunk, own_rows, first_column + c * 64, tile.first_parent, full);
        copy_box(chunk + kOwnSlots * 128, child_rows, first_column + c * 64, num_nodes + tile.first_child, full);
      }
    }
    __syncwarp();
    if (lane < tile.num_parents)
      copy_bytes(shared_address(to) + static_cast<std::uint32_t>(kRowsAt + lane * kRowStride),
                 p.gradient + std::int64_t{tile.first_parent + lane} * 2 * kFusedWidth, kRowBytes, full);
  }
}

/// The warps of the pooling matrices, and of what the parents' gradients are multiplied with.
/// @param warp  number of kPoolWarps
__device__ void write_pools(const Backward& p, char* shared, const Barriers& barriers, int warp) {
  const int num_nodes = *p.tiles.num_nodes, num_tiles = Tile::count(p.tiles, num_nodes);
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const auto children_of = [&](int t) {
    return t < num_tiles ? ChildSlots::of(p.tiles, Tile::of(p.tiles, t, num_nodes), lane % 16) : ChildSlots{};
  };
  ChildSlots next = children_of(static_cast<int>(blockIdx.x) / 2);
  int turn = 0;
  for (int t = static_cast<int>(blockIdx.x) / 2; t < num_tiles; t += p.pairs, ++turn) {
    const ChildSlots children = next;
    next = children_of(t + p.pairs);
    const float share = children.count() == 0 ? 0.0f : p.scale / static_cast<float>(children.count());
    const int stage = turn % kStages;
    if (turn >= kStages) barriers.empty(stage).wait(static_cast<std::uint32_t>(turn / kStages - 1));
    char* const to = shared + stage * kStageBytes;
    write_pool(children, to + kPoolAt, warp, kPoolWarps);
    if (warp == kPoolWarps - 1 && lane < kOwnSlots) reinterpret_cast<float*>(to + kSharesAt)[lane] = share;
    publish_to_async();
    barriers.full(stage).arrive();
  }
}

/// What a thread keeps in registers from tile to tile.
struct Work {
  float sums[2][64] = {}, spread[32];
  Fragment rows[2], gradient[2][4];
};

/// One of the two warpgroups: its place, and what it works on.
struct Consumer {
  const Backward& p;
  const Barriers& barriers;
  const char* shared;
  int lane, feature;  ///< its first of two; those of the second block are 64 behind

  /// Gradients of 2 features at the 16 parents' rows, and at the parents' own slots, as factors of the pooling matrix.
  __device__ __forceinline__ void load_rows(const char* stage, int block, Fragment (&rows)[2]) const {
    const int q = lane % 4;
    const float* const shares = reinterpret_cast<const float*>(stage + kSharesAt);
#pragma unroll
    for (int part = 0; part < 2; ++part)
#pragma unroll
      for (int eight = 0; eight < 2; ++eight) {
        float values[2][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int c = eight * 8 + q * 2 + i;
          const auto word = *reinterpret_cast<const __nv_bfloat162*>(stage + kRowsAt + c * kRowStride +
                                                                     (part * kFusedWidth + feature + block * 64) * 2);
          const float share = part == 0 ? shares[c] : p.scale;
          const float2 two = __bfloat1622float2(word);
          values[0][i] = two.x * share, values[1][i] = two.y * share;
        }
#pragma unroll
        for (int f = 0; f < 2; ++f) rows[part][eight * 2 + f] = pair_of(values[f][0], values[f][1]);
      }
  }

  /// spread = the gradients of one half of the slots. The parents' own slots are in the first half.
  template <int kHalf>
  __device__ __forceinline__ void start_spread(const char* stage, Work& work) const {
    const Factor pool = Factor::at(shared_address(stage) + kPoolAt, kPoolHalfBytes);
    products_begin();
    product<Rows::kAcrossK>(work.spread, work.rows[0], pool.plus(kHalf * kPoolHalfBytes), false);
    if (kHalf == 0) product<Rows::kAcrossK>(work.spread, work.rows[1], pool.plus(kOwnSlots * 128), true);
    products_commit();
  }

  /// sums += the gradient of the layer's result, times the operand. In four pieces, a block of features and half of the
  /// slots each: while one is multiplied, the next is spread and rounded. The first piece of a tile is spread beside
  /// the last one of the tile before.
  /// @param start_next    starts the first spread of the next tile
  /// @param release_last  of the tile before
  template <class StartNext, class ReleaseLast>
  __device__ __forceinline__ void add_tile(const char* stage, const std::uint32_t (&bits)[2][2], Work& work,
                                           const StartNext& start_next, const ReleaseLast& release_last) const {
    const Factor operand = Factor::at(shared_address(stage), kChunkBytes);
#pragma unroll
    for (int piece = 0; piece < 4; ++piece) {
      const int block = piece / 2, half = piece % 2;
      pin(work.spread);
#pragma unroll
      for (int t = 0; t < 4; ++t)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          work.gradient[half][t][r] =
              pair_of(work.spread[8 * t + 2 * r], work.spread[8 * t + 2 * r + 1]) & mask_of(bits[block][half], t, r);
      if (piece == 1) load_rows(stage, 1, work.rows);
      if (piece == 3)
        start_next();
      else if (half == 0)
        start_spread<1>(stage, work);
      else
        start_spread<0>(stage, work);
      products_begin();
#pragma unroll
      for (int t = 0; t < 4; ++t)
        product<Rows::kAcrossK>(work.sums[block], work.gradient[half][t], operand.plus(half * 8192 + t * 2048));
      products_commit();
      products_wait<1>();              // all but the product
      if (piece == 0) release_last();  // its products are done
    }
  }

  /// Starts the spread of a tile's first piece.
  __device__ __forceinline__ void start_tile(const char* stage, Work& work) const {
    load_rows(stage, 0, work.rows);
    pin(work.spread);
    start_spread<0>(stage, work);
  }

  __device__ __forceinline__ void store(const float (&sums)[64], float* row) const {
    const int first_column = static_cast<int>(blockIdx.x) % 2 * kColumns + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const int column = first_column + j * 8;
      if (column >= p.in) continue;
      *reinterpret_cast<float2*>(row + column) = make_float2(sums[4 * j], sums[4 * j + 1]);
      *reinterpret_cast<float2*>(row + p.in + column) = make_float2(sums[4 * j + 2], sums[4 * j + 3]);
    }
  }

  __device__ __forceinline__ void run() const {
    const int num_tiles = Tile::count(p.tiles, *p.tiles.num_nodes), pair = static_cast<int>(blockIdx.x) / 2;
    const uint4* const bits_at = reinterpret_cast<const uint4*>(p.tiles.bits) + threadIdx.x;
    Work work;
    uint4 next = make_uint4(0, 0, 0, 0);
    if (pair < num_tiles) {
      next = bits_at[std::int64_t{pair} * kFusedThreads];
      barriers.full(0).wait(0);
    }
    start_tile(shared, work);
    products_wait<0>();
    int turn = 0;
    for (int t = pair; t < num_tiles; t += p.pairs, ++turn) {
      const std::uint32_t bits[2][2] = {{next.x, next.y}, {next.z, next.w}};
      const bool has_next = t + p.pairs < num_tiles;
      if (has_next) next = bits_at[std::int64_t{t + p.pairs} * kFusedThreads];
      const int next_turn = turn + has_next;  // of the last tile again, for nobody: no branch may be around products
      const char* const next_stage = shared + next_turn % kStages * kStageBytes;
      add_tile(
          shared + turn % kStages * kStageBytes, bits, work,
          [&] {
            barriers.full(next_turn % kStages).wait(static_cast<std::uint32_t>(next_turn / kStages));
            start_tile(next_stage, work);
          },
          [&] {
            if (turn > 0 && lane == 0) barriers.empty((turn - 1) % kStages).arrive();
          });
    }
    products_wait<0>();
    pin(work.spread);
    pin(work.sums[0]);
    pin(work.sums[1]);
#pragma unroll
    for (int block = 0; block < 2; ++block)
      store(work.sums[block], p.partials + (std::int64_t{pair} * kFusedWidth + feature + block * 64) * p.in);
  }
};

__global__ void __launch_bounds__(kThreads, 1)
    fused_backward_kernel(const Backward p, const __grid_constant__ CUtensorMap own_rows,
                          const __grid_constant__ CUtensorMap child_rows) {
  extern __shared__ char raw[];
  __shared__ std::uint64_t barrier_words[Barriers::kCount];
  char* const shared = raw + (-shared_address(raw) & 1023);
  const Barriers barriers{shared_address(barrier_words)};
  // a stage is full when its bytes are there and the lanes of the other warps have written their parts
  if (threadIdx.x == 0) barriers.init(1 + 32 * kPoolWarps, kFusedThreads / 32);
  // Rows that are never written are multiplied with zeros, so they must be numbers.
  for (int stage = 0; stage < kStages; ++stage) {
    for (int i = static_cast<int>(threadIdx.x); i < kOwnSlots * kRowStride / 16; i += kThreads)
      reinterpret_cast<uint4*>(shared + stage * kStageBytes + kRowsAt)[i] = make_uint4(0, 0, 0, 0);
    clear_pool(shared + stage * kStageBytes + kPoolAt);
  }
  publish_to_async();
  __syncthreads();
  const int warpgroup = uniform(static_cast<int>(threadIdx.x) / 128), lane = static_cast<int>(threadIdx.x) & 31;
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32 % 4);
  if (warpgroup == 2) {  // 128 * 40 + 256 * 232 = 384 * 168 registers
    keep_registers<40>();
    if (warp == 0)
      copy_tiles(p, own_rows, child_rows, shared, barriers);
    else
      write_pools(p, shared, barriers, warp - 1);
  } else {
    take_registers<232>();
    Consumer{p, barriers, shared, lane, warpgroup * 128 + warp * 16 + lane / 4 * 2}.run();
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void fused_backward(const FusedArguments& arguments, const void* gradient, int num_partials, float* partials,
                    cudaStream_t stream) {
  const Backward p{arguments.tiles, static_cast<const Bf16*>(gradient), partials, arguments.in, arguments.scale,
                   num_partials};
  cuda_check(cudaFuncSetAttribute(fused_backward_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  fused_backward_kernel<<<static_cast<unsigned>(2 * num_partials), kThreads, kSharedBytes, stream>>>(
      p, arguments.own_rows, arguments.child_rows);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
