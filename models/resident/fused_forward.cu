// models/resident/fused_forward.cu - see fused_kernels.h: product, ReLU, dropout and mean of the first layer, whose
// result is never in memory.
//
// Work split  a block per multiprocessor, which strides over tiles. A warp copies operand rows and writes pooling
//             matrices, two warpgroups compute 128 features each. They multiply in turns, so that the tensor cores have
//             work while the other one does the rest: left alone, they would do both at the same time.
// Access      operand rows by the copy engine into a ring of 16 KB chunks; the weight is in shared memory.
// Limit       tensor cores.
// Sync        barriers in shared memory between the warps of a block.
//
// The result is computed transposed, [features, slots]: then the accumulators, rounded, are already the first factor of
// the product with the pooling matrix that adds up a node's children. So means cost an eighth of the first product.
#include <algorithm>

#include "core/cuda/cuda.h"
#include "models/resident/fused_kernels.h"
#include "models/resident/wgmma.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kThreads = kFusedThreads + 128, kChunks = kMaxFusedInput / 64, kRing = 5;
constexpr int kChunkBytes = kSlots * 128, kWeightChunkBytes = kFusedWidth * 128;
constexpr int kRingAt = kChunks * kWeightChunkBytes, kPoolsAt = kRingAt + kRing * kChunkBytes;
constexpr int kSharedBytes = kPoolsAt + 2 * kPoolBytes + 1024;  // to be aligned
static_assert(kRing >= kChunks, "a warpgroup multiplies a tile before the other one has released a chunk of it");

struct Forward {
  FusedTiles tiles;
  const Bf16* weight;
  Bf16* out;
  int in;
  float scale;
};

/// Chunks of the ring that are full or empty, and pooling matrices likewise. Two tiles are under way at most. Not
/// arrays: those would be in local memory.
struct Barriers {
  static constexpr int kCount = 2 * kRing + 4;
  std::uint32_t address;

  __device__ Barrier full(int slot) const { return at(slot); }
  __device__ Barrier empty(int slot) const { return at(kRing + slot); }
  __device__ Barrier pool_full(int pool) const { return at(2 * kRing + pool); }
  __device__ Barrier pool_empty(int pool) const { return at(2 * kRing + 2 + pool); }
  __device__ Barrier at(int i) const { return {address + 8 * static_cast<std::uint32_t>(i)}; }

  /// By one thread.
  __device__ void init() const {
    constexpr std::uint32_t kWarps = kFusedThreads / 32;
    for (int i = 0; i < kRing; ++i) full(i).init(1), empty(i).init(kWarps);
    for (int i = 0; i < 2; ++i) pool_full(i).init(1), pool_empty(i).init(kWarps);
  }
};

/// Features 2g and 2g + 1 of 16 lie in rows g and g + 8, so that one thread has both.
__device__ int row_of_feature(int f) { return (f & ~15) | (f & 1) << 3 | (f & 15) >> 1; }

/// By the threads that multiply, which are the block's first.
__device__ __forceinline__ void load_weight(const Forward& p, std::uint32_t to) {
  constexpr int kPieces = kMaxFusedInput / 8;
  for (int i = static_cast<int>(threadIdx.x); i < kFusedWidth * kPieces; i += kFusedThreads) {
    const int feature = i / kPieces, piece = i % kPieces, row = row_of_feature(feature);
    const bool is_there = piece * 8 < p.in;
    copy_piece(
        to + static_cast<std::uint32_t>(piece / 8 * kWeightChunkBytes + row * 128 + ((piece & 7) ^ (row & 7)) * 16),
        p.weight + std::int64_t{feature} * p.in + (is_there ? piece * 8 : 0), is_there ? 16 : 0);
  }
  copies_wait();
  publish_to_async();
  named_barrier_sync(1, kFusedThreads);
}

