// models/resident/fused_forward.cu - see fused_kernels.h: product, ReLU, dropout and mean of the first layer, whose
// result is never in memory.
//
// Work split  a block per multiprocessor, which strides over tiles. A warp copies operand rows, another one writes
//             pooling matrices, four warpgroups compute 64 features each. They multiply in turns, two at a time, so
//             that the tensor cores have work while the other two do the rest.
// Access      operand rows by the copy engine into a ring of 16 KB chunks; the weight is in shared memory.
// Limit       reads of shared memory by the tensor cores, then those themselves.
// Sync        barriers in shared memory between the warps of a block.
//
// The result is computed transposed, [features, slots]: then the accumulators, rounded, are already the first factor of
// the product with the pooling matrix that adds up a node's children. So means cost an eighth of the first product.
#include <algorithm>

#include "core/cuda/cuda.h"
#include "models/products/wgmma.cuh"
#include "models/resident/fused_kernels.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kMultiplying = 512, kThreads = kMultiplying + 64;  // four warpgroups, two warps beside
constexpr int kChunks = kMaxFusedInput / 64, kRing = 5;
constexpr int kChunkBytes = kSlots * 128, kWeightChunkBytes = kFusedWidth * 128;
constexpr int kRingAt = kChunks * kWeightChunkBytes, kPoolsAt = kRingAt + kRing * kChunkBytes;
constexpr int kSharesAt = kPoolsAt + 2 * kPoolBytes;
constexpr int kSharedBytes = kSharesAt + 2 * kOwnSlots * 4 + 1024;  // to be aligned
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
    constexpr std::uint32_t kWarps = kMultiplying / 32;
    for (int i = 0; i < kRing; ++i) full(i).init(1), empty(i).init(kWarps);
    for (int i = 0; i < 2; ++i) pool_full(i).init(1), pool_empty(i).init(kWarps);
  }
};

/// Features 2g and 2g + 1 of 16 lie in rows g and g + 8, so that one thread has both.
__device__ int row_of_feature(int f) { return (f & ~15) | (f & 1) << 3 | (f & 15) >> 1; }

/// By the threads that multiply, which are the block's first.
__device__ __forceinline__ void load_weight(const Forward& p, std::uint32_t to) {
  constexpr int kPieces = kMaxFusedInput / 8;
  for (int i = static_cast<int>(threadIdx.x); i < kFusedWidth * kPieces; i += kMultiplying) {
    const int feature = i / kPieces, piece = i % kPieces, row = row_of_feature(feature);
    const bool is_there = piece * 8 < p.in;
    copy_piece(
        to + static_cast<std::uint32_t>(piece / 8 * kWeightChunkBytes + row * 128 + ((piece & 7) ^ (row & 7)) * 16),
        p.weight + std::int64_t{feature} * p.in + (is_there ? piece * 8 : 0), is_there ? 16 : 0);
  }
  copies_wait();
  publish_to_async();
  named_barrier_sync(1, kMultiplying);
}

/// The copying warp, one lane of it. Knows the next tile before it waits.
__device__ void copy_tiles(const Forward& p, const CUtensorMap& own_rows, const CUtensorMap& child_rows, char* shared,
                           const Barriers& barriers) {
  const int num_nodes = *p.tiles.num_nodes, num_tiles = Tile::count(p.tiles, num_nodes);
  const int stride = static_cast<int>(gridDim.x);
  const auto tile_of = [&](int t) { return t < num_tiles ? Tile::of(p.tiles, t, num_nodes) : Tile{}; };
  Tile next = tile_of(static_cast<int>(blockIdx.x));
  int chunk = 0;
  for (int t = static_cast<int>(blockIdx.x); t < num_tiles; t += stride) {
    const Tile tile = next;
    next = tile_of(t + stride);
    for (int c = 0; c < kChunks; ++c, ++chunk) {
      const int slot = chunk % kRing, use = chunk / kRing;
      if (use > 0) barriers.empty(slot).wait(static_cast<std::uint32_t>(use - 1));
      const std::uint32_t to = shared_address(shared) + kRingAt + slot * kChunkBytes;
      barriers.full(slot).arrive_and_expect(kChunkBytes);
      copy_box(to, own_rows, c * 64, tile.first_parent, barriers.full(slot));
      copy_box(to + kOwnSlots * 128, child_rows, c * 64, num_nodes + tile.first_child, barriers.full(slot));
    }
  }
}

