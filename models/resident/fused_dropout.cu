// models/resident/fused_dropout.cu - see fused_kernels.h: the bits of dropout for the fused first layer, a kernel of
// its own, because the multiprocessors that multiply have no time for it, and those that sample do.
//
// Work split  a block per tile, which is short, so that more urgent kernels wait little; a thread draws eight features
//             of 16 slots. Shared memory that nobody uses keeps half of a multiprocessor's threads free for those.
// Access      node ids of a tile through shared memory; whole words of bits are written, four per thread.
// Limit       integer arithmetic: a Philox block for eight bits. Halves of its words are compared two at a time: 55
//             instructions where 75 compared them one by one, 30 of them for the units that do not multiply, not 47.
// Sync        the block's, around the ids.
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
constexpr int kUnusedBytes = 46 << 10;  // no more than four blocks on a multiprocessor

/// The comparison with the threshold for both halves of a word at once, as is_kept() has it for one.
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

/// Four words of FusedTiles::bits: of eight features and a quarter of 64 slots, those that dropout keeps; zeros for
/// slots without a node. Bits of a word's two features are in its halves until they are put together.
/// @param nodes  of the 64 slots
template <bool kDrops>
__device__ __forceinline__ void draw(const DropoutMask& mask, const NodeId* nodes, int eight, int q,
                                     std::uint32_t (&words)[4]) {
  const KeptHalves kept = KeptHalves::of(mask.threshold);
  std::uint32_t halves[4] = {};  // pairs of slots, those of the first 32 in turns with those of the others
#pragma unroll
  for (std::uint32_t i = 0; i < 16; ++i) {
    const NodeId node = nodes[i / 2 * 8 + static_cast<std::uint32_t>(q) * 2 + i % 2];
    const std::uint32_t most = node == kNoNode ? 0 : 0x10001;
    PhiloxBlock draws{};
    if (kDrops) draws = dropout_draws(mask, node, static_cast<std::uint32_t>(eight));
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

__global__ void __launch_bounds__(kFusedThreads, 8)
    fused_dropout_kernel(const FusedTiles tiles, const FusedDropout dropout) {
  __shared__ NodeId nodes[kSlots];
  const int num_nodes = *tiles.num_nodes, num_tiles = Tile::count(tiles, num_nodes);
  const DropoutMask mask = StepMask::of(dropout.of).mask;
  const int thread = static_cast<int>(threadIdx.x), q = thread % 4, eight = thread / 4 % 32, half = thread / 128;
  for (int t = static_cast<int>(blockIdx.x); t < num_tiles; t += static_cast<int>(gridDim.x)) {
    const Tile tile = Tile::of(tiles, t, num_nodes);
    const int row = thread < kSlots ? tile.row_of(thread, num_nodes) : -1;
    __syncthreads();  // all have read the ids of the tile before
    if (thread < kSlots) nodes[thread] = row < 0 ? kNoNode : dropout.nodes[row];
    __syncthreads();
    std::uint32_t words[4] = {};
    if (mask.threshold > 0)
      draw<true>(mask, nodes + half * 64, eight, q, words);
    else
      draw<false>(mask, nodes + half * 64, eight, q, words);
    std::uint32_t* const to = tiles.bits + std::int64_t{t} * kFusedThreads * 4;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const FeatureOwner owner = FeatureOwner::of(eight * 8 + pair * 2, q);
      to[owner.thread * 4 + owner.block * 2 + half] = words[pair];
    }
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void fused_dropout(const FusedArguments& arguments, const FusedDropout& dropout, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(std::min(arguments.max_tiles, kMaxBlocks));
  fused_dropout_kernel<<<blocks, kFusedThreads, kUnusedBytes, stream>>>(arguments.tiles, dropout);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
