// models/resident/attention_v2_rows.cuh - for attention_v2.cu: which warps work on a node, and the rows of l that they
// read.
#pragma once

#include <cstdint>

#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/attention_slots.cuh"
#include "models/resident/attention_v2.h"
#include "models/resident/column_sums.cuh"

namespace salient {

constexpr int kHeld = 8;  // rows of a node that a warp has in registers

/// Where a thread works: kTeam warps share a node, a tile of 32 chunks each. Blocks walk over nodes, kNodes at a time.
template <int kTeam>
struct Place {
  static constexpr int kLanes = 32 * kTeam, kNodes = kThreadsPerBlock / kLanes;
  int lane, chunk, node;

  __device__ static Place here() {
    return {static_cast<int>(threadIdx.x % 32), static_cast<int>(threadIdx.x % kLanes),
            static_cast<int>(threadIdx.x / kLanes)};
  }
  __device__ LocalId first() const { return static_cast<LocalId>(blockIdx.x) * kNodes; }
  __device__ LocalId step() const { return static_cast<LocalId>(gridDim.x) * kNodes; }

  /// The sum over the team's warps; all threads of the block come here.
  __device__ float team_sum(float mine) const {
    if constexpr (kTeam == 1) return mine;
    __shared__ float partial[kNodes][kTeam][32];
    __syncthreads();  // what was here before has been read
    partial[node][chunk / 32][lane] = mine;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int t = 0; t < kTeam; ++t) sum += partial[node][t][lane];
    return sum;
  }
};

/// The rows of l that belong to one node: those of its entries, then its own. There are none without a node.
struct RowsOfNode {
  int count, kept;
  LocalId own, first;
  const NodeId* nodes;  // of the entries

  __device__ static RowsOfNode of(const EntryRows& rows, LocalId i) {
    if (i >= *rows.num_nodes) return {};
    if (rows.is_last_hop) {
      const int kept = rows.hop.num_entries[i];
      const LocalId slot = i * static_cast<LocalId>(rows.hop.fanout);
      return {kept + 1, kept, i, static_cast<LocalId>(rows.capacity) + slot, rows.hop.entries + slot};
    }
    const LocalId before = rows.growth.first_child[i], row = *rows.num_nodes + before;
    const int kept = rows.growth.first_child[i + 1] - before;
    return {kept + 1, kept, i, row, rows.nodes + row};
  }
  __device__ LocalId row(int j) const { return j < kept ? first + j : own; }
  __device__ float slot(const Slots& slots, int j) const {  // all lanes come here
    const float of_entry = __shfl_sync(kWarp, slots.entry, j & 31);
    return j < kept ? of_entry : slots.own;
  }
};

/// A vector in shared memory, as registers are few: the chunk of each lane of a team.
template <int kTeam>
struct alignas(16) Columns {
  float chunks[Place<kTeam>::kLanes][8];

  /// All threads of the block come here.
  __device__ void load(const Place<kTeam>& place, const float* from, std::int64_t columns) {
    float values[8];
    load_columns(from, place.chunk, columns, values);
    if (place.node == 0) store_eight(values, chunks[place.chunk]);
    __syncthreads();
  }
};

/// A multiplication of 32 bits: a matrix has fewer than 2^31 rows.
template <class T>
__device__ T* chunk_of(const Matrix& m, LocalId row, int chunk) {
  const auto stride = static_cast<std::uint32_t>(m.width) * static_cast<std::uint32_t>(sizeof(T));
  return reinterpret_cast<T*>(m.data + chunk * 8 * sizeof(T) + std::uint64_t{static_cast<std::uint32_t>(row)} * stride);
}

/// A lane's chunk of up to kHeld rows.
template <class T>
struct HeldRows {
  EightWords<T> rows[kHeld];

  __device__ void load(const Matrix& l, const RowsOfNode& node, int first, int chunk) {
#pragma unroll
    for (int k = 0; k < kHeld; ++k)
      if (first + k < node.count && chunk * 8 < l.width)
        rows[k] = EightWords<T>::load(chunk_of<const T>(l, node.row(first + k), chunk));
  }
};

}  // namespace salient