/// The warp of the pooling matrices, and of what the means of a tile's parents are multiplied with: negative for
/// parents that it has not. Reads behind the fence, which waits for what is under way.
__device__ void write_pools(const Forward& p, char* shared, const Barriers& barriers) {
  const int num_nodes = *p.tiles.num_nodes, num_tiles = Tile::count(p.tiles, num_nodes);
  const int stride = static_cast<int>(gridDim.x), lane = static_cast<int>(threadIdx.x) & 31;
  int turn = 0;
  for (int t = static_cast<int>(blockIdx.x); t < num_tiles; t += stride, ++turn) {
    const Tile tile = Tile::of(p.tiles, t, num_nodes);
    const ChildSlots children = ChildSlots::of(p.tiles, tile, lane % 16);
    const float share = lane % 16 >= tile.num_parents ? -1.0f
                        : children.count() == 0       ? 0.0f
                                                      : p.scale / static_cast<float>(children.count());
    const int pool = turn & 1;
    if (turn > 1) barriers.pool_empty(pool).wait(static_cast<std::uint32_t>(turn / 2 - 1));
    write_pool(children, shared + kPoolsAt + pool * kPoolBytes);
    if (lane < kOwnSlots) reinterpret_cast<float*>(shared + kSharesAt)[pool * kOwnSlots + lane] = share;
    publish_to_async();
    __syncwarp();
    if (lane == 0) barriers.pool_full(pool).arrive();
  }
}

/// One of the four warpgroups, which has 64 features: its place, and what it works on.
struct Consumer {
  const Forward& p;
  const Barriers& barriers;
  const char* memory;                    ///< of the block, shared,
  std::uint32_t shared;                  ///< and its address
  int warpgroup, thread, lane, feature;  ///< `thread` of the warpgroup; the thread's first feature of two

  /// Barriers, one for each turn.
  __device__ int pair() const { return warpgroup / 2; }
  __device__ void wait_for_turn() const { named_barrier_sync(2 + pair(), kMultiplying); }
  __device__ void give_turn() const { named_barrier_arrive(3 - pair(), kMultiplying); }

  /// acc = weight * operand^T of a tile.
  __device__ __forceinline__ void multiply(float (&acc)[64], int& chunk, bool is_last_turn) const {
    const Factor weight = Factor::at(shared + static_cast<std::uint32_t>(warpgroup) * (kWeightChunkBytes / 4), 16);
    const Factor ring = Factor::at(shared + kRingAt, 16);
#pragma unroll
    for (int c = 0; c < kChunks; ++c, ++chunk) {
      const int slot = chunk % kRing;
      barriers.full(slot).wait(static_cast<std::uint32_t>(chunk / kRing));
      pin(acc);
      products_begin();
#pragma unroll
      for (int k = 0; k < 4; ++k)
        product(acc, weight.plus(c * kWeightChunkBytes + k * 32), ring.plus(slot * kChunkBytes + k * 32), c + k > 0);
      products_commit();
      if (c > 0) {
        products_wait<1>();
        release((chunk - 1) % kRing);
      }
    }
    if (!is_last_turn) give_turn();
    products_wait<0>();
    pin(acc);
    release((chunk - 1) % kRing);
  }
  __device__ void release(int slot) const {
    if (lane == 0) barriers.empty(slot).arrive();
  }

