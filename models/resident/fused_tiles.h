// models/resident/fused_tiles.h - the tiles of the fused first layer: 128 rows of a tree's level, some nodes and all
// of their children, so that a node's mean needs one tile.
//
// Slots 0 to 15 of a tile are nodes of level h, its parents; slots 16 to 127 their children, one behind the other in
// level h + 1. A thread of the two warpgroups that compute a tile owns two rows (features) and 32 columns (slots) of
// each [64, 128] block of the layer's transposed result; FusedTiles::bits holds its ReLU and dropout bits: word
// 2 * block + s / 64 for slot s; in it byte s % 64 / 16, and there bit s % 16 / 8 * 4 + feature % 2 * 2 + s % 2.
#pragma once

#include <cstdint>

#include "models/resident/operands.h"

namespace salient {

inline constexpr int kSlots = 128, kOwnSlots = 16, kFusedThreads = 256;

/// Device memory.
struct FusedTiles {
  const LocalId* num_nodes = nullptr;    ///< [1] of level h
  const LocalId* first_child = nullptr;  ///< as in TreeGrowth
  std::uint32_t* bits = nullptr;         ///< [tiles, kFusedThreads, 4]
  int parents = 0;                       ///< of a tile

  SALIENT_HOST_DEVICE static int parents_of(std::int64_t fanout) {
    const auto fit = static_cast<int>((kSlots - kOwnSlots) / fanout);
    return fit < kOwnSlots ? fit : kOwnSlots;
  }
};

/// The number of the thread that owns feature f (even), and of the block of 64 features there.
struct FeatureOwner {
  int thread, block;

  /// @param q  slots 2 * q and 2 * q + 1 of each eight
  SALIENT_HOST_DEVICE static FeatureOwner of(int feature, int q) {
    return {feature / 128 * 128 + feature % 64 / 16 * 32 + feature % 16 / 2 * 4 + q, feature % 128 / 64};
  }
};

#if defined(__CUDACC__)
struct Tile {
  int first_parent, num_parents;
  int first_child, num_children;  ///< numbered as in TreeGrowth::first_child

  __device__ static int count(const FusedTiles& tiles, int num_nodes) {
    return (num_nodes + tiles.parents - 1) / tiles.parents;
  }
  __device__ static Tile of(const FusedTiles& tiles, int index, int num_nodes) {
    const int first = index * tiles.parents, num = min(tiles.parents, num_nodes - first);
    const int child = tiles.first_child[first];
    return {first, num, child, tiles.first_child[first + num] - child};
  }
  /// The row of a slot in level h + 1; negative if it has none.
  __device__ int row_of(int slot, int num_nodes) const {
    if (slot < kOwnSlots) return slot < num_parents ? first_parent + slot : -1;
    const int child = slot - kOwnSlots;
    return child < num_children ? num_nodes + first_child + child : -1;
  }
};

// ---- the pooling matrix ----------------------------------------------------------------------------------
//
// [32, 128] bf16 in shared memory, as wgmma.cuh wants it: row c < 16 has ones at the children of parent c, row 16 + c
// at the parent itself. h times its transpose sums over children; gradients of sums times it go back to the children.

inline constexpr int kPoolBytes = 8192, kPoolHalfBytes = kPoolBytes / 2;  // of 64 slots

/// Zeros, and the ones of the parents themselves. By all threads of the block.
__device__ inline void clear_pool(char* pool) {
  for (int i = static_cast<int>(threadIdx.x); i < kPoolBytes / 16; i += static_cast<int>(blockDim.x)) {
    const int row = i % (kPoolHalfBytes / 16) / 8, slot = (i % 8 ^ (row & 7)) * 8;
    std::uint32_t words[4] = {};
    const int at = row - kOwnSlots - slot;
    if (i < kPoolHalfBytes / 16 && at >= 0 && at < 8) words[at / 2] = 0x3F80U << (at % 2 * 16);
    reinterpret_cast<uint4*>(pool)[i] = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

/// The slots of one parent's children, from begin to end.
struct ChildSlots {
  int begin = 0, end = 0;

  /// Of parent c of a tile; none if the tile has no such parent.
  __device__ static ChildSlots of(const FusedTiles& tiles, const Tile& tile, int c) {
    if (c >= tile.num_parents) return {};
    const LocalId* const bounds = tiles.first_child + tile.first_parent + c;
    return {kOwnSlots + bounds[0] - tile.first_child, kOwnSlots + bounds[1] - tile.first_child};
  }
  __device__ int count() const { return end - begin; }
};

/// The ones of the children. By all lanes of some warps, of which this is number `part`.
/// @param children  of parent lane % 16
__device__ inline void write_pool(const ChildSlots& children, char* pool, int part = 0, int num_parts = 1) {
  const int lane = static_cast<int>(threadIdx.x) & 31, c = lane & 15;
#pragma unroll 1  // few registers are left for the warp that does this
  for (int turn = part; turn < 7; turn += num_parts) {
    const int piece = kOwnSlots / 8 + 2 * turn + (lane >> 4);
    std::uint32_t words[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const int slot = piece * 8 + 2 * w;
      words[w] = (slot >= children.begin && slot < children.end ? 0x3F80U : 0) |
                 (slot + 1 >= children.begin && slot + 1 < children.end ? 0x3F800000U : 0);
    }
    *reinterpret_cast<uint4*>(pool + piece / 8 * kPoolHalfBytes + c * 128 + ((piece & 7) ^ (c & 7)) * 16) =
        make_uint4(words[0], words[1], words[2], words[3]);
  }
}

/// A thread's bits of 64 slots -> a mask of register r of the fragment of 16 slots, number t of 4.
__device__ inline std::uint32_t mask_of(std::uint32_t bits, int t, int r) {
  const std::uint32_t first = 8U | static_cast<std::uint32_t>(t),
                      second = first | 4U;  // a byte's sign, in all its bits
  std::uint32_t mask;
  asm("prmt.b32 %0, %1, %2, %3;"
      : "=r"(mask)
      : "r"(bits << (7 - 2 * r)), "r"(bits << (6 - 2 * r)), "r"(first | first << 4 | second << 8 | second << 12));
  return mask;
}
#endif

}  // namespace salient
