// models/resident/fused_dropout.cu - see fused_kernels.h: the bits of dropout for the fused first layer, a kernel of
// its own, because the multiprocessors that multiply have no time for it, and those that sample do.
//
// Work split  a block per tile, which is short, so that more urgent kernels wait little; a thread draws eight features
//             of 16 slots. Shared memory that nobody uses keeps half of a multiprocessor's threads free for those.
// Access      node ids of a tile through shared memory; whole words of bits are written, four per thread.
// Limit       integer arithmetic: a Philox block for eight bits.
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

/// Four words of FusedTiles::bits: of eight features and a quarter of 64 slots, those that dropout keeps; zeros for
/// slots without a node.
/// @param nodes  of the 64 slots
__device__ __forceinline__ void draw(const DropoutMask& mask, const NodeId* nodes, int eight, int q,
                                     std::uint32_t (&words)[4]) {
#pragma unroll
  for (std::uint32_t i = 0; i < 16; ++i) {
    const NodeId node = nodes[i / 2 * 8 + static_cast<std::uint32_t>(q) * 2 + i % 2];
    PhiloxBlock draws{};
    if (mask.threshold > 0) draws = dropout_draws(mask, node, static_cast<std::uint32_t>(eight));
#pragma unroll
    for (std::uint32_t c = 0; c < 8; ++c)
      if (node != kNoNode && is_kept(mask, draws, c))
        words[c / 2] |= 1U << (i / 4 * 8 + i / 2 % 2 * 4 + c % 2 * 2 + i % 2);
  }
}

__global__ void __launch_bounds__(kFusedThreads)
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
    draw(mask, nodes + half * 64, eight, q, words);
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