  /// Half of h, rounded, as fragments; keeps those bits that are set and whose element is positive, or not a number.
  template <int kHalf>
  __device__ __forceinline__ static void activate(const float (&acc)[64], std::uint32_t& bits, Fragment (&h)[4]) {
    std::uint32_t positive = 0;
#pragma unroll
    for (int i = 31; i >= 0; --i) positive = __funnelshift_l(0U - __float_as_uint(acc[kHalf * 32 + i]), positive, 1);
    bits &= positive;
#pragma unroll
    for (int t = 0; t < 4; ++t)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int at = kHalf * 32 + 8 * t + 2 * r;
        h[t][r] = pair_of(acc[at], acc[at + 1]) & mask_of(bits, t, r);
      }
  }

  /// What the means of this thread's parents are multiplied with; negative for those that the tile has not.
  __device__ __forceinline__ void load_shares(int pool, float (&shares)[4]) const {
    const float* const of_tile = reinterpret_cast<const float*>(memory + kSharesAt) + pool * kOwnSlots;
#pragma unroll
    for (int i = 0; i < 4; ++i) shares[i] = of_tile[parent_of(i)];
  }
  __device__ int parent_of(int i) const { return i / 2 * 8 + lane % 4 * 2 + i % 2; }

  /// Writes the means and own rows of the parents that this thread has: two neighbouring features each.
  /// @param own  h of the first 16 slots, which are the parents' own
  __device__ __forceinline__ void store(int first_parent, const float (&shares)[4], const float (&sums)[8],
                                        const Fragment& own) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (shares[i] < 0) continue;
      const int at = i / 2 * 4 + i % 2;
      Bf16* const row = p.out + std::int64_t{first_parent + parent_of(i)} * 2 * kFusedWidth + feature;
      *reinterpret_cast<std::uint32_t*>(row) = pair_of(sums[at] * shares[i], sums[at + 2] * shares[i]);
      const std::uint32_t features[2] = {own[i / 2 * 2], own[i / 2 * 2 + 1]};
      float own_value[2];
#pragma unroll
      for (int f = 0; f < 2; ++f)
        own_value[f] = __uint_as_float(i % 2 == 0 ? features[f] << 16 : features[f] & 0xFFFF0000U) * p.scale;
      *reinterpret_cast<std::uint32_t*>(row + kFusedWidth) = pair_of(own_value[0], own_value[1]);
    }
  }

  __device__ __forceinline__ void run() const {
    const int num_tiles = Tile::count(p.tiles, *p.tiles.num_nodes), stride = static_cast<int>(gridDim.x);
    int chunk = 0, turn = 0;
    if (pair() == 1 && static_cast<int>(blockIdx.x) < num_tiles) give_turn();
    for (int t = static_cast<int>(blockIdx.x); t < num_tiles; t += stride, ++turn) {
      const int pool = turn & 1;
      // FeatureOwner's thread has two blocks of 64 features
      uint2* const bits_at = reinterpret_cast<uint2*>(p.tiles.bits) +
                             (std::int64_t{t} * kFusedThreads + pair() * 128 + thread) * 2 + warpgroup % 2;
      const uint2 drawn = *bits_at;  // on its way while the tile is multiplied
      float acc[64];
      wait_for_turn();
      multiply(acc, chunk, pair() == 1 && t + stride >= num_tiles);
      std::uint32_t bits[2] = {drawn.x, drawn.y};
      Fragment h[2][4];
      float sums[8];
      const Factor matrix = Factor::at(shared + kPoolsAt, 16).plus(pool * kPoolBytes);
      activate<0>(acc, bits[0], h[0]);
      barriers.pool_full(pool).wait(static_cast<std::uint32_t>(turn / 2));
      pin(sums);
      products_begin();
#pragma unroll
      for (int k = 1; k < 4; ++k)  // the first fragment has no children
        product<Rows::kAlongK>(sums, h[0][k], matrix.plus(k * 32), k > 1);
      products_commit();
      activate<1>(acc, bits[1], h[1]);
      products_begin();
#pragma unroll
      for (int k = 0; k < 4; ++k) product<Rows::kAlongK>(sums, h[1][k], matrix.plus(kPoolHalfBytes + k * 32), true);
      products_commit();
      *bits_at = make_uint2(bits[0], bits[1]);
      float shares[4];
      load_shares(pool, shares);
      products_wait<0>();
      pin(sums);
      if (lane == 0) barriers.pool_empty(pool).arrive();  // behind the wait all lanes have read their shares
      store(t * p.tiles.parents, shares, sums, h[0][0]);
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
  const int thread = static_cast<int>(threadIdx.x) % 128;
  if (warpgroup < kMultiplying / 128) {
    load_weight(p, shared_address(shared));
    Consumer{p,         barriers, shared, shared_address(shared),
             warpgroup, thread,   lane,   warpgroup * 64 + thread / 32 * 16 + lane / 4 * 2}
        .run();
  } else {
    if (thread == 0) copy_tiles(p, own_rows, child_rows, shared, barriers);
    if (thread >= 32) write_pools(p, shared, barriers);
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