/// The copying warp.
__device__ void produce(const Forward& p, const CUtensorMap& own_rows, const CUtensorMap& child_rows, char* shared,
                        const Barriers& barriers) {
  const int num_nodes = *p.tiles.num_nodes, num_tiles = Tile::count(p.tiles, num_nodes);
  const bool is_first_lane = (threadIdx.x & 31) == 0;
  int chunk = 0, turn = 0;
  for (int t = static_cast<int>(blockIdx.x); t < num_tiles; t += static_cast<int>(gridDim.x), ++turn) {
    const Tile tile = Tile::of(p.tiles, t, num_nodes);
    for (int c = 0; c < kChunks; ++c, ++chunk) {
      const int slot = chunk % kRing, use = chunk / kRing;
      if (!is_first_lane) continue;
      if (use > 0) barriers.empty(slot).wait(static_cast<std::uint32_t>(use - 1));
      const std::uint32_t to = shared_address(shared) + kRingAt + slot * kChunkBytes;
      barriers.full(slot).arrive_and_expect(kChunkBytes);
      copy_box(to, own_rows, c * 64, tile.first_parent, barriers.full(slot));
      copy_box(to + kOwnSlots * 128, child_rows, c * 64, num_nodes + tile.first_child, barriers.full(slot));
    }
    __syncwarp();
    const int pool = turn & 1;
    if (turn > 1) barriers.pool_empty(pool).wait(static_cast<std::uint32_t>(turn / 2 - 1));
    write_pool(p.tiles, tile, shared + kPoolsAt + pool * kPoolBytes);
    publish_to_async();
    __syncwarp();
    if (is_first_lane) barriers.pool_full(pool).arrive();
  }
}

/// One of the two warpgroups: its place, and what it works on.
struct Consumer {
  const Forward& p;
  const Barriers& barriers;
  std::uint32_t shared;
  int warpgroup, lane, feature;  ///< its first of two; those of the second block are 64 behind

  /// Barriers, one for each warpgroup's turn.
  __device__ void wait_for_turn() const { named_barrier_sync(2 + warpgroup, kFusedThreads); }
  __device__ void give_turn() const { named_barrier_arrive(3 - warpgroup, kFusedThreads); }

  /// acc = weight * operand^T of a tile.
  __device__ __forceinline__ void multiply(float (&acc)[2][64], int& chunk, bool is_last_turn) const {
    const Factor weight = Factor::at(shared + static_cast<std::uint32_t>(warpgroup) * (kWeightChunkBytes / 2), 16);
    const Factor ring = Factor::at(shared + kRingAt, 16);
#pragma unroll
    for (int c = 0; c < kChunks; ++c, ++chunk) {
      const int slot = chunk % kRing;
      barriers.full(slot).wait(static_cast<std::uint32_t>(chunk / kRing));
      pin(acc[0]);
      pin(acc[1]);
      products_begin();
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int block = 0; block < 2; ++block)
          product(acc[block], weight.plus(c * kWeightChunkBytes + block * 8192 + k * 32),
                  ring.plus(slot * kChunkBytes + k * 32), c + k > 0);
      products_commit();
      if (c > 0) {
        products_wait<1>();
        release((chunk - 1) % kRing);
      }
    }
    if (!is_last_turn) give_turn();
    products_wait<0>();
    pin(acc[0]);
    pin(acc[1]);
    release((chunk - 1) % kRing);
  }
  __device__ void release(int slot) const {
    if (lane == 0) barriers.empty(slot).arrive();
  }

  /// h, rounded, as fragments; keeps those bits that are set and whose element is positive, or not a number.
  __device__ __forceinline__ static void activate(const float (&acc)[64], std::uint32_t (&bits)[2], Fragment (&h)[8]) {
#pragma unroll
    for (int word = 0; word < 2; ++word) {
      std::uint32_t positive = 0;
#pragma unroll
      for (int i = 31; i >= 0; --i) positive = __funnelshift_l(0U - __float_as_uint(acc[word * 32 + i]), positive, 1);
      bits[word] &= positive;
    }
#pragma unroll
    for (int t = 0; t < 8; ++t)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        h[t][r] = pair_of(acc[8 * t + 2 * r], acc[8 * t + 2 * r + 1]) & mask_of(bits[t / 4], t % 4, r);
  }

  /// What the means of this thread's parents are multiplied with; negative for those that the tile has not.
  __device__ __forceinline__ void load_shares(const Tile& tile, float (&shares)[4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int c = parent_of(i), children = tile.children_of(p.tiles, c);
      shares[i] = c >= tile.num_parents ? -1.0f : children == 0 ? 0.0f : p.scale / static_cast<float>(children);
    }
  }
  __device__ int parent_of(int i) const { return i / 2 * 8 + lane % 4 * 2 + i % 2; }

  /// Writes the means and own rows of the parents that this thread has: two neighbouring features each.
  __device__ __forceinline__ void store(int first_parent, const float (&shares)[4], const float (&sums)[2][16]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (shares[i] < 0) continue;
      const int at = i / 2 * 4 + i % 2;
      Bf16* const row = p.out + std::int64_t{first_parent + parent_of(i)} * 2 * kFusedWidth + feature;
#pragma unroll
      for (int block = 0; block < 2; ++block) {
        const float(&sum)[16] = sums[block];
        *reinterpret_cast<std::uint32_t*>(row + block * 64) = pair_of(sum[at] * shares[i], sum[at + 2] * shares[i]);
        *reinterpret_cast<std::uint32_t*>(row + block * 64 + kFusedWidth) =
            pair_of(sum[8 + at] * p.scale, sum[8 + at + 2] * p.scale);
      }
    }
  }

  __device__ __forceinline__ void run() const {
    const int num_nodes = *p.tiles.num_nodes, num_tiles = Tile::count(p.tiles, num_nodes);
    const int stride = static_cast<int>(gridDim.x);
    int chunk = 0, turn = 0;
    if (warpgroup == 1 && static_cast<int>(blockIdx.x) < num_tiles) give_turn();
    for (int t = static_cast<int>(blockIdx.x); t < num_tiles; t += stride, ++turn) {
      const Tile tile = Tile::of(p.tiles, t, num_nodes);
      float shares[4];
      load_shares(tile, shares);
      const int pool = turn & 1;
      uint4* const bits_at = reinterpret_cast<uint4*>(p.tiles.bits) + std::int64_t{t} * kFusedThreads + threadIdx.x;
      const uint4 drawn = *bits_at;  // on its way while the tile is multiplied
      float acc[2][64];
      wait_for_turn();
      multiply(acc, chunk, warpgroup == 1 && t + stride >= num_tiles);
      std::uint32_t bits[2][2] = {{drawn.x, drawn.y}, {drawn.z, drawn.w}};
      Fragment h[2][8];
#pragma unroll
      for (int block = 0; block < 2; ++block) activate(acc[block], bits[block], h[block]);
      barriers.pool_full(pool).wait(static_cast<std::uint32_t>(turn / 2));
      const Factor matrix = Factor::at(shared + kPoolsAt, 16);
      float sums[2][16];
      pin(sums[0]);
      pin(sums[1]);
      products_begin();
#pragma unroll
      for (int k = 0; k < 8; ++k)
#pragma unroll
        for (int block = 0; block < 2; ++block)
          product<Rows::kAlongK>(sums[block], h[block][k],
                                 matrix.plus(pool * kPoolBytes + k / 4 * kPoolHalfBytes + k % 4 * 32), k > 0);
      products_commit();
      products_wait<0>();
      pin(sums[0]);
      pin(sums[1]);
      if (lane == 0) barriers.pool_empty(pool).arrive();
      store(tile.first_parent, shares, sums);
      *bits_at = make_uint4(bits[0][0], bits[0][1], bits[1][0], bits[1][1]);
    }
  }
};

