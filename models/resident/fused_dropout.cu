// models/resident/fused_dropout.cu - see fused_kernels.h: the bits of dropout for the fused first layer, a kernel of
// its own, because the multiprocessors that multiply have no time for it, and those that sample do.
//
// Work split  a block per tile, which is short, so that more urgent kernels wait little; a thread writes the bits of
//             eight features and 16 slots.
// Access      node ids of a tile, and where p is 1/2 the bits of its rows, through shared memory; whole words of bits
//             are written, four per thread.
// Limit       integer arithmetic. Where p is 1/2 a thread has one Philox block, of 128 features of a slot, and 100
//             instructions to turn bits of rows into those of features. Else it has a block for each slot, and halves
//             of its words are compared two at a time: 55 instructions where 75 compared them one by one.
// Sync        the block's, around shared memory.
#include <algorithm>

#include "core/cuda/cuda.h"
#include "models/kernels/dropout.h"
#include "models/kernels/launch.cuh"
#include "models/resident/fused_kernels.h"
#include "models/resident/masks.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr NodeId kNoNode = 0xFFFFFFFF;

/// The bits that a thread writes: of eight features, and of slots 2 * q and 2 * q + 1 of each eight of a half.
struct Part {
  int q, eight, half;

  __device__ static Part of_thread() {
    const int thread = static_cast<int>(threadIdx.x);
    return {thread % 4, thread / 4 % 32, thread / 128};
  }
  /// Number i of 16.
  __device__ int slot(int i) const { return half * 64 + i / 2 * 8 + q * 2 + i % 2; }
};

/// The comparison with the threshold for both halves of a word at once.
struct KeptHalves {
  std::uint32_t below, minus_below;  ///< threshold - 1 in each half, and its negation modulo 2^16

  /// @param threshold  > 0
  __device__ static KeptHalves of(std::uint32_t threshold) {
    return {(threshold - 1) * 0x10001U, ((0x10001U - threshold) & 0xFFFF) * 0x10001U};
  }
  /// 1 in each half that is not below the threshold, but no more than `most` has there.
  __device__ std::uint32_t of(std::uint32_t draws, std::uint32_t most) const {
    return __viaddmin_u16x2(__vmaxu2(draws, below), minus_below, most);
  }
};

/// Four words of FusedTiles::bits: those that dropout keeps of a thread's part; zeros for slots without a node. Bits of
/// a word's two features are in its halves until they are put together.
/// @param nodes  of the tile's slots
template <bool kDrops>
__device__ __forceinline__ void draw(const DropoutMask& mask, const NodeId* nodes, const Part& part,
                                     std::uint32_t (&words)[4]) {
  const KeptHalves kept = KeptHalves::of(mask.threshold);
  std::uint32_t halves[4] = {};  // pairs of slots, those of the first 32 in turns with those of the others
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const NodeId node = nodes[part.slot(i)];
    const std::uint32_t most = node == kNoNode ? 0 : 0x10001;
    PhiloxBlock draws{};
    if (kDrops) draws = dropout_draws(mask, node, static_cast<std::uint32_t>(part.eight));
#pragma unroll
    for (std::uint32_t w = 0; w < 4; ++w)
      halves[w] += (kDrops ? kept.of(draws.word[w], most) : most) << (i % 8 / 2 * 4 + i / 8 * 2 + i % 2);
  }
  constexpr unsigned kLow = 0x5410, kHigh = 0x7632;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const std::uint32_t first = halves[w] & 0x33333333, second = halves[w] >> 2 & 0x33333333;
    words[w] = __byte_perm(first, second, kLow) | __byte_perm(first, second, kHigh) << 2;
  }
}

/// The same for p = 1/2: a thread draws 128 features of one slot, then each takes a byte of 16 slots, four of which
/// are moved at a time.
/// @param rows  of the tile's slots, 256 bits each, shared; nobody reads them any more
__device__ __forceinline__ void draw_halves(const DropoutMask& mask, const NodeId* nodes, const Part& part,
                                            uint4 (&rows)[kSlots][2], std::uint32_t (&words)[4]) {
  const unsigned slot = threadIdx.x % kSlots, side = threadIdx.x / kSlots;
  const NodeId node = nodes[slot];
  const PhiloxBlock bits = node == kNoNode ? PhiloxBlock{} : dropout_bits(mask, node, side);
  rows[slot][side] = make_uint4(bits.word[0], bits.word[1], bits.word[2], bits.word[3]);
  __syncthreads();
  const auto byte = [&](int i) {
    return std::uint32_t{reinterpret_cast<const std::uint8_t*>(rows[part.slot(i)])[part.eight]};
  };
#pragma unroll
  for (int i = 0; i < 4; ++i) {  // a word's bytes are slots i, i + 4, i + 8 and i + 12 of the part
    const std::uint32_t four = byte(i) | byte(i + 4) << 8 | byte(i + 8) << 16 | byte(i + 12) << 24;
    const int to = i / 2 * 4 + i % 2;
#pragma unroll
    for (int w = 0; w < 4; ++w)
      words[w] |= (four >> 2 * w & 0x01010101) << to | (four >> (2 * w + 1) & 0x01010101) << (to + 2);
  }
}

__global__ void __launch_bounds__(kFusedThreads, 8)
    fused_dropout_kernel(const FusedTiles tiles, const FusedDropout dropout) {
  __shared__ NodeId nodes[kSlots];
  __shared__ uint4 rows[kSlots][2];
  const int num_nodes = *tiles.num_nodes, num_tiles = Tile::count(tiles, num_nodes);
  const DropoutMask mask = StepMask::of(dropout.of).mask;
  const int thread = static_cast<int>(threadIdx.x);
  const Part part = Part::of_thread();
  for (int t = static_cast<int>(blockIdx.x); t < num_tiles; t += static_cast<int>(gridDim.x)) {
    const Tile tile = Tile::of(tiles, t, num_nodes);
    const int row = thread < kSlots ? tile.row_of(thread, num_nodes) : -1;
    __syncthreads();  // all have read what the tile before left in shared memory
    if (thread < kSlots) nodes[thread] = row < 0 ? kNoNode : dropout.nodes[row];
    __syncthreads();
    std::uint32_t words[4] = {};
    if (mask.threshold == kHalfOfDraws)
      draw_halves(mask, nodes, part, rows, words);
    else if (mask.threshold > 0)
      draw<true>(mask, nodes, part, words);
    else
      draw<false>(mask, nodes, part, words);
    std::uint32_t* const to = tiles.bits + std::int64_t{t} * kFusedThreads * 4;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const FeatureOwner owner = FeatureOwner::of(part.eight * 8 + pair * 2, part.q);
      to[owner.thread * 4 + owner.block * 2 + part.half] = words[pair];
    }
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void fused_dropout(const FusedArguments& arguments, const FusedDropout& dropout, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(std::min(arguments.max_tiles, kMaxBlocks));
  fused_dropout_kernel<<<blocks, kFusedThreads, 0, stream>>>(arguments.tiles, dropout);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
