// models/resident/entry_attention.cuh - for entry_attention*.cu: which lanes work on a node, its entries, and scores.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/attention_dots.cuh"
#include "models/resident/attention_v2_rows.cuh"
#include "models/resident/column_sums.cuh"
#include "models/resident/entry_attention.h"

namespace salient {

/// The lanes of one node and one head, blockIdx.y: neighbouring ones, a power of two, by chunks of eight columns.
struct HeadLanes {
  int count, lane;
  unsigned mask;

  __device__ static HeadLanes of(int count) {
    const unsigned all = count == 32 ? kWarp : (1U << count) - 1;
    return {count, static_cast<int>(threadIdx.x) & (count - 1),
            all << (threadIdx.x & 31 & ~(static_cast<unsigned>(count) - 1))};
  }
  __device__ LocalId first() const {
    return static_cast<LocalId>(blockIdx.x * kThreadsPerBlock + threadIdx.x) / static_cast<LocalId>(count);
  }
  __device__ LocalId step() const {
    return static_cast<LocalId>(gridDim.x * kThreadsPerBlock) / static_cast<LocalId>(count);
  }
  __device__ float sum(float value) const {
    for (int offset = count / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(mask, value, offset);
    return value;
  }
  __device__ void wait() const { __syncwarp(mask); }  ///< what the others wrote is there
};

/// A head's columns, in chunks.
struct HeadColumns {
  int first, count;  // chunks
  int part;          // from a row's first part to its second

  __device__ static HeadColumns of(const EntryAttention& a) {
    const int count = static_cast<int>((a.columns + 7) / 8);
    return {static_cast<int>(blockIdx.y) * count, count, static_cast<int>(a.part / 8)};
  }
  __device__ int at(int chunk) const { return first + chunk; }
  __device__ HeadColumns second_part() const { return {first + part, count, part}; }
};

/// A node's entries, and behind them the node itself where it attends to itself.
template <AttentionKind kKind>
struct NodeEntries {
  static constexpr bool kHasSelf = kKind != AttentionKind::kDot;
  RowsOfNode rows;
  NodeId self;
  int count;
  bool exists;

  __device__ static NodeEntries of(const EntryRows& rows, LocalId i) {
    const RowsOfNode mine = RowsOfNode::of(rows, i);
    const bool exists = mine.count > 0;
    return {mine, exists ? rows.nodes[i] : 0, exists ? mine.kept + kHasSelf : 0, exists};
  }
  /// The node itself is an entry once, as the last one.
  __device__ bool counts(int j) const { return !kHasSelf || j == rows.kept || rows.nodes[j] != self; }
};

/// Of node i and a head: a number for each of its entries.
__device__ inline float* entry_slots(const EntryAttention& a, float* slots, LocalId i) {
  return slots + (static_cast<std::int64_t>(i) * a.heads + blockIdx.y) * (a.fanout + 1);
}

template <class T>
__device__ void load_chunk(const Matrix& m, LocalId row, int chunk, float (&values)[8]) {
  load_eight(chunk_of<const T>(m, row, chunk), values);
}

/// A chunk of what a node's scores are made of, beside the entries' keys.
template <AttentionKind kKind>
struct ScoreChunk {
  float query[8];   // q; of gat none
  float vector[8];  // att_src; att; none

  template <class T>
  __device__ static ScoreChunk of(const EntryAttention& a, LocalId i, int chunk) {
    ScoreChunk mine{};
    if constexpr (kKind != AttentionKind::kGat) load_chunk<T>(a.destinations, i, chunk, mine.query);
    if constexpr (kKind != AttentionKind::kDot) load_columns(a.first, chunk, a.heads * a.columns, mine.vector);
    return mine;
  }
  __device__ float term(const float (&key)[8]) const {
    if constexpr (kKind == AttentionKind::kGat) return dot(key, vector);
    if constexpr (kKind == AttentionKind::kDot) return dot(key, query);
    float sum = 0;
#pragma unroll
    for (int c = 0; c < 8; ++c) sum += vector[c] * leaky(key[c] + query[c]);
    return sum;
  }
};

/// each(j, the sum over the head's chunks c of term_of(c)(row j's values there)) for the entries j of a node, in all
/// lanes. Rows of kBatch entries are requested together.
/// @param columns  of m
template <class T, class Node, class TermOf, class Each>
__device__ void for_each_dot(const HeadLanes& lanes, const HeadColumns& columns, const Matrix& m, const Node& node,
                             const TermOf& term_of, const Each& each) {
  for (int first = 0; first < node.count; first += kBatch) {
    float sums[kBatch] = {};
    for (int chunk = lanes.lane; chunk < columns.count; chunk += lanes.count) {
      EightWords<T> words[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        if (first + k < node.count)
          words[k] = EightWords<T>::load(chunk_of<const T>(m, node.rows.row(first + k), columns.at(chunk)));
      const auto term = term_of(chunk);
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (first + k >= node.count) continue;
        float values[8];
        words[k].unpack(values);
        sums[k] += term(values);
      }
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (first + k < node.count) each(first + k, lanes.sum(sums[k]));
  }
}

// ---- host code -------------------------------------------------------------------------------------------

constexpr std::int64_t kAttentionBlocks = 132 * 12;  // several waves, as other kernels may run beside

/// Lanes of a node and head, and blocks that have some for `nodes`.
struct HeadGrid {
  int lanes;
  unsigned tiles;  // of columns, where a row has more chunks than a warp has lanes
  std::int64_t blocks;

  static HeadGrid of(const EntryAttention& a, std::int64_t nodes, std::int64_t most) {
    const auto chunks = static_cast<unsigned>((a.columns + 7) / 8), lanes = std::min(32U, std::bit_ceil(chunks));
    const std::int64_t in_block = kThreadsPerBlock / lanes;
    return {static_cast<int>(lanes), (chunks + lanes - 1) / lanes,
            std::clamp<std::int64_t>((nodes + in_block - 1) / in_block, 1, most)};
  }
  dim3 of_nodes(const EntryAttention& a) const {
    return {static_cast<unsigned>(blocks), static_cast<unsigned>(a.heads)};
  }
  dim3 of_tiles(const EntryAttention& a) const {
    return {static_cast<unsigned>(blocks), static_cast<unsigned>(a.heads), tiles};
  }
};

/// launch.template operator()<kind, type of activations>()
template <class Launch>
void with_kernels(const EntryAttention& a, const Launch& launch) {
  const auto of_kind = [&]<AttentionKind kKind>() {
    a.sources.type == ActivationType::kF32 ? launch.template operator()<kKind, float>()
                                           : launch.template operator()<kKind, Bf16>();
  };
  switch (a.kind) {
    case AttentionKind::kGat: return of_kind.template operator()<AttentionKind::kGat>();
    case AttentionKind::kGatv2: return of_kind.template operator()<AttentionKind::kGatv2>();
    case AttentionKind::kDot: return of_kind.template operator()<AttentionKind::kDot>();
    case AttentionKind::kRelationGat:
    case AttentionKind::kHgt: break;
  }
  fail(ErrorKind::kInternal, "attention without kernels");
}

}  // namespace salient