__global__ void __launch_bounds__(kThreads, 1)
    fused_forward_kernel(const Forward p, const __grid_constant__ CUtensorMap own_rows,
                         const __grid_constant__ CUtensorMap child_rows) {
  extern __shared__ char raw[];
  __shared__ std::uint64_t barrier_words[Barriers::kCount];
  char* const shared = raw + (-shared_address(raw) & 1023);
  const Barriers barriers{shared_address(barrier_words)};
  if (threadIdx.x == 0) barriers.init();
  for (int pool = 0; pool < 2; ++pool) clear_pool(shared + kPoolsAt + pool * kPoolBytes);
  publish_to_async();
  __syncthreads();
  const int warpgroup = uniform(static_cast<int>(threadIdx.x) / 128), lane = static_cast<int>(threadIdx.x) & 31;
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32 % 4);
  if (warpgroup < 2) {  // 256 * 232 + 128 * 40 = 384 * 168 registers
    take_registers<232>();
    load_weight(p, shared_address(shared));
    Consumer{p, barriers, shared_address(shared), warpgroup, lane, warpgroup * 128 + warp * 16 + lane / 4 * 2}.run();
  } else {
    keep_registers<40>();
    if (warp == 0) produce(p, own_rows, child_rows, shared, barriers);
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void fused_forward(const FusedArguments& arguments, const void* weight, void* out, cudaStream_t stream) {
  const Forward p{arguments.tiles, static_cast<const Bf16*>(weight), static_cast<Bf16*>(out), arguments.in,
                  arguments.scale};
  cuda_check(cudaFuncSetAttribute(fused_forward_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  const unsigned blocks = static_cast<unsigned>(std::min<std::int64_t>(arguments.multiprocessors, arguments.max_tiles));
  fused_forward_kernel<<<blocks, kThreads, kSharedBytes, stream>>>(p, arguments.own_rows, arguments.child_rows);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
